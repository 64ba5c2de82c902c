"""Tools, prompts, resources and templates by their names in FastMCP."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import components, creation, prompt_results, results, running
from mcpc_runtime.systems.fastmcp.engine.contents import typed, wire
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.common_fields import Annotated, Described, entry
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.fields import take_fields
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.metas import ToolMeta
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.resources import FunctionResource, FunctionResourceTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Object = dict[str, Any]
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
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Any:
        """Make a tool from a function."""
        meta = options.pop("metadata", None) or getattr(fn, "__fastmcp__", None)
        if isinstance(meta, ToolMeta) and name is None and not options:
            return meta.component(fn, FunctionTool)
        return creation.make(FunctionTool, fn, name, options)

    async def run(self, arguments: Object) -> Any:
        """Run the tool; subclasses without a function do it themselves."""
        if self.function is None and self.origin is None:
            raise NotImplementedError("Subclasses must implement run()")
        return await running.run_tool(self, arguments)

    def convert_result(self, raw_value: Any) -> Any:
        """Return a function's result as the result of the tool."""
        return results.converted(self, raw_value)

    @property
    def return_type(self) -> Any:
        """The annotation of the result."""
        return None if self.function is None else inspect.signature(self.function).return_annotation

    def to_mcp_tool(self, **overrides: Any) -> Any:
        """Return the SDK's description of the tool."""
        return typed("Tool", entry(self, overrides))

    @property
    def timeout(self) -> float | None:
        """The time limit in seconds, or None."""
        return self.seconds

    @property
    def execution(self) -> Any:
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
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Any:
        """Make a prompt from a function."""
        options.pop("metadata", None)
        return creation.make(FunctionPrompt, fn, name, options)

    @property
    def arguments(self) -> list[Any]:
        """The arguments, each with a name, a description and whether it is required."""
        return [PromptArgument(**each) for each in entry(self, {}).get("arguments", ())]

    async def render(self, arguments: Object | None = None) -> Any:
        """Return the messages; subclasses without a function do it themselves."""
        if self.function is None and self.origin is None:
            raise NotImplementedError("Subclasses must implement render()")
        return await running.render(self, arguments)

    def convert_result(self, raw_value: Any) -> Any:
        """Return a function's result as the result of the prompt."""
        return prompt_results.converted(self, raw_value)

    def to_mcp_prompt(self, **overrides: Any) -> Any:
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


def argument_entry(argument: Any) -> Object:
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
Message = prompt_results.Message
