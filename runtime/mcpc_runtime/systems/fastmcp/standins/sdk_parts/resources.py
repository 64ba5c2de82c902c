"""Resources of the SDK, their templates, and addresses matched with templates as each version does."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mcpc_runtime.systems.fastmcp.engine import components
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour, rules
from mcpc_runtime.systems.fastmcp.engine.contents import json_text
from mcpc_runtime.systems.fastmcp.engine.injection import call_function
from mcpc_runtime.systems.fastmcp.engine.registration import Registry
from mcpc_runtime.systems.fastmcp.engine.server import ResourceError, ResourceNotFoundError, raised_as
from mcpc_runtime.systems.fastmcp.engine.uris import DEFAULT, ResourceSecurity, normalized_uri
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.context import (
    converting,
    described,
    find_context_parameter,
    injected_in,
)
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.session import (
    MCPError,
    ResourceSecurityError,
    UnexpectedResourceError,
)
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.tools import Manager

EXPRESSION = re.compile(r"{([+#./;?&]?)([^}]*)}")
PREFIXES = {".": r"\.", "/": "/", "#": "#"}


def variables(template: str) -> list[str]:
    names = [name for _, listed in EXPRESSION.findall(template) for name in listed.split(",")]
    return [name.rstrip("*").partition(":")[0] for name in names]


def match(template: str, uri: str, security: ResourceSecurity) -> dict[str, str] | None:
    """Return the values that a template finds in an address; None if it does not match."""
    if selected().sdk == "sdk1":
        # As version 1 does: what is between the variables is read as a regular expression, too.
        pattern = template.replace("{", "(?P<").replace("}", ">[^/]+)")
        found = re.fullmatch(pattern, uri)
        return None if found is None else found.groupdict() or None
    return match_encoded(template, uri, security)


def match_encoded(template: str, uri: str, security: ResourceSecurity) -> dict[str, str] | None:
    """Return the decoded values that a template of RFC 6570 finds in an address."""
    query_at = template.find("{?")
    path, query = (template, "") if query_at < 0 else (template[:query_at], template[query_at:])
    target, _, given = uri.partition("?") if query else (uri, "", "")
    found = re.fullmatch(path_pattern(path), target)
    if found is None:
        return None
    values = {name: unquote(value) for name, value in found.groupdict().items() if value is not None}
    # Parameters of a query come in any order, and may be missing.
    pairs = [pair.partition("=") for pair in given.split("&") if pair]
    values |= {name: unquote(value) for name, _, value in pairs if name in variables(query)}
    for name, value in values.items():
        if name not in security.exempt_params and security.rejects(value):
            raise ResourceSecurityError(f"Parameter {name!r} of template {template!r} failed security validation")
    return values


def path_pattern(template: str) -> str:
    parts: list[str] = []
    end = 0
    for expression in EXPRESSION.finditer(template):
        operator, listed = expression.groups()
        parts.append(re.escape(template[end : expression.start()]))
        # Reserved expansion (`+`, `#`) and exploded lists (`*`) may contain separators.
        character = "." if operator in ("+", "#") or listed.endswith("*") else "[^/?#&,]"
        names = [name.rstrip("*").partition(":")[0] for name in listed.split(",")]
        parts.append(PREFIXES.get(operator, "") + ",".join(f"(?P<{name}>{character}*)" for name in names))
        end = expression.end()
    return "".join([*parts, re.escape(template[end:])])


MIME_TYPE = "text/plain"


def unchanged() -> tuple[type[Exception], ...]:
    """Return the exceptions of functions that the version does not replace: all, or none."""
    return (Exception,) if behaviour().masks_errors else ()


def as_address(uri: object) -> str:
    """Return an address as the version of the SDK keeps it."""
    if not rules(selected()).uris_normalized:
        return str(uri)
    return normalized_uri(str(uri))


def as_contents(result: object) -> str | bytes:
    """Return what is read of a function's result: text and bytes as they are, anything else as JSON."""
    return result if isinstance(result, (str, bytes)) else json_text(result, indented=True)


class Resource(components.Resource):
    """A resource; subclasses of a project read it."""

    default_mime_type = MIME_TYPE

    def __init__(self, uri: object = "", *, name: str | None = None, **given: Any) -> None:
        common = {key: given.pop(key) for key in COMMON & given.keys()}
        address = as_address(uri)
        super().__init__(address, name=name or address, **{"mime_type": self.default_mime_type, **common})
        for key, value in given.items():
            setattr(self, key, value)

    async def read(self) -> str | bytes:
        raise NotImplementedError


COMMON = frozenset({"annotations", "description", "function", "icons", "meta", "mime_type", "size", "title"})


class TextResource(Resource):
    """A resource with a text."""

    text: str = ""

    async def read(self) -> str:
        return self.text


class BinaryResource(Resource):
    """A resource with bytes."""

    data: bytes = b""

    async def read(self) -> bytes:
        return self.data


class FunctionResource(Resource):
    """A resource that a function reads."""

    def __init__(self, uri: Any = "", *, fn: Function | None = None, **given: Any) -> None:
        super().__init__(uri, function=fn, **given)

    @classmethod
    def from_function(
        cls, fn: Function, uri: str, name: str | None = None, mime_type: str | None = None, **options: object
    ) -> FunctionResource:
        return cls(uri, fn=fn, mime_type=mime_type or MIME_TYPE, **described(fn, {**options, "name": name}))

    async def read(self) -> str | bytes:
        with raised_as(lambda problem: ValueError(f"Error reading resource {self.uri}: {problem}"), *unchanged()):
            result = await call_function(self.fn, {}, threaded=behaviour().synchronous_in_threads)
            return await result.read() if isinstance(result, Resource) else as_contents(result)


