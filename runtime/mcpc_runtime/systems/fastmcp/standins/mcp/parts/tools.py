"""The tools and prompts of the SDK: functions whose arguments and results pydantic checks and converts; media."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine import components
from mcpc_runtime.systems.fastmcp.engine.arguments import checked
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.errors import ResourceError, ToolError, raised_as
from mcpc_runtime.systems.fastmcp.engine.schemas import OutputShape, output_schema, prompt_arguments
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.program import current_program
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.context import (
    call,
    call_and_wait,
    converting,
    find_context_parameter,
    function_name,
    is_asynchronous,
    json_text,
)
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.session import (
    MCPError,
    McpUrlElicitationRequiredError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import types

UNKNOWN = "application/octet-stream"


class Media:
    """A file, or bytes, with a media type."""

    kind = ""
    default = ""
    suffixes: dict[str, str] = {}  # noqa: RUF012 - a table

    def __init__(self, path: str | Path | None = None, data: bytes | None = None, format: str | None = None) -> None:
        if (path is None) == (data is None):
            raise ValueError("Either path or data must be provided" if data is None else "Only one of path or data")
        self.path = Path(path) if path else None
        self.data = data
        self._format = format
        self._mime_type = self._get_mime_type()

    def _get_mime_type(self) -> str:
        if self._format:
            return f"{self.kind}/{self._format.lower()}"
        return self.suffixes.get(self.path.suffix.lower(), UNKNOWN) if self.path else self.default

    def _content(self) -> object:
        data = self.path.read_bytes() if self.path else self.data or b""
        fields = {"type": self.kind, "data": b64encode(data).decode(), "mimeType": self._mime_type}
        return getattr(types, f"{self.kind.title()}Content").model_validate(fields)


class Image(Media):
    """An image."""

    kind = "image"
    default = "image/png"
    suffixes = {  # noqa: RUF012 - a table
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".webp": "image/webp",
    }

    def to_image_content(self) -> Any:
        return self._content()


class Audio(Media):
    """A sound."""

    kind = "audio"
    default = "audio/wav"
    suffixes = {  # noqa: RUF012 - a table
        ".wav": "audio/wav",
        ".mp3": "audio/mpeg",
        ".ogg": "audio/ogg",
        ".flac": "audio/flac",
        ".aac": "audio/aac",
        ".m4a": "audio/mp4",
    }

    def to_audio_content(self) -> Any:
        return self._content()


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
        model = resolve("mcpc_runtime.systems.fastmcp.engine.schema_sdk:arguments_model")(tool.function, tool.injected)
        shape = output_schema(tool.fn, selected(), tool.structured_output)
        adapter = None if shape is None else resolve("pydantic:TypeAdapter")(shape.kind)
        tool.plan = Plan(model, shape, adapter)
    plan: Plan = tool.plan
    return plan


def parsed(given: Object, fields: Object) -> Object:
    """Return arguments whose text is parsed where another type is expected, and the text is an object or a list."""
    by_key = {key: field for name, field in fields.items() for key in (name, field.alias) if key}
    return {key: parsed_text(value, by_key[key]) if key in by_key else value for key, value in given.items()}


def parsed_text(value: Any, field: Any) -> Any:
    if not isinstance(value, str) or field.annotation is str:
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return value if isinstance(found, (str, int, float)) else found


def contents_of(result: object) -> list[Any]:
    if result is None:
        return []
    if isinstance(result, Image):
        return [result.to_image_content()]
    if isinstance(result, Audio):
        return [result.to_audio_content()]
    if isinstance(result, (list, tuple)):
        return [block for item in result for block in contents_of(item)]
    if hasattr(result, "model_dump") and isinstance(result, types.ContentBlock):
        return [result]
    return [types.TextContent(type="text", text=result if isinstance(result, str) else json_text(result))]


def converted(result: object, plan: Plan) -> Any:
    """Return a result as the low-level server of version 1 takes it: contents, and perhaps structured content."""
    if is_question(result):
        return result
    if isinstance(result, types.CallToolResult):
        if plan.shape is not None and not is_refusal(result):
            plan.adapter.validate_python(result.model_dump(by_alias=True).get("structuredContent"))
        return result
    contents = contents_of(result)
    return contents if plan.shape is None else (contents, plan.structured(result))


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
        context = context_kwarg or find_context_parameter(fn)
        return cls(
            function_name(fn, name),
            function=fn,
            title=title,
            description=description or fn.__doc__ or "",
            injected=frozenset(() if context is None else (context,)),
            **options,
        )

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
            result = await call(self.fn, values | dict.fromkeys(self.injected, context))
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


class ToolManager:
    """The tools of a server by their names."""

    def __init__(self, warn_on_duplicate_tools: bool = True, *, tools: list[Tool] | None = None) -> None:
        self.warn_on_duplicate_tools = warn_on_duplicate_tools
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools or ()}

    def get_tool(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def list_tools(self) -> list[Tool]:
        return list(self._tools.values())

    def add_tool(self, fn: Function, *given: Any, **options: Any) -> Tool:
        """Add the tool of a function; the one that is there stays."""
        tool = Tool.from_function(fn, *given, **options)
        if tool.name in self._tools and self.warn_on_duplicate_tools:
            log.warning("Tool already exists: %s", tool.name)
        current_program.note_change("tool")
        return self._tools.setdefault(tool.name, tool)

    def remove_tool(self, name: str) -> None:
        if name not in self._tools:
            raise ToolError(f"Unknown tool: {name}")
        del self._tools[name]
        current_program.note_change("tool")

    async def call_tool(self, name: str, arguments: Object, context: Any = None, convert_result: bool = False) -> Any:
        tool = self.get_tool(name)
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
    if isinstance(content, Media):
        return content._content()
    return resolve("pydantic:TypeAdapter")(types.ContentBlock).validate_python(content)


def message_of(item: object) -> Message:
    if isinstance(item, Message):
        return item
    if isinstance(item, dict):
        return UserMessage(**item)
    if isinstance(item, str) or (behaviour().masks_errors and is_content(item)):
        return UserMessage(item)
    return UserMessage(json_text(item))


def is_content(item: object) -> bool:
    """Tell whether version 2 of the SDK takes an item as a message's content."""
    return isinstance(item, (Media, types.ContentBlock))


