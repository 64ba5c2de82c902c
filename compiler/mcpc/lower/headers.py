"""The arguments that HTTP clients repeat as headers: those that `x-mcp-header` stands at, with the way to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.sources import Node

KEYWORD = "x-mcp-header"
DEEPEST = 32

Header = tuple[str, tuple[str, ...]]


def headers(schema: Node) -> tuple[Header, ...]:
    """Return the headers, each with the keys that lead to its argument."""
    return tuple(_below(schema, ()))


def _below(schema: Node, path: tuple[str, ...]) -> Iterator[Header]:
    properties = schema.get("properties")
    if len(path) >= DEEPEST or properties is None:
        return
    for member in properties.members:
        name = member.node.get(KEYWORD)
        if name is not None and isinstance(name.value, str):
            yield name.value, (*path, member.key)
        yield from _below(member.node, (*path, member.key))
