"""Tools, prompts, resources and templates by their names in FastMCP, and decorators without a server."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import components, registration, resource_results, running
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import typed
from mcpc_runtime.systems.fastmcp.engine.listing import entry_of
from mcpc_runtime.systems.fastmcp.engine.schemas import input_schema
from mcpc_runtime.systems.fastmcp.engine.server import ResourceError, lack
from mcpc_runtime.systems.fastmcp.engine.uris import INHERITED
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template as template_of
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

OWN = __name__.partition(".")[0]


LACKING = ("app", "serializer", "task")
"""Options of components that the adapter does not have: user interfaces, how results become text, tasks."""


def plain_options(options: Object) -> Object:
    """Return the options of a component without those that the adapter does not have."""
    for name in LACKING:
        if options.get(name) not in (None, False):
            lack(f"fastmcp.FastMCP.tool({name}=…)")
    return {key: value for key, value in options.items() if key not in LACKING}


REMOVED = "Component.{name}() was removed in FastMCP 3.0. Use server.{name}(keys=['{key}']) instead."


class Annotated:
    """What has annotations: a dictionary becomes the SDK's type when it is first asked for."""

    annotation_type = "Annotations"
    _annotations: object = None

    @property
    def annotations(self) -> object:
        """The annotations, as the SDK's type."""
        if type(self._annotations) is dict:
            self._annotations = typed(self.annotation_type, self._annotations)
        return self._annotations

    @annotations.setter
    def annotations(self, annotations: object) -> None:
        self._annotations = annotations


class Described:
    """What all components have."""

    kind: str
    name: str
    key: str
    tags: set[str]
    meta: Object | None
    options: Object
    enabled: bool

    def __init_subclass__(cls) -> None:
        if cls.__module__.partition(".")[0] != OWN:
            lack(f"subclasses of {cls.__mro__[1].__name__}")

    @property
    def auth(self) -> object:
        """What decides who may use the component: a built server does not ask it."""
        return self.options.get("auth")

    def enable(self) -> None:
        """Show the component; in FastMCP 3 and later NotImplementedError."""
        self._switch("enable", True)

    def disable(self) -> None:
        """Hide the component; in FastMCP 3 and later NotImplementedError."""
        self._switch("disable", False)

    def _switch(self, name: str, enabled: bool) -> None:
        if behaviour().versioned:
            raise NotImplementedError(REMOVED.format(name=name, key=self.key))
        self.enabled = enabled


MIME_TYPE = "text/plain"


class Resource(Annotated, Described, components.Resource):
    """A resource."""

    def __init__(self, uri: object = "", *, fn: object = None, **options: Any) -> None:
        if fn is not None:
            options["function"] = fn
        super().__init__(str(uri), **{"mime_type": MIME_TYPE, **options, "name": options.get("name") or str(uri)})

    @classmethod
    def from_function(cls, fn: Function, uri: object, name: str | None = None, **options: object) -> object:
        return registration.make(FunctionResource, fn, name, {**options, "uri": str(uri)})

    async def read(self) -> object:
        if self.function is not None and self.origin is None and behaviour().resources_are_strict:
            found = await running.invoke(self, {}, running.plan_of(self).dependencies)
            return await found.read() if isinstance(found, Resource) else found
        return single(await running.read(self))


class FunctionResource(Resource):
    """A resource that is a function."""


class TextResource(Resource):
    """A resource with a text."""

    def __init__(self, uri: object = "", *, text: str = "", **options: object) -> None:
        super().__init__(uri, content=text, **options)
        self.text = text


class BinaryResource(Resource):
    """A resource with bytes."""

    def __init__(self, uri: object = "", *, data: bytes = b"", **options: object) -> None:
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
        **options: object,
    ) -> None:
        super().__init__(uri, **options)
        self.path, self.encoding = Path(path), encoding
        if not self.path.is_absolute():
            raise ValueError("Path must be absolute")
        self.function = self.contents
        kind = self.mime_type or MIME_TYPE
        self.is_binary = not kind.startswith("text/") if is_binary is None else is_binary

    def contents(self) -> str | bytes:
        """Return the file's contents; ResourceError: it cannot be read."""
        try:
            return self.path.read_bytes() if self.is_binary else self.path.read_text(encoding=self.encoding)
        except (OSError, UnicodeError) as problem:
            raise ResourceError(f"Error reading file {self.path}: {problem}") from problem