class Prompt(components.Prompt):
    """A prompt of the SDK."""

    @classmethod
    def from_function(  # noqa: PLR0913 - as there
        cls,
        fn: Function,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Any] | None = None,
        context_kwarg: str | None = None,
    ) -> Prompt:
        context = context_kwarg or find_context_parameter(fn)
        return cls(
            function_name(fn, name),
            function=fn,
            title=title,
            description=description or fn.__doc__ or "",
            icons=icons,
            injected=frozenset(() if context is None else (context,)),
        )

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
            result = await call_and_wait(self.plan, given | dict.fromkeys(self.injected, context))
            return [self._message(item) for item in (result if isinstance(result, (list, tuple)) else [result])]

    def _message(self, item: object) -> Message:
        with raised_as(lambda _: ValueError(f"Could not convert prompt result to message: {item}")):
            return message_of(item)


class PromptManager:
    """The prompts of a server by their names."""

    def __init__(self, warn_on_duplicate_prompts: bool = True) -> None:
        self.warn_on_duplicate_prompts = warn_on_duplicate_prompts
        self._prompts: dict[str, Prompt] = {}

    def get_prompt(self, name: str) -> Prompt | None:
        return self._prompts.get(name)

    def list_prompts(self) -> list[Prompt]:
        return list(self._prompts.values())

    def add_prompt(self, prompt: Prompt) -> Prompt:
        """Add a prompt; the one that is there stays."""
        if prompt.name in self._prompts and self.warn_on_duplicate_prompts:
            log.warning("Prompt already exists: %s", prompt.name)
        current_program.note_change("prompt")
        return self._prompts.setdefault(prompt.name, prompt)

    async def render_prompt(self, name: str, arguments: Object | None = None, context: Any = None) -> list[Message]:
        prompt = self.get_prompt(name)
        if prompt is None:
            raise ValueError(f"Unknown prompt: {name}")
        return await prompt.render(arguments, context)
