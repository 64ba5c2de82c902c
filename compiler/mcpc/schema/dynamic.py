"""Conversion of `$dynamicRef`, whose target depends on the path that led to it, to references with one target.

`$dynamicRef` refers to the outermost resource on the path that has its `$dynamicAnchor`.  There are few relevant paths:
of each, only the target of each name matters.  So a schema that is reached by two such paths is copied, and nothing
remains to be decided when a value is validated.

    {$id: tree, $dynamicAnchor: node, properties: {child: {$dynamicRef: #node}}}    reached by itself: child is a tree
    {$id: strict, $dynamicAnchor: node, $ref: tree, unevaluatedProperties: false}   reached from here: child is strict
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema.keywords import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Node
    from mcpc.schema.resources import SchemaResource
    from mcpc.schema.subschemas import SubschemaCollector

    Scope = frozenset[tuple[str, Node]]
    """The target of each name: the outermost schema of the dynamic scope that has it."""

MAX_SCHEMAS = 20_000
"""Maximum number of schemas in all copies."""
JUDGING = frozenset(name for name, row in KEYWORDS.items() if row.judges or name in ("then", "else"))


@dataclass(frozen=True, slots=True)
class ResolvedSchema:
    """A schema without path-dependent references: as `SubschemaCollector` has it, or with copies."""

    root: Node
    schemas: Mapping[Node, Mapping[str, Node]]
    targets: Mapping[Node, Node]
    homes: Mapping[Node, SchemaResource]


def specialised(search: SubschemaCollector) -> ResolvedSchema | Diagnostic:
    """Return the schema with every target resolved, or the problem that there are too many paths."""
    if not search.dynamic:
        return ResolvedSchema(search.root, search.schemas, search.targets, search.homes)
    copies = _Copies(search)
    copies.run()
    if len(copies.made) > MAX_SCHEMAS:
        message = f"its dynamic references lead in too many ways: more than {MAX_SCHEMAS} schemas"
        return diagnose("MCP008", search.root.span, message)
    return ResolvedSchema(copies.root, copies.schemas, copies.targets, copies.homes)


class _Copies:
    """The copies of a schema's parts, one for each scope in which a part is reached."""

    def __init__(self, search: SubschemaCollector) -> None:
        self.search = search
        self.wanted = frozenset(search.dynamic.values())
        self.made: dict[tuple[Node, Scope], Node] = {}
        self.waiting: list[tuple[Node, Scope]] = []
        self.schemas: dict[Node, dict[str, Node]] = {}
        self.targets: dict[Node, Node] = {}
        self.homes: dict[Node, SchemaResource] = {}
        self.root = self.copy(search.root, frozenset())

    def run(self) -> None:
        """Write one copy after the other."""
        while self.waiting and len(self.made) <= MAX_SCHEMAS:
            node, scope = self.waiting.pop()
            copy = self.made[node, scope]
            keywords = self.search.schemas[node]
            self.homes[copy] = self.search.homes[node]
            self.schemas[copy] = {
                name: self.value(name, value, scope) if name in JUDGING else value for name, value in keywords.items()
            }

    def copy(self, node: Node, scope: Scope) -> Node:
        """Return the copy of the schema at `node` that is reached in `scope`."""
        home = self.search.homes[node]
        known = {name for name, _ in scope}
        entered = ((name, place) for name, place in home.dynamic.items() if name in self.wanted and name not in known)
        key = node, scope.union(entered)
        if key not in self.made:
            self.made[key] = replace(node)
            self.waiting.append(key)
        return self.made[key]

    def value(self, keyword: str, value: Node, scope: Scope) -> Node:
        """Return the value of a keyword with copies of the subschemas in it."""
        if value in self.search.targets:
            copy = replace(value)
            self.targets[copy] = self.copy(self.target(value, scope), scope)
            return copy
        children = KEYWORDS[keyword].shape.children(value)
        copies = {child: self.copy(child, scope) for child in children}
        if value in copies:
            return copies[value]
        return replace(
            value,
            items=tuple(copies.get(item, item) for item in value.items),
            members=tuple(
                replace(member, node=copies.get(member.node, member.node)) if copies else member
                for member in value.members
            ),
        )

    def target(self, reference: Node, scope: Scope) -> Node:
        """Return the target of a reference in `scope`."""
        name = self.search.dynamic.get(reference)
        target = self.search.targets[reference]
        return target if name is None else dict(scope).get(name, target)
