"""The contents of resources and the messages of prompts: results of functions, and their form on the wire."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Prompt, Resource, Template
from mcpc_runtime.systems.fastmcp.engine.contents import (
    block_of,
    is_content,
    json_text,
    text_block,
    typed_block,
    wire,
)
from mcpc_runtime.systems.fastmcp.engine.schema_types import is_class
from mcpc_runtime.systems.fastmcp.interfaces import Object

TEXT = "text/plain"
OCTETS = "application/octet-stream"
JSON = "application/json"
NATIVE = (dict, list, tuple, int, float, bool, type(None))


class ResourceContent:
    """A part of what a resource contains: text or bytes."""

    def __init__(self, content: object, mime_type: str | None = None, meta: Object | None = None) -> None:
        default = JSON
        if isinstance(content, (str, bytes)):
            default = TEXT if isinstance(content, str) else OCTETS
        else:
            content = json_text(content)
        self.content: str | bytes = content
        self.mime_type = mime_type or default
        self.meta = meta

    def to_wire(self, uri: str) -> Object:
        found: Object = {"uri": uri, "mimeType": self.mime_type}
        if self.meta is not None:
            found["_meta"] = wire(self.meta)
        if isinstance(self.content, str):
            return {**found, "text": self.content}
        return {**found, "blob": b64encode(self.content).decode()}


class ResourceResult:
    """What a resource contains."""

    def __init__(self, contents: object, meta: Object | None = None) -> None:
        self.contents = parts_of(contents)
        self.meta = meta

    def to_wire(self, uri: str) -> Object:
        """Return the protocol's ReadResourceResult."""
        found = {"contents": [part.to_wire(uri) for part in self.contents]}
        return found if self.meta is None else {"_meta": wire(self.meta), **found}


def parts_of(contents: object) -> list[ResourceContent]:
    """Return contents as parts; TypeError: they are nothing that a resource may contain."""
    if isinstance(contents, (str, bytes)):
        return [ResourceContent(contents)]
    if isinstance(contents, (list, tuple)) and all(isinstance(item, ResourceContent) for item in contents):
        return list(contents)
    if isinstance(contents, list):
        index, item = next((i, each) for i, each in enumerate(contents) if not isinstance(each, ResourceContent))
        raise TypeError(
            f"contents[{index}] must be ResourceContent, got {type(item).__name__}. "
            f"Use ResourceContent({item!r}) to wrap the value."
        )
    if isinstance(contents, NATIVE):
        return [ResourceContent(json.dumps(contents), JSON)]
    raise TypeError(f"contents must be str, bytes, or list[ResourceContent], got {type(contents).__name__}")


def converted_resource(resource: Resource | Template, result: object) -> ResourceResult:
    """Return a function's result as what its resource contains."""
    if isinstance(result, ResourceResult):
        return result
    kind = resource.mime_type or TEXT
    if not behaviour().resources_are_strict:
        return ResourceResult([ResourceContent(text_or_bytes(result), kind)])
    if isinstance(result, (str, bytes)):
        return ResourceResult([ResourceContent(result, kind, public_meta(resource))])
    if isinstance(result, NATIVE) and not is_parts(result):
        return ResourceResult([ResourceContent(json.dumps(result), kind, public_meta(resource))])
    found = ResourceResult(result)
    meta = public_meta(resource)
    if meta is not None:
        found.contents = [
            ResourceContent(each.content, each.mime_type, {**meta, **(each.meta or {})}) for each in found.contents
        ]
    return found


def is_parts(result: object) -> bool:
    return isinstance(result, list) and bool(result) and isinstance(result[0], ResourceContent)


def public_meta(resource: Resource | Template) -> Object | None:
    """Return the `_meta` of a resource that its contents have, too."""
    return resource.meta


def text_or_bytes(result: object) -> str | bytes:
    """Return a result as text or bytes; others as JSON."""
    if isinstance(result, (str, bytes)):
        return result
    return json_text(result, indented=behaviour().indented)


class Message:
    """A message of a prompt."""

    def __init__(self, content: object, role: str = "user", **_: object) -> None:
        self.role = role
        self._block = message_block(content)

    @property
    def content(self) -> Any:
        """The content block, as the SDK's type."""
        return typed_block(self._block)

    @content.setter
    def content(self, content: object) -> None:
        self._block = message_block(content)

    def to_wire(self) -> Object:
        return {"role": self.role, "content": self._block}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and other.to_wire() == self.to_wire()

    # Equal messages would need equal hashes, and a block is a dictionary.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Message(role={self.role!r}, content={self._block!r})"


class PromptResult:
    """The messages of a prompt."""

    def __init__(self, messages: object, description: str | None = None, meta: Object | None = None) -> None:
        self.messages: list[object] = [Message(messages)] if isinstance(messages, str) else checked(messages)
        self.description = description
        self.meta = meta

    def to_wire(self) -> Object:
        """Return the protocol's GetPromptResult."""
        found: Object = {} if self.meta is None else {"_meta": wire(self.meta)}
        if self.description is not None:
            found["description"] = self.description
        return {**found, "messages": [message_on_wire(each) for each in self.messages]}


def checked(messages: object) -> list[Any]:
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


def message_on_wire(message: object) -> Object:
    found: Object = message.to_wire() if isinstance(message, Message) else wire(message)
    return found


def message_block(content: object) -> Object:
    """Return the content of a message on the wire; other values become JSON text."""
    if isinstance(content, str):
        return text_block(content)
    if is_content(content):
        return block_of(content)
    if isinstance(content, dict) and content.get("type") in ("text", "image", "audio", "resource", "resource_link"):
        return content
    return text_block(json_text(content, indented=behaviour().indented))


def is_sdk_message(item: object) -> bool:
    return is_class(type(item), ("PromptMessage",))


def converted_prompt(prompt: Prompt, result: object) -> PromptResult:
    """Return a function's result as the result of its prompt."""
    if isinstance(result, PromptResult):
        return result
    if behaviour().prompts_are_strict:
        made = PromptResult(strict_messages(result), prompt.description, prompt.meta)
    else:
        made = PromptResult([], prompt.description)
        made.messages = [any_message(item) for item in (result if isinstance(result, (list, tuple)) else [result])]
    return made


def strict_messages(result: object) -> list[Message]:
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


def any_message(item: object) -> object:
    if isinstance(item, Message) or is_sdk_message(item):
        return item
    return Message(item)