class FileResource(Resource):
    """A resource that is a file."""

    def __init__(self, uri: Any = "", *, path: str | Path, is_binary: bool = False, **given: Any) -> None:
        super().__init__(uri, **given)
        self.path = Path(path)
        if not self.path.is_absolute():
            raise ValueError("Path must be absolute")
        self.is_binary = is_binary or not (self.mime_type or MIME_TYPE).startswith("text/")

    async def read(self) -> str | bytes:
        with raised_as(lambda problem: ValueError(f"Error reading file {self.path}: {problem}")):
            return await asyncio.to_thread(self.path.read_bytes if self.is_binary else self.path.read_text)


class ResourceTemplate(components.Template):
    """A template of resources: a function reads them."""

    security = DEFAULT

    @classmethod
    def from_function(
        cls,
        fn: Function,
        uri_template: str,
        name: str | None = None,
        mime_type: str | None = None,
        **options: Any,
    ) -> ResourceTemplate:
        injected = injected_in(fn, options.pop("context_kwarg", None))
        security = options.pop("security", None)
        given = {**described(fn, {**options, "name": name}), "mime_type": mime_type or MIME_TYPE}
        made = cls(uri_template, function=fn, injected=injected, **given)
        made.security = security or DEFAULT
        return made

    def matches(self, uri: str) -> dict[str, str] | None:
        """Return the values that the template finds in an address, None if it does not match."""
        return match(self.uri_template, uri, self.security)

    async def create_resource(self, uri: str, params: Object, context: object = None) -> Resource:

        def error(problem: Exception) -> Exception:
            if behaviour().masks_errors:
                return UnexpectedResourceError(f"Error creating resource from template {uri}")
            return ValueError(f"Error creating resource from template: {problem}")

        kept: tuple[type[Exception], ...] = (ResourceError, MCPError) if behaviour().masks_errors else ()
        with raised_as(error, *kept):
            if self.plan is None:
                self.plan = converting(self.fn)
            given = params | dict.fromkeys(self.injected, context)
            result = await call_function(self.plan, given, threaded=behaviour().synchronous_in_threads)
        return FunctionResource(
            uri, fn=lambda: result, name=self.name, mime_type=self.mime_type or MIME_TYPE, meta=self.meta
        )


class ResourceManager(Manager[Resource]):
    """The resources and templates of a server by their addresses."""

    def __init__(self, warn_on_duplicate_resources: bool = True, *, resources: list[Resource] | None = None) -> None:
        super().__init__(warn_on_duplicate_resources, resources)
        self._addresses: Registry[ResourceTemplate] = Registry("replace")

    @property
    def _resources(self) -> dict[str, Resource]:
        return self.items

    @property
    def _templates(self) -> dict[str, ResourceTemplate]:
        return self._addresses.items

    def add_resource(self, resource: Resource) -> Resource:
        """Add a resource; the one that is there stays."""
        return self.add(resource)

    def add_template(self, fn: Function, uri_template: str, **options: Any) -> ResourceTemplate:
        return self._addresses.add(ResourceTemplate.from_function(fn, uri_template, **options))

    def list_resources(self) -> list[Resource]:
        return [*self]

    def list_templates(self) -> list[ResourceTemplate]:
        return [*self._addresses]

    async def get_resource(self, uri: object, context: object = None) -> Resource:
        address = str(uri)
        if address in self.items:
            return self.items[address]
        for template in self._addresses:
            found = self._found(template, address)
            if found is not None:
                return await self._create(template, address, found, context)
        raise unknown(address)

    def _found(self, template: ResourceTemplate, address: str) -> dict[str, str] | None:
        try:
            return template.matches(address)
        except ResourceSecurityError as problem:
            raise unknown(address) from problem

    async def _create(self, template: ResourceTemplate, address: str, found: Object, context: object) -> Resource:
        text = "Error creating resource from template"
        with raised_as(lambda problem: ValueError(f"{text}: {problem}"), *unchanged()):
            return await template.create_resource(address, found, context)


def unknown(address: str) -> Exception:
    kind = ResourceNotFoundError if behaviour().masks_errors else ValueError
    return kind(f"Unknown resource: {address}")


def check_parameters(uri: str, names: set[str], function: Function) -> bool:
    """Tell whether a resource is a template; raise ValueError if its address and its function do not fit."""
    context = find_context_parameter(function)
    parameters = inspect.signature(function).parameters
    expected = {name for name in parameters if name != context}
    if selected().sdk == "sdk2" and not names:
        check_static(uri, expected, context)
        return False
    if not names and not parameters:
        return False
    if names != expected:
        raise ValueError(f"Mismatch between URI parameters {names} and function parameters {expected}")
    return True


def check_static(uri: str, expected: set[str], context: str | None) -> None:
    """Raise ValueError if the function of a resource without variables has parameters (version 2)."""
    if expected:
        raise ValueError(
            f"Resource {uri!r} has no URI template variables, but the handler declares parameters {expected}. "
            f"Add matching {{...}} variables to the URI or remove the parameters."
        )
    if context is not None:
        raise ValueError(
            f"Resource {uri!r} has no URI template variables, but the handler declares a Context parameter. "
            f"Context injection for static resources is not supported. "
            f"Add a template variable to the URI or remove the Context parameter."
        )