class ResourceTemplate(Annotated, Described, components.Template):
    """A template of resources."""

    def __init__(self, uri_template: str = "", *, fn: object = None, **options: Any) -> None:
        if fn is not None:
            options["function"] = fn
        self._parameters = options.pop("parameters", None)
        super().__init__(uri_template, **{"mime_type": MIME_TYPE, **options})

    @property
    def security(self) -> object:
        """What decides which values an address may have."""
        return self.options.get("security", INHERITED)

    @property
    def parameters(self) -> Object:
        if self._parameters is None and self.function is not None:
            return input_schema(self.function, self.injected, selected())
        return self._parameters or {"type": "object", "properties": {}}

    @parameters.setter
    def parameters(self, schema: Object) -> None:
        self._parameters = schema

    @classmethod
    def from_function(cls, fn: Function, uri_template: str, name: str | None = None, **options: object) -> object:
        return registration.make(FunctionResourceTemplate, fn, name, {**options, "uri": uri_template})

    def matches(self, uri: str) -> Object | None:
        """Return the values of an address, None if it is another one's."""
        return template_of(self.uri_template).match(str(uri))

    async def read(self, arguments: Object) -> object:
        """Return the contents of the resource with some values."""
        if self.origin is None and behaviour().resources_are_strict:
            return await running.invoke(
                self, running.template_values(self, arguments), running.plan_of(self).dependencies
            )
        return single(await running.read_template(self, arguments))


class FunctionResourceTemplate(ResourceTemplate):
    """A template that is a function."""


def single(result: resource_results.ResourceResult) -> object:
    """Return the only part of what a resource contains, or all if there are several."""
    return result.contents[0].content if len(result.contents) == 1 else result


TOOL_NAMES = {"parameters": "given_parameters", "output_schema": "given_output", "timeout": "seconds", "fn": "function"}
"""The public names of a tool's fields, with those of the engine."""


class Tool(Annotated, Described, components.Tool):
    """A tool."""

    annotation_type = "ToolAnnotations"

    def __init__(self, name: str = "", **options: Any) -> None:
        given = {TOOL_NAMES.get(key, key): value for key, value in options.items()}
        super().__init__(name or type(self).__name__, **given)

    @classmethod
    def from_function(cls, fn: Function, name: str | None = None, **options: object) -> object:
        registration.check_plain(fn)
        return registration.make(FunctionTool, fn, name, plain_options(options))

    async def run(self, arguments: Object) -> object:
        return await running.run_tool(self, arguments)

    @property
    def return_type(self) -> object:
        return None if self.function is None else inspect.signature(self.function).return_annotation

    @property
    def timeout(self) -> float | None:
        """The time limit in seconds, or None."""
        return self.seconds


class FunctionTool(Tool):
    """A tool that is a function."""


class Prompt(Described, components.Prompt):
    """A prompt."""

    def __init__(self, name: str = "", **options: Any) -> None:
        arguments = options.pop("arguments", None)
        if arguments is not None:
            options["given_arguments"] = [argument_entry(each) for each in arguments]
        if "fn" in options:
            options["function"] = options.pop("fn")
        super().__init__(name or type(self).__name__, **options)

    @classmethod
    def from_function(cls, fn: Function, name: str | None = None, **options: object) -> object:
        return registration.make(FunctionPrompt, fn, name, options)

    @property
    def arguments(self) -> list[PromptArgument]:
        """The arguments, each with a name, a description and whether it is required."""
        return [PromptArgument(**each) for each in entry_of(self).get("arguments", ())]

    async def render(self, arguments: Object | None = None) -> object:
        return await running.render(self, arguments)


class FunctionPrompt(Prompt):
    """A prompt that is a function."""


@dataclass
class PromptArgument:
    """An argument of a prompt."""

    name: str
    description: str | None = None
    required: bool = False


def argument_entry(argument: object) -> Object:
    given = argument if isinstance(argument, dict) else vars(argument)
    named = {key: given[key] for key in ("name", "description", "required") if given.get(key) is not None}
    return {**named, "required": bool(given.get("required"))}


CLASSES = {
    "tool": FunctionTool,
    "prompt": FunctionPrompt,
    "resource": FunctionResource,
    "template": FunctionResourceTemplate,
}
"""The class of each kind's components that are functions."""
Message = resource_results.Message
