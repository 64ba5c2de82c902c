"""The tools and prompts of the SDK: functions whose arguments and results pydantic checks and converts; media."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine import components, contents
from mcpc_runtime.systems.fastmcp.engine.arguments import checked
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.injection import call_function, is_asynchronous
from mcpc_runtime.systems.fastmcp.engine.registration import Kind, Registry
from mcpc_runtime.systems.fastmcp.engine.schemas import OutputShape, output_schema, prompt_arguments
from mcpc_runtime.systems.fastmcp.engine.server import ResourceError, ToolError, raised_as
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.context import converting, described, injected_in
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import types
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.session import (
    MCPError,
    McpUrlElicitationRequiredError,
    UnexpectedResourceError,
    UnexpectedToolError,
)


class BySuffix(contents.Helper):
    """A file, or bytes: the SDK knows media types by suffixes, and makes one of any format."""

    suffixes: ClassVar[dict[str, str]] = {}

    def known_formats(self) -> dict[str, str]:
        return {}

    def type_of_file(self, path: Path) -> str:
        return self.suffixes.get(path.suffix.lower().lstrip("."), contents.OCTETS)


class Image(BySuffix, contents.Image):
    """An image."""

    suffixes = {  # noqa: RUF012 - a table
        **dict.fromkeys(("jpg", "jpeg"), "image/jpeg"),
        **{name: f"image/{name}" for name in ("png", "gif", "webp")},
    }


class Audio(BySuffix, contents.Audio):
    """A sound."""

    suffixes = {**contents.Audio.suffixes, "aac": "audio/aac"}  # noqa: RUF012 - a table


log = logging.getLogger(__name__)
DIRECT = (McpUrlElicitationRequiredError, MCPError)
"""What a tool raises that is not a failure of the tool, but the answer to the request."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is made at a tool's first call.

    `model`: pydantic's model of the arguments; `shape`, `adapter`: of the result if it is structured.
    """

    model: Any
    shape: OutputShape | None
    adapter: Any

    def arguments(self, given: Object) -> Object:
        """Return the arguments of the function: checked and converted."""
        valid = checked(self.model.model_validate, parsed(given, self.model.model_fields))
        return {field.alias or name: getattr(valid, name) for name, field in self.model.model_fields.items()}

    def structured(self, result: Any) -> Any:
        by_name = {"by_alias": True, "by_name": True} if selected().sdk == "sdk2" else {}
        value = {"result": result} if self.shape is not None and self.shape.wrapped else result
        valid = self.adapter.validate_python(value, **by_name)
        if hasattr(valid, "model_dump"):
            return valid.model_dump(mode="json", by_alias=True)
        return self.adapter.dump_python(valid, mode="json", by_alias=True)


def plan_of(tool: components.Tool) -> Plan:
    """Return the plan of a tool, made at its first call."""
    if tool.plan is None:
        model = resolve("mcpc_runtime.systems.fastmcp.engine.schemas:arguments_model")(tool.function, tool.injected)
        shape = output_schema(tool.fn, selected(), tool.structured_output)
        adapter = None if shape is None else resolve("pydantic:TypeAdapter")(shape.kind)
        tool.plan = Plan(model, shape, adapter)
    plan: Plan = tool.plan
    return plan


def parsed(given: Object, fields: Object) -> Object:
    """Return arguments whose text is parsed where another type is expected, and the text is an object or a list."""
    by_key = {key: field for name, field in fields.items() for key in (name, field.alias) if key}
    return {key: parsed_text(value, by_key[key]) if key in by_key else value for key, value in given.items()}


def parsed_text(value: Any, field: Any) -> object:
    if not isinstance(value, str) or field.annotation is str:
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    # Models write objects and lists as texts; a text that is a number or a boolean stays one.
    return value if isinstance(found, (str, int, float)) else found


def contents_of(result: object) -> list[object]:
    if result is None:
        return []
    if isinstance(result, BySuffix):
        return [contents.typed_block(result.block())]
    if isinstance(result, (list, tuple)):
        return [block for item in result for block in contents_of(item)]
    if hasattr(result, "model_dump") and isinstance(result, types.ContentBlock):
        return [result]
    return [
        types.TextContent(
            type="text", text=result if isinstance(result, str) else contents.json_text(result, indented=True)
        )
    ]


def converted(result: object, plan: Plan) -> object:
    """Return a result as the low-level server of version 1 takes it: contents, and perhaps structured content."""
    if is_question(result):
        return result
    if isinstance(result, types.CallToolResult):
        # A whole result that the function has made is checked, and not converted.
        if plan.shape is not None and not is_refusal(result):
            plan.adapter.validate_python(result.model_dump(by_alias=True).get("structuredContent"))
        return result
    blocks = contents_of(result)
    return blocks if plan.shape is None else (blocks, plan.structured(result))


def is_question(result: object) -> bool:
    """Tell whether a result asks the client for input (version 2)."""
    return getattr(result, "result_type", "") == "input_required"


def is_refusal(result: object) -> bool:
    return bool(getattr(result, "is_error", False))


class Tool(components.Tool):
    """A tool of the SDK."""

    @classmethod
    def from_function(
        cls,
        fn: Function,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        context_kwarg: str | None = None,
        **options: Any,
    ) -> Tool:
        given = described(fn, {"name": name, "title": title, "description": description})
        return cls(function=fn, injected=injected_in(fn, context_kwarg), **given, **options)

    @property
    def context_kwarg(self) -> str | None:
        """The name of the parameter that gets the context."""
        return next(iter(self.injected), None)

    @property
    def is_async(self) -> bool:
        return is_asynchronous(self.function)

    @property
    def fn_metadata(self) -> object:
        return plan_of(self)

    async def run(self, arguments: Object, context: Any = None, convert_result: bool = False) -> Any:
        """Call the function; what it raises becomes the tool's error."""
        with raised_as(self._error, *DIRECT):
            plan = plan_of(self)
            values = self._values(plan, arguments)
            given = values | dict.fromkeys(self.injected, context)
            result = await call_function(self.fn, given, threaded=behaviour().synchronous_in_threads)
            return converted(result, plan) if convert_result else result

    def _values(self, plan: Plan, arguments: Object) -> Object:
        try:
            return plan.arguments(arguments)
        except ValueError as problem:
            raise ToolError(str(problem)) from problem

    def _error(self, problem: Exception) -> ToolError:
        text = f"Error executing tool {self.name}"
        if isinstance(problem, (UnexpectedToolError, UnexpectedResourceError)):
            return UnexpectedToolError(f"{text}: {problem}")
        if not behaviour().masks_errors or isinstance(problem, (ToolError, ResourceError)):
            return ToolError(f"{text}: {problem}")
        log.error("Tool %r raised an unexpected exception", self.name, exc_info=problem)
        return UnexpectedToolError(text)


