"""Definitions that are put together from what several files say: every part keeps the place it was written at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.sources import Member, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.diagnostics import Span
    from mcpc.sources import Json


def made(value: Json, span: Span) -> Node:
    """Return a value that nobody wrote as a node; all of it stands at `span`."""
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    if isinstance(value, dict):
        members = tuple(Member(key, span.start, span.end, made(part, span)) for key, part in value.items())
    elif isinstance(value, list):
        items = tuple(made(item, span) for item in value)
    return Node(value, span.path, span.start, span.end, members, items)


def whole(members: Iterable[Member], span: Span) -> Node:
    """Return an object of members that may stand in several files; of two with one key the later counts."""
    kept = tuple({member.key: member for member in members}.values())
    return Node({member.key: member.node.value for member in kept}, span.path, span.start, span.end, kept)


def listed(items: Iterable[Node], span: Span) -> Node:
    """Return an array of values that may stand in several files."""
    kept = tuple(items)
    return Node([item.value for item in kept], span.path, span.start, span.end, items=kept)


def named(key: str, node: Node) -> Member:
    """Return a member whose key stands where its value does."""
    return Member(key, node.start, node.end, node)


def given(node: Node | None) -> dict[str, Member]:
    """Return what an object says by key; what is null is not said."""
    return {member.key: member for member in node.members if member.node.value is not None} if node else {}


def text(fields: Mapping[str, Member], key: str) -> str:
    """Return a string that was said, or nothing."""
    found = fields.get(key)
    return found.node.value if found is not None and isinstance(found.node.value, str) else ""
