"""Schemas in the form that all well-known clients take, where that means the same (`passes/client_limits.py`).

{"$schema": an earlier draft, …}      without `$schema`, if no keyword in it means anything else in 2020-12
{"type": "array"}                     with `"items": {}`
{"properties": {"a": true}}           `{}` for `true`, as for `items`
"""

from __future__ import annotations

from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING

from mcpc.reading.node_builder import array_node, implied_member, implied_node, object_node
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12
from mcpc.schema.subschemas import PLAIN, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.reading import Member, Node
    from mcpc.schema.dialects import Dialect

BESIDE_REFERENCE = frozenset({"$ref", "$schema", "$comment", "$defs", "definitions", "description", "title"})
"""Keywords that may be beside a `$ref` in every draft, where earlier ones ignore them."""
COUNTING_ITEMS = "unevaluatedItems"
"""The keyword to which `items` would tell that all items are known."""


MAX_DEPTH = 100
"""How deep a schema may be that is rewritten: no client reads a deeper one."""


def in_client_form(schema: Node) -> Node:
    """Return a schema in the form that all clients take; the same one if it has it already.  O(its bytes)."""
    if is_deep(schema):
        return schema
    search = SubschemaCollector(schema, PLAIN)
    search.run()
    return ClientForm(schema, [node for node in search.schemas if node.kind == "object"]).rewrite(schema)


def is_deep(schema: Node) -> bool:
    """Tell whether values in a schema are nested more than MAX_DEPTH deep."""
    level = [schema]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in (*node.items, *(member.node for member in node.members))]
    return bool(level)


class ClientForm:
    """Writes one schema; `schemas`: its subschemas that are objects."""

    def __init__(self, root: Node, schemas: list[Node]) -> None:
        named = root.get("$schema")
        dialect = DIALECTS.get(str(named.value).removesuffix("#")) if named is not None else None
        self._root = root
        self._schemas = {id(node) for node in schemas}
        self._drops_draft = (
            dialect is not None
            and dialect is not DRAFT_2020_12
            and all(means_the_same(node, dialect, is_root=node is root) for node in schemas)
        )
        self._adds_items = all(node.get(COUNTING_ITEMS) is None for node in schemas)

    def rewrite(self, node: Node) -> Node:
        """Rewrite the subschemas in a value; return the value itself if there is nothing to rewrite."""
        items = [self.rewrite(item) for item in node.items]
        if any(new is not old for new, old in zip(items, node.items, strict=True)):
            return array_node(items, node.span)
        members = [self._member(member) for member in node.members]
        if id(node) in self._schemas:
            members = [*self._rewritten(node, members)]
        is_same = len(members) == len(node.members) and all(map(is_, members, node.members))
        return node if is_same else object_node(members, node.span)

    def _member(self, member: Member) -> Member:
        found = self.rewrite(member.node)
        return member if found is member.node else replace(member, node=found)

    def _rewritten(self, schema: Node, members: Iterable[Member]) -> Iterator[Member]:
        """Yield the members of a subschema in the form that clients take."""
        for member in members:
            if member.key == "$schema" and schema is self._root and self._drops_draft:
                continue
            if member.key == "items" and member.node.value is True:
                yield replace(member, node=implied_node({}, member.node.span))
            elif member.key == "properties":
                yield replace_booleans(member)
            else:
                yield member
        if self._adds_items and lists_anything(schema):
            yield implied_member("items", {}, schema.span)


def replace_booleans(properties: Member) -> Member:
    """Return properties with `{}` in the place of `true`."""
    if not any(member.node.value is True for member in properties.node.members):
        return properties
    found = (
        replace(member, node=implied_node({}, member.node.span)) if member.node.value is True else member
        for member in properties.node.members
    )
    return replace(properties, node=object_node(found, properties.node.span))


def lists_anything(schema: Node) -> bool:
    """Tell whether a schema allows lists and does not say what is in them."""
    kind = schema.get("type")
    types = [] if kind is None else kind.value if isinstance(kind.value, list) else [kind.value]
    return "array" in types and schema.get("items") is None and schema.get("prefixItems") is None


def means_the_same(schema: Node, dialect: Dialect, *, is_root: bool) -> bool:
    """Tell whether a subschema means in 2020-12 what it means in an earlier draft."""
    names = {member.key for member in schema.members}
    newer, older = DRAFT_2020_12.keywords.keys(), dialect.keywords.keys()
    items, identifier = schema.get("items"), schema.get("$id")
    return not (
        names & ((newer ^ older) - {"$defs", "definitions"})
        or (items is not None and items.kind == "array")
        or (identifier is not None and "#" in str(identifier.value))
        or ("$schema" in names and not is_root)
        or ("$ref" in names and dialect.lone_reference and names - BESIDE_REFERENCE)
        or COUNTING_ITEMS in names
    )