class Manager(Registry[Kind]):
    """The components of a server by their names: the first one with a name stays."""

    def __init__(self, warns: bool = True, given: Iterable[Kind] | None = None) -> None:
        super().__init__("keep" if warns else "ignore")
        self.items = {each.identifier: each for each in given or ()}


class ToolManager(Manager["Tool"]):
    """The tools of a server."""

    def __init__(self, warn_on_duplicate_tools: bool = True, *, tools: list[Tool] | None = None) -> None:
        super().__init__(warn_on_duplicate_tools, tools)

    @property
    def _tools(self) -> dict[str, Tool]:
        return self.items

    def get_tool(self, name: str) -> Tool | None:
        return self.get(name)

    def list_tools(self) -> list[Tool]:
        return [*self]

    def add_tool(self, fn: Function, *given: Any, **options: Any) -> Tool:
        """Add the tool of a function; the one that is there stays."""
        return self.add(Tool.from_function(fn, *given, **options))

    def remove_tool(self, name: str) -> None:
        if self.remove(name) is None:
            raise ToolError(f"Unknown tool: {name}")

    async def call_tool(
        self, name: str, arguments: Object, context: object = None, convert_result: bool = False
    ) -> Any:
        tool = self.get(name)
        if tool is None:
            raise ToolError(f"Unknown tool: {name}")
        return await tool.run(arguments, context, convert_result)


