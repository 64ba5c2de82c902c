"""Resources and templates of resources by their names in FastMCP."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import components, registration, resource_results, running
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import json_text, typed
from mcpc_runtime.systems.fastmcp.engine.errors import ResourceError
from mcpc_runtime.systems.fastmcp.engine.schemas import input_schema
from mcpc_runtime.systems.fastmcp.engine.uris import INHERITED
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template as template_of
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.fields import Annotated, Described, entry, take_fields

MIME_TYPE = "text/plain"
CREATED_WITH = ("name", "title", "description", "mime_type", "icons", "tags", "annotations")
"""What a resource has of the template that creates it."""
READ = "Subclasses must implement read()"


class Resource(Annotated, Described, components.Resource):
    """A resource.  Projects subclass it with a method `read`."""

    def __init__(self, uri: object = "", *, fn: object = None, **options: Any) -> None:
        if uri:
            options["uri"] = uri
        if fn is not None:
            options["function"] = fn
        given = take_fields(self, {"mime_type": MIME_TYPE, **options})
        address = str(given.pop("uri", ""))
        super().__init__(address, name=given.pop("name", "") or address, **given)

    @classmethod
    def from_function(cls, fn: Function, uri: object, name: str | None = None, **options: Any) -> Any:
        return registration.make(FunctionResource, fn, name, {**options, "uri": str(uri)})

    async def read(self) -> object:
        """Return the contents."""
        if self.function is None and self.content is None and self.origin is None:
            raise NotImplementedError(READ)
        if self.function is not None and self.origin is None and behaviour().resources_are_strict:
            found = await running.invoke(self, {}, running.plan_of(self).dependencies)
            return await found.read() if isinstance(found, Resource) else found
        return single(await running.read(self))

    async def mcpc_read(self) -> object:
        """Return the contents: those of a subclass are what its method returns."""
        if type(self).read is Resource.read:
            return await running.read(self)
        return self.convert_result(await self.read())

    _read = mcpc_read

    def convert_result(self, raw_value: object) -> resource_results.ResourceResult:
        """Return a function's result as what the resource contains."""
        return resource_results.converted_resource(self, raw_value)

    def to_mcp_resource(self, **overrides: object) -> object:
        """Return the SDK's description of the resource."""
        return typed("Resource", entry(self, overrides))


class FunctionResource(Resource):
    """A resource that is a function."""


class TextResource(Resource):
    """A resource with a text."""

    def __init__(self, uri: object = "", *, text: str = "", **options: Any) -> None:
        super().__init__(uri, content=text, **options)
        self.text = text


class BinaryResource(Resource):
    """A resource with bytes."""

    def __init__(self, uri: object = "", *, data: bytes = b"", **options: Any) -> None:
        super().__init__(uri, content=data, **options)
        self.data = data


class FileResource(Resource):
    """A resource that is a file."""

    def __init__(
        self,
        uri: object = "",
        *,
        path: str | Path,
        is_binary: bool | None = None,
        encoding: str = "utf-8",
        **options: Any,
    ) -> None:
        super().__init__(uri, **options)
        self.path, self.encoding = absolute(path), encoding
        kind = self.mime_type or MIME_TYPE
        self.is_binary = not kind.startswith("text/") if is_binary is None else is_binary

    def contents(self) -> str | bytes:
        """Return the file's contents."""
        return self.path.read_bytes() if self.is_binary else self.path.read_text(encoding=self.encoding)

    async def read(self) -> object:
        """Return the file's contents as a result; ResourceError: it cannot be read."""
        try:
            return self.convert_result(self.contents())
        except (OSError, UnicodeError) as problem:
            raise ResourceError(f"Error reading file {self.path}: {problem}") from problem


class DirectoryResource(Resource):
    """A resource that is the list of the files of a folder."""

    def __init__(
        self, uri: object = "", *, path: str | Path, recursive: bool = False, pattern: str | None = None, **options: Any
    ) -> None:
        super().__init__(uri, **{"mime_type": "application/json", **options})
        self.path, self.recursive, self.pattern = absolute(path), recursive, pattern

    def list_files(self) -> list[Path]:
        """Return the files and folders."""
        if not self.path.exists():
            raise FileNotFoundError(f"Directory not found: {self.path}")
        if not self.path.is_dir():
            raise NotADirectoryError(f"Not a directory: {self.path}")
        pattern = self.pattern or "*"
        return list(self.path.rglob(pattern) if self.recursive else self.path.glob(pattern))

    async def read(self) -> object:
        """Return the names of the files; ResourceError: the folder cannot be read."""
        try:
            names = [str(each.relative_to(self.path)) for each in sorted(self.list_files()) if each.is_file()]
        except OSError as problem:
            raise ResourceError(f"Error reading directory {self.path}: {problem}") from problem
        return self.convert_result(json_text({"files": names}, indented=True))


