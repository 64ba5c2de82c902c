"""What the prompts and resources of a running server say, each asked for once.

A server is not trusted: the time, the bytes and the number of requests are limited, and what is not read is counted,
with the first reason.  Prompts get the names of their required arguments as values; templates are not read, because
no one knows values for them.
"""

from __future__ import annotations

import base64
import binascii
import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.client.client import SECONDS, ConversationError, conversation, read_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from mcpc.client.client import Deadline, ServerClient, Transport
    from mcpc.client.model import ServerLists

    Object = dict[str, Any]

MAX_REQUESTS = 1000
MAX_BYTES = 32 << 20
TOTAL_SECONDS, ONE_SECONDS = 30.0, 5.0
"""How long all contents of a server may take, and one of them."""
MAX_TEXT = 1 << 20
"""Characters of one content that are kept."""
UTF8 = codecs.getincrementaldecoder("utf-8")
"""Accepts a text that was cut within a character."""
INPUT_REQUIRED = "input_required"
"""The kind of result by which a server of the stateless era asks its client something."""


class Content(NamedTuple):
    """One text: the `kind` of its definition (`prompt` or `resource`), and the name or address of that."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ServerContents:
    """What a server's prompts and resources say.  `unread`: how many of `total` were not read, and `why` the first."""

    found: tuple[Content, ...] = ()
    total: int = 0
    unread: int = 0
    why: str = ""


class _Question(NamedTuple):
    kind: str
    name: str
    method: str
    params: Object


def read_server_contents(
    connect: Callable[[], AbstractContextManager[Transport]], seconds: float = SECONDS
) -> tuple[ServerLists, ServerContents]:
    """Return what a running server offers, and what its prompts and resources say; raise ConversationError."""
    with conversation(connect, seconds) as (client, about):
        lists = read_lists(client, about)
        return lists, read_contents(client, lists)


def read_contents(client: ServerClient, lists: ServerLists) -> ServerContents:
    """Return what the prompts and resources of a server say, as far as the limits reach."""
    asked, contents, reasons = [*_questions(lists)], list[Content](), list[str]()
    limits, answered = None, 0
    for question in asked[:MAX_REQUESTS]:
        try:
            # Made within `try`: it raises if the lists have used up the time of the whole conversation.
            limits = limits or client.deadline.limited(TOTAL_SECONDS, MAX_BYTES)
            contents += _answer(client, question, limits.limited(ONE_SECONDS))
            answered += 1
        except ConversationError as problem:
            reasons.append(f"{question.kind} {question.name}: {problem}")
            if limits is None or limits.is_used_up:
                break
    if len(asked) > MAX_REQUESTS and not reasons:
        reasons.append(f"no more than {MAX_REQUESTS} are read")
    return ServerContents(tuple(contents), len(asked), len(asked) - answered, reasons[0] if reasons else "")


def _questions(lists: ServerLists) -> Iterator[_Question]:
    for prompt in lists.prompts:
        params = {"name": prompt["name"], "arguments": dict(_placeholders(prompt))}
        yield _Question("prompt", prompt["name"], "prompts/get", params)
    for uri in dict.fromkeys(resource["uri"] for resource in lists.resources):
        yield _Question("resource", uri, "resources/read", {"uri": uri})


def _placeholders(prompt: Object) -> Iterator[tuple[str, str]]:
    arguments = prompt.get("arguments")
    for argument in arguments if isinstance(arguments, list) else ():
        if isinstance(argument, dict) and argument.get("required") is True and isinstance(argument.get("name"), str):
            yield argument["name"], argument["name"]


def _answer(client: ServerClient, question: _Question, limits: Deadline) -> list[Content]:
    result = client.request(question.method, question.params, limits)
    if result.get("resultType") == INPUT_REQUIRED:
        raise ConversationError("it asks for more first")
    return [Content(question.kind, question.name, text[:MAX_TEXT]) for text in _texts(result) if text]


def _texts(result: Object) -> Iterator[str]:
    """Yield the texts of a result of `prompts/get` or `resources/read`."""
    if isinstance(result.get("description"), str):
        yield result["description"]
    for message in _objects(result.get("messages")):
        content = message.get("content")
        for block in _objects(content if isinstance(content, list) else [content]):
            yield from _text(block)
            yield from _text(block.get("resource"))
    for content in _objects(result.get("contents")):
        yield from _text(content)


def _objects(value: Any) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(content: Any) -> Iterator[str]:
    """Yield the text of a content: a blob counts as one if its bytes are UTF-8."""
    if not isinstance(content, dict):
        return
    if isinstance(content.get("text"), str):
        yield content["text"]
    if isinstance(content.get("blob"), str):
        try:
            # A multiple of four characters, so that what is cut is still valid base64.
            data = base64.b64decode(content["blob"][: 2 * MAX_TEXT], validate=True)
            yield "" if b"\0" in data else UTF8().decode(data)
        except (binascii.Error, ValueError):
            return
