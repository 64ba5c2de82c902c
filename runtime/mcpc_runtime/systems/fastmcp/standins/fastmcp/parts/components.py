"""Tools, prompts, resources and templates by their names in FastMCP, and decorators without a server."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import components, registration, resource_results, results, running
from mcpc_runtime.systems.fastmcp.engine.components import UNSET
from mcpc_runtime.systems.fastmcp.engine.contents import typed, wire
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.fields import Annotated, Described, entry, take_fields
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.resources import FunctionResource, FunctionResourceTemplate


@dataclass(frozen=True, kw_only=True)
class Meta:
    """What a decorator without a server attaches to a function."""

    name: str | None = None
    version: object = None
    title: str | None = None
    description: str | None = None
    icons: object = None
    tags: object = None
    meta: object = None
    task: object = None
    auth: object = None
    enabled: bool = True

    def component(self, function: Any, cls: Any) -> Any:
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("name", "type")}
        return registration.make(
            cls, function, self.name, {key: value for key, value in given.items() if value is not None}
        )


@dataclass(frozen=True, kw_only=True)
class ToolMeta(Meta):
    """What `@tool` attaches."""

    type: str = "tool"
    output_schema: object = UNSET
    annotations: object = None
    exclude_args: object = None
    serializer: object = None
    timeout: float | None = None
    run_in_thread: bool = True
    app: object = None

    def component(self, function: Any, cls: object) -> Any:
        made = super().component(function, cls)
        made.given_output = self.output_schema
        return made


@dataclass(frozen=True, kw_only=True)
class PromptMeta(Meta):
    """What `@prompt` attaches."""

    type: str = "prompt"


@dataclass(frozen=True, kw_only=True)
class ResourceMeta(Meta):
    """What `@resource` attaches."""

    type: str = "resource"
    uri: str = ""
    mime_type: str | None = None
    annotations: object = None


def attach(function: object, meta: Meta) -> object:
    """Attach what a decorator was given to a function; return the function."""
    target: Any = getattr(function, "__func__", function)
    with suppress(AttributeError):  # a built-in function, for example
        target.__fastmcp__ = meta
    return function


def get_fastmcp_meta(function: object) -> object:
    """Return what a decorator attached to a function, or None."""
    return getattr(getattr(function, "__func__", function), "__fastmcp__", None)


def decorator(cls: type[Meta]) -> Function:
    """Return the decorator without a server that attaches a class."""

    def decorate(name_or_fn: Any = None, *, name: str | None = None, **options: Any) -> Any:
        if isinstance(name_or_fn, str) and name is not None:
            raise TypeError("Cannot specify both a name as first argument and as keyword argument")
        if name_or_fn is not None and not isinstance(name_or_fn, str):
            registration.check_decorated(str(cls.__dataclass_fields__["type"].default), name_or_fn)
        if callable(name_or_fn) and not isinstance(name_or_fn, str):
            return attach(name_or_fn, cls(name=name, **options))
        chosen = name_or_fn if isinstance(name_or_fn, str) else name
        return lambda function: attach(function, cls(name=chosen, **options))

    return decorate


tool = decorator(ToolMeta)
prompt = decorator(PromptMeta)


def resource(uri: str, **options: Any) -> Function:
    """Attach what a resource is to a function."""
    registration.check_uri(uri)
    return lambda function: attach(function, ResourceMeta(uri=uri, **options))


TOOL_NAMES = {"parameters": "given_parameters", "output_schema": "given_output", "timeout": "seconds", "fn": "function"}
"""The public names of a tool's fields, with those of the engine."""


class Tool(Annotated, Described, components.Tool):
    """A tool.  Projects subclass it with a method `run`."""

    annotation_type = "ToolAnnotations"

    def __init__(self, name: str = "", **options: Any) -> None:
        every = take_fields(self, {"name": name, **options} if name else options)
        given = {TOOL_NAMES.get(key, key): value for key, value in every.items()}
        execution = wire(given.pop("execution", None)) or {}
        config = given.pop("task_config", None)
        if "task" not in given and (execution or config is not None):
            given["task"] = execution.get("taskSupport") or getattr(config, "mode", None)
        super().__init__(given.pop("name", "") or type(self).__name__, **given)

    @classmethod
    def from_function(cls, fn: Function, name: str | None = None, **options: Any) -> Any:
        meta = options.pop("metadata", None) or getattr(fn, "__fastmcp__", None)
        if isinstance(meta, ToolMeta) and name is None and not options:
            return meta.component(fn, FunctionTool)
        return registration.make(FunctionTool, fn, name, options)

    async def run(self, arguments: Object) -> object:
        """Run the tool; subclasses without a function do it themselves."""
        if self.function is None and self.origin is None:
            raise NotImplementedError("Subclasses must implement run()")
        return await running.run_tool(self, arguments)

    def convert_result(self, raw_value: Any) -> Any:
        """Return a function's result as the result of the tool."""
        return results.converted(self, raw_value)

    @property
    def return_type(self) -> object:
        """The annotation of the result."""
        return None if self.function is None else inspect.signature(self.function).return_annotation

    def to_mcp_tool(self, **overrides: object) -> object:
        """Return the SDK's description of the tool."""
        return typed("Tool", entry(self, overrides))

    @property
    def timeout(self) -> float | None:
        """The time limit in seconds, or None."""
        return self.seconds

    @property
    def execution(self) -> object:
        """Whether the tool runs as a task, as the SDK's type."""
        return None if self.task in (None, "forbidden") else typed("ToolExecution", {"taskSupport": self.task})


class FunctionTool(Tool):
    """A tool that is a function."""


class Prompt(Described, components.Prompt):
    """A prompt.  Projects subclass it with a method `render`."""

    def __init__(self, name: str = "", **options: Any) -> None:
        given = take_fields(self, {"name": name, **options} if name else options)
        arguments = given.pop("arguments", None)
        if arguments is not None:
            given["given_arguments"] = [argument_entry(each) for each in arguments]
        if "fn" in given:
            given["function"] = given.pop("fn")
        super().__init__(given.pop("name", "") or type(self).__name__, **given)

    @classmethod
    def from_function(cls, fn: Function, name: str | None = None, **options: Any) -> Any:
        options.pop("metadata", None)
        return registration.make(FunctionPrompt, fn, name, options)

    @property
    def arguments(self) -> list[PromptArgument]:
        """The arguments, each with a name, a description and whether it is required."""
        return [PromptArgument(**each) for each in entry(self, {}).get("arguments", ())]

    async def render(self, arguments: Object | None = None) -> object:
        """Return the messages; subclasses without a function do it themselves."""
        if self.function is None and self.origin is None:
            raise NotImplementedError("Subclasses must implement render()")
        return await running.render(self, arguments)

    def convert_result(self, raw_value: object) -> resource_results.PromptResult:
        """Return a function's result as the result of the prompt."""
        return resource_results.converted_prompt(self, raw_value)

    def to_mcp_prompt(self, **overrides: object) -> object:
        """Return the SDK's description of the prompt."""
        return typed("Prompt", entry(self, overrides))


class FunctionPrompt(Prompt):
    """A prompt that is a function."""


@dataclass
class PromptArgument:
    """An argument of a prompt."""

    name: str
    description: str | None = None
    required: bool = False


def argument_entry(argument: object) -> Object:
    """Return an argument of a prompt as in a list."""
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
