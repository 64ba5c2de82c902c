"""Builders of nodes: values that no file contains, and objects with parts of several files; a part keeps its span."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.reading.json_tree import Member, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.diagnostics import Span
    from mcpc.reading.json_tree import Json


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
    found = fields.get(key)
    return found.node.value if found is not None and isinstance(found.node.value, str) else ""
