"""The messages of prompts: results of functions, and their form on the wire."""

from __future__ import annotations

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import block_of, is_content, text_block, typed, typed_block, wire
from mcpc_runtime.systems.fastmcp.engine.jsons import json_text
from mcpc_runtime.systems.fastmcp.engine.schema_types import is_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine.components import Prompt

    Object = dict[str, Any]


class Message:
    """A message of a prompt."""

    def __init__(self, content: Any, role: str = "user", **_: Any) -> None:
        self.role = role
        self._block = message_block(content)

    @property
    def content(self) -> Any:
        """The content block, as the SDK's type."""
        return typed_block(self._block)

    @content.setter
    def content(self, content: Any) -> None:
        self._block = message_block(content)

    def to_wire(self) -> Object:
        """Return the message on the wire."""
        return {"role": self.role, "content": self._block}

    def __eq__(self, other: object) -> bool:
        """Compare what is sent."""
        return isinstance(other, Message) and other.to_wire() == self.to_wire()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the role and the content."""
        return f"Message(role={self.role!r}, content={self._block!r})"

    def to_mcp_prompt_message(self) -> Any:
        """Return the SDK's message."""
        return typed("PromptMessage", self.to_wire())


class PromptResult:
    """The messages of a prompt."""

    def __init__(self, messages: Any, description: str | None = None, meta: Object | None = None) -> None:
        self.messages: list[Any] = [Message(messages)] if isinstance(messages, str) else checked(messages)
        self.description = description
        self.meta = meta

    def to_wire(self) -> Object:
        """Return the protocol's GetPromptResult."""
        found: Object = {} if self.meta is None else {"_meta": wire(self.meta)}
        if self.description is not None:
            found["description"] = self.description
        return {**found, "messages": [message_on_wire(each) for each in self.messages]}

    def to_mcp_prompt_result(self) -> Any:
        """Return the SDK's result."""
        return typed("GetPromptResult", self.to_wire())


def checked(messages: Any) -> list[Any]:
    """Return messages; TypeError: there are others among them."""
    if not isinstance(messages, list):
        raise TypeError(f"messages must be str or list[Message], got {type(messages).__name__}")
    for index, item in enumerate(messages):
        if not isinstance(item, Message) and not is_sdk_message(item):
            raise TypeError(
                f"messages[{index}] must be Message, got {type(item).__name__}. "
                f"Use Message({item!r}) to wrap the value."
            )
    return messages


def message_on_wire(message: Any) -> Object:
    """Return a message on the wire."""
    found: Object = message.to_wire() if isinstance(message, Message) else wire(message)
    return found


def message_block(content: Any) -> Object:
    """Return the content of a message on the wire; other values become JSON text."""
    if isinstance(content, str):
        return text_block(content)
    if is_content(content):
        return block_of(content)
    if isinstance(content, dict) and content.get("type") in ("text", "image", "audio", "resource", "resource_link"):
        return content
    return text_block(json_text(content, indented=behaviour().indented))


def is_sdk_message(item: object) -> bool:
    """Tell whether an item is the SDK's message."""
    return is_class(type(item), ("PromptMessage",))


def converted(prompt: Prompt, result: Any) -> PromptResult:
    """Return a function's result as the result of its prompt."""
    if isinstance(result, PromptResult):
        return result
    if behaviour().prompts_are_strict:
        made = PromptResult(strict_messages(result), prompt.description, prompt.meta)
    else:
        made = PromptResult([], prompt.description)
        made.messages = [any_message(item) for item in (result if isinstance(result, (list, tuple)) else [result])]
    return made


def strict_messages(result: Any) -> list[Message]:
    """Return messages of FastMCP 3 and later, which takes only text and messages."""
    if isinstance(result, str):
        return [Message(result)]
    if not isinstance(result, (list, tuple)):
        raise TypeError(f"Prompt must return str, list[Message], or PromptResult, got {type(result).__name__}")
    found = []
    for index, item in enumerate(result):
        if not isinstance(item, (Message, str)):
            raise TypeError(
                f"messages[{index}] must be Message or str, got {type(item).__name__}. "
                f"Use Message({item!r}) to wrap the value."
            )
        found.append(item if isinstance(item, Message) else Message(item))
    return found


def any_message(item: Any) -> Any:
    """Return an item of a result as a message."""
    if isinstance(item, Message) or is_sdk_message(item):
        return item
    return Message(item)
