"""Prompts of the SDK."""

from __future__ import annotations

import logging
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine import components
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.errors import raised_as
from mcpc_runtime.systems.fastmcp.engine.schemas import prompt_arguments
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.program import current_program
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.context import (
    call_and_wait,
    converting,
    find_context_parameter,
    function_name,
    json_text,
)
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.exceptions import MCPError
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.tools import Media
from mcpc_runtime.systems.fastmcp.standins.mcp_types import selected as types

log = logging.getLogger(__name__)


class Message:
    """A message of a prompt: a role, and a content block (text is one)."""

    role = "user"

    def __init__(self, content: object, role: str = "", **_: object) -> None:
        self.role = role or type(self).role
        if self.role not in ("user", "assistant"):
            raise ValueError(f"the role of a message is `user` or `assistant`, not {self.role!r}")
        self.content = content_block(content)

    def model_dump(self, **_: object) -> Object:
        """Return the message as it is in a result."""
        content = self.content.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {"role": self.role, "content": content}


class UserMessage(Message):
    """A message of the user."""


class AssistantMessage(Message):
    """A message of the model."""

    role = "assistant"


def content_block(content: Any) -> Any:
    """Return a content block: made of text, of media, or of an object."""
    if isinstance(content, str):
        return types.TextContent(type="text", text=content)
    if isinstance(content, Media):
        return content._content()
    return resolve("pydantic:TypeAdapter")(types.ContentBlock).validate_python(content)


def message_of(item: Any) -> Message:
    """Return the message that a prompt's function returned."""
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
        """The arguments, as the protocol lists them."""
        return [types.PromptArgument.model_validate(each) for each in self._arguments()]

    def _arguments(self) -> list[Object]:
        if self.given_arguments is None and self.function is not None:
            self.given_arguments = prompt_arguments(self.function, self.injected, selected())
        return self.given_arguments or []

    async def render(self, arguments: Object | None = None, context: Any = None) -> list[Message]:
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