class Message:
    """A message of a prompt: a role, and a content block (text is one)."""

    role = "user"

    def __init__(self, content: object, role: str = "", **_: object) -> None:
        self.role = role or type(self).role
        if self.role not in ("user", "assistant"):
            raise ValueError(f"the role of a message is `user` or `assistant`, not {self.role!r}")
        self.content = content_block(content)

    def model_dump(self, **_: object) -> Object:
        content = self.content.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {"role": self.role, "content": content}


class UserMessage(Message):
    """A message of the user."""


class AssistantMessage(Message):
    """A message of the model."""

    role = "assistant"


def content_block(content: object) -> Any:
    """Return a content block: made of text, of media, or of an object."""
    if isinstance(content, str):
        return types.TextContent(type="text", text=content)
    if isinstance(content, BySuffix):
        return contents.typed_block(content.block())
    return resolve("pydantic:TypeAdapter")(types.ContentBlock).validate_python(content)


def message_of(item: object) -> Message:
    if isinstance(item, Message):
        return item
    if isinstance(item, dict):
        return UserMessage(**item)
    if isinstance(item, str) or (behaviour().masks_errors and contents.is_content(item)):
        return UserMessage(item)
    return UserMessage(contents.json_text(item, indented=True))


class Prompt(components.Prompt):
    """A prompt of the SDK."""

    @classmethod
    def from_function(  # noqa: PLR0913 - as there
        cls,
        fn: Function,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[object] | None = None,
        context_kwarg: str | None = None,
    ) -> Prompt:
        given = described(fn, {"name": name, "title": title, "description": description, "icons": icons})
        return cls(function=fn, injected=injected_in(fn, context_kwarg), **given)

    @property
    def arguments(self) -> list[Any]:
        return [types.PromptArgument.model_validate(each) for each in self._arguments()]

    def _arguments(self) -> list[Object]:
        if self.given_arguments is None and self.function is not None:
            self.given_arguments = prompt_arguments(self.function, self.injected, selected())
        return self.given_arguments or []

    async def render(self, arguments: Object | None = None, context: object = None) -> list[Message]:
        given = arguments or {}
        missing = {each["name"] for each in self._arguments() if each.get("required")} - set(given)
        if missing:
            raise ValueError(f"Missing required arguments: {missing}")
        text = f"Error rendering prompt {self.name}"
        hidden = behaviour().masks_errors
        with raised_as(lambda problem: ValueError(text if hidden else f"{text}: {problem}"), MCPError):
            if self.plan is None:
                self.plan = converting(self.fn)
            given |= dict.fromkeys(self.injected, context)
            result = await call_function(self.plan, given, threaded=behaviour().synchronous_in_threads)
            return [self._message(item) for item in (result if isinstance(result, (list, tuple)) else [result])]

    def _message(self, item: object) -> Message:
        with raised_as(lambda _: ValueError(f"Could not convert prompt result to message: {item}")):
            return message_of(item)


class PromptManager(Manager[Prompt]):
    """The prompts of a server."""

    def __init__(self, warn_on_duplicate_prompts: bool = True) -> None:
        super().__init__(warn_on_duplicate_prompts)

    @property
    def _prompts(self) -> dict[str, Prompt]:
        return self.items

    def get_prompt(self, name: str) -> Prompt | None:
        return self.get(name)

    def list_prompts(self) -> list[Prompt]:
        return [*self]

    def add_prompt(self, prompt: Prompt) -> Prompt:
        """Add a prompt; the one that is there stays."""
        return self.add(prompt)

    async def render_prompt(self, name: str, arguments: Object | None = None, context: object = None) -> list[Message]:
        prompt = self.get(name)
        if prompt is None:
            raise ValueError(f"Unknown prompt: {name}")
        return await prompt.render(arguments, context)