def absolute(path: str | Path) -> Path:
    """Return a path; ValueError: it is relative."""
    found = Path(path)
    if not found.is_absolute():
        raise ValueError("Path must be absolute")
    return found


class HttpResource(Resource):
    """A resource that is read from an address of the web."""

    def __init__(self, uri: object = "", *, url: str, **options: Any) -> None:
        super().__init__(uri, **{"mime_type": "application/json", **options})
        self.url = url
        self.function = self.download

    def download(self) -> str:
        """Return what is at the address."""
        opener = __import__("urllib.request", fromlist=["urlopen"])
        with opener.urlopen(self.url) as answer:
            text: str = answer.read().decode()
        return text


class ResourceTemplate(Annotated, Described, components.Template):
    """A template of resources.  Projects subclass it with a method `read`, or one that creates resources."""

    def __init__(self, uri_template: str = "", *, fn: object = None, **options: Any) -> None:
        if uri_template:
            options["uri_template"] = uri_template
        if fn is not None:
            options["function"] = fn
        given = take_fields(self, {"mime_type": MIME_TYPE, **options})
        self._parameters = given.pop("parameters", None)
        super().__init__(given.pop("uri_template", ""), name=given.pop("name", ""), **given)

    @property
    def security(self) -> object:
        """What decides which values an address may have."""
        return self.options.get("security", INHERITED)

    def resolve_security(self, inherited: object) -> object:
        """Return the template's own policy, or the server's."""
        return inherited if self.security is INHERITED else self.security

    @property
    def parameters(self) -> Object:
        """The schema of the values."""
        if self._parameters is None and self.function is not None:
            return input_schema(self.function, self.injected, selected())
        return self._parameters or {"type": "object", "properties": {}}

    @parameters.setter
    def parameters(self, schema: Object) -> None:
        self._parameters = schema

    @classmethod
    def from_function(cls, fn: Function, uri_template: str, name: str | None = None, **options: Any) -> Any:
        return registration.make(FunctionResourceTemplate, fn, name, {**options, "uri": uri_template})

    def matches(self, uri: str) -> Object | None:
        """Return the values of an address, None if it is another one's."""
        return template_of(self.uri_template).match(str(uri))

    async def read(self, arguments: Object) -> object:
        """Return the contents of the resource with some values."""
        if self.function is None and self.origin is None:
            raise NotImplementedError(READ)
        if self.origin is None and behaviour().resources_are_strict:
            return await running.invoke(
                self, running.template_values(self, arguments), running.plan_of(self).dependencies
            )
        return single(await running.read_template(self, arguments))

    async def create_resource(self, uri: str, params: Object) -> Any:
        async def contents() -> Any:
            return await self.read(params)

        same = {name: getattr(self, name) for name in CREATED_WITH}
        return FunctionResource(uri, fn=contents, meta=deepcopy(self.meta), **same)

    async def mcpc_read_at(self, uri: str, values: Object) -> Any:
        """Return what the resource of an address contains: as a subclass reads or creates it."""
        cls = type(self)
        if cls.create_resource is not ResourceTemplate.create_resource and cls.read is ResourceTemplate.read:
            return await (await self.create_resource(uri, values)).mcpc_read()
        if cls.read is not ResourceTemplate.read:
            return self.convert_result(await self.read(values))
        return await running.read_template(self, values)

    _read = mcpc_read_at

    def convert_result(self, raw_value: object) -> resource_results.ResourceResult:
        """Return a function's result as what the resource contains."""
        if behaviour().template_types or isinstance(raw_value, resource_results.ResourceResult):
            return resource_results.converted_resource(self, raw_value)
        return resource_results.ResourceResult(raw_value)

    def to_mcp_template(self, **overrides: object) -> object:
        """Return the SDK's description of the template."""
        return typed("ResourceTemplate", entry(self, overrides))


class FunctionResourceTemplate(ResourceTemplate):
    """A template that is a function."""


def single(result: Any) -> object:
    """Return the only part of what a resource contains, or all if there are several."""
    return result.contents[0].content if len(result.contents) == 1 else result


def match_uri_template(uri: str, uri_template: str) -> Object | None:
    """Return the values of an address, None if it is not a template's."""
    return template_of(uri_template).match(uri)


def expand_uri_template(uri_template: str, params: Object) -> str:
    """Return the address of a template with some values."""
    return template_of(uri_template).expanded(params)


def build_regex(template: str) -> object:
    """Return the pattern of a template's addresses, None if there is none."""
    return template_of(template).pattern


def extract_query_params(template: str) -> set[str]:
    """Return the names of the values in a template's query."""
    return set(template_of(template).query)
