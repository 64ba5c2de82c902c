"""JSON as a tree in which every value and every key knows its position.

A node is compared by identity, so that comparing or hashing it never traverses a file. Compare `node.value` to compare
content.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

KINDS = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One value of a file: `value` is the whole subtree as plain JSON, `members` and `items` its parts with positions.

    Of two members with the same key the later one counts, in `value` and in `get`.
    """

    value: Json = field(repr=False)
    path: str
    start: int
    end: int
    members: tuple[Member, ...] = field(default=(), repr=False)
    items: tuple[Node, ...] = field(default=(), repr=False)

    @property
    def span(self) -> Span:
        """The position of the value, including brackets and quotes."""
        return Span(self.path, self.start, self.end)

    @property
    def kind(self) -> str:
        """The type of the value in the terms of JSON Schema; an integer is a `number`."""
        return KINDS[type(self.value)]

    def get(self, key: str) -> Node | None:
        """Return the value of the member `key`; None if it is missing, or if this is not an object."""
        for member in reversed(self.members):
            if member.key == key:
                return member.node
        return None

    def pointers(self, pointer: str = "") -> Iterator[tuple[Node, str]]:
        """Yield this value and all values in it, each with its JSON Pointer (RFC 6901) behind `pointer`."""
        waiting = [(self, pointer)]
        while waiting:
            node, pointer = waiting.pop()
            yield node, pointer
            waiting += [(item, f"{pointer}/{place}") for place, item in enumerate(node.items)]
            for member in node.members:
                key = member.key.replace("~", "~0").replace("/", "~1")
                waiting.append((member.node, f"{pointer}/{key}"))

    def span_of(self, *keys: str) -> Span | None:
        """Return the position of the value at the path `keys`; None if it is missing."""
        node: Node | None = self
        for key in keys:
            node = None if node is None else node.get(key)
        return None if node is None else node.span


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One key of an object, and its value."""

    key: str
    key_start: int
    key_end: int
    node: Node

    @property
    def key_span(self) -> Span:
        """The position of the key, including quotes."""
        return Span(self.node.path, self.key_start, self.key_end)


def member_of(node: Node | None, key: str, kind: str = "") -> Node | None:
    """Return the member `key` of an object, None if it is missing, or has another type than `kind`."""
    found = None if node is None else node.get(key)
    return found if found is not None and kind in ("", found.kind) else None


def compact_json(value: Json) -> bytes:
    """Return JSON without spaces, in UTF-8; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")
