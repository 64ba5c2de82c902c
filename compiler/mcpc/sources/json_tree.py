"""JSON as a tree in which every value and every key knows where it stands.

A node is an identity, not a value: two nodes are equal only if they are the same, so that comparing or hashing one
never walks a whole file.  Compare `node.value` to compare what was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mcpc.diagnostics import Span

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
    """One value of a file: `value` is the whole subtree as plain JSON, `members` and `items` its parts with places.

    Of two members with one key the later counts, in `value` and in `get`.
    """

    value: Json = field(repr=False)
    path: str
    start: int
    end: int
    members: tuple[Member, ...] = field(default=(), repr=False)
    items: tuple[Node, ...] = field(default=(), repr=False)

    @property
    def span(self) -> Span:
        """Where the value stands, brackets and quotes included."""
        return Span(self.path, self.start, self.end)

    @property
    def kind(self) -> str:
        """What the value is, in the words of JSON Schema; an integer is a `number`."""
        return KINDS[type(self.value)]

    def get(self, key: str) -> Node | None:
        """Return the value of the member `key`; None if there is none, or if this is no object."""
        for member in reversed(self.members):
            if member.key == key:
                return member.node
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One key of an object, and the value it has."""

    key: str
    key_start: int
    key_end: int
    node: Node

    @property
    def key_span(self) -> Span:
        """Where the key stands, quotes included."""
        return Span(self.node.path, self.key_start, self.key_end)
