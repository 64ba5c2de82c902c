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
    from collections.abc import Iterable, Iterator, Mapping

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
                # `~` first: else the `~` of `~1` would be escaped again.
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
    value = None if node is None else node.get(key)
    return value if value is not None and kind in ("", value.kind) else None


def compact_json(value: Json) -> bytes:
    """Return JSON without spaces, in UTF-8; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def implied_node(value: Json, span: Span) -> Node:
    """Return an implied value as a node; all of it is at `span`."""
    parts = value.items() if isinstance(value, dict) else ()
    members = tuple(implied_member(key, part, span) for key, part in parts)
    items = tuple(implied_node(item, span) for item in (value if isinstance(value, list) else ()))
    return Node(value, span.path, span.start, span.end, members, items)


def implied_member(key: str, value: Json, span: Span) -> Member:
    """Return a member with an implied value; all of it is at `span`."""
    return Member(key, span.start, span.end, implied_node(value, span))


def object_node(members: Iterable[Member], span: Span) -> Node:
    """Return an object of members that may be in several files; the last one of each key is used."""
    kept = tuple({member.key: member for member in members}.values())
    return Node({member.key: member.node.value for member in kept}, span.path, span.start, span.end, kept)


def array_node(items: Iterable[Node], span: Span) -> Node:
    """Return an array of values that may be in several files."""
    kept = tuple(items)
    return Node([item.value for item in kept], span.path, span.start, span.end, items=kept)


def member_at_value(key: str, node: Node) -> Member:
    """Return a member whose key has the span of its value."""
    return Member(key, node.start, node.end, node)


def fields_of(node: Node | None) -> dict[str, Member]:
    """Return an object's members by key, without those that are null."""
    return {member.key: member for member in node.members if member.node.value is not None} if node else {}


def text_of(fields: Mapping[str, Member], key: str) -> str:
    """Return the string of a field, or an empty string."""
    member = fields.get(key)
    return member.node.value if member is not None and isinstance(member.node.value, str) else ""
