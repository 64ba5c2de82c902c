"""Analysis of a schema before code is written: its subschemas, targets of references, and that every check terminates.

`$dynamicRef` refers to the outermost resource on the path that has its `$dynamicAnchor`.  There are few relevant paths:
of each, only the target of each name matters.  So a schema that is reached by two such paths is copied, and nothing
remains to be decided when a value is validated.

    {$id: tree, $dynamicAnchor: node, properties: {child: {$dynamicRef: #node}}}    reached by itself: child is a tree
    {$id: strict, $dynamicAnchor: node, $ref: tree, unevaluatedProperties: false}   reached from here: child is strict

Afterwards only code has to be written: all errors have been reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, diagnose, has_errors, in_order
from mcpc.schema.conditions import types_of
from mcpc.schema.graph import components, is_cycle
from mcpc.schema.keywords import KEYWORDS, ORDER
from mcpc.schema.subschemas import REFERENCES, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Node
    from mcpc.schema.resources import SchemaResource
    from mcpc.schema.subschemas import CompileRequest

if TYPE_CHECKING:
    Scope = frozenset[tuple[str, Node]]
    """The target of each name: the outermost schema of the dynamic scope that has it."""

MAX_SCHEMAS = 20_000
"""Maximum number of schemas in all copies."""
# `if` judges for `then` and `else`, which contain schemas all the same.
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
            # Nodes are told apart by identity, so that an equal node is a schema of its own.
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


IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"))
"""Keywords whose subschemas apply to the same value, as references do."""
OPENING = (
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
)
"""Keywords by which a root itself defines which properties it accepts."""
CHAIN_LIMIT = 400
"""Maximum number of nested schemas without a cycle; each may use a frame of Python's stack."""
WORK_LIMIT = 100_000
"""Maximum number of schemas for one value: references to references can double their number at every step."""


@dataclass(frozen=True, slots=True, eq=False)
class Subschema:
    """One schema: a boolean (`always`), or keywords with valid values, in the order of their checks.

    `types`: the types that `type` allows.  `runs`: the validating keywords, in runs of those for the same type.
    """

    node: Node
    always: bool | None
    keywords: Mapping[str, Node]
    types: tuple[str, ...]
    runs: tuple[tuple[str, tuple[tuple[str, Node], ...]], ...]
    counts_contained: bool

    def children(self, keyword: str) -> tuple[Node, ...]:
        """Return the subschemas in the value of `keyword`."""
        value = self.keywords.get(keyword)
        return KEYWORDS[keyword].shape.children(value) if value else ()


@dataclass(frozen=True, slots=True)
class SchemaAnalysis:
    """The results of the analysis.

    `targets`: the target of each reference, by its value.  `shared`: schemas used in more than one place.  `recursive`:
    schemas that lead to themselves.  `height`: the maximum nesting.  `uses_remotes`: whether it includes other files of
    the project.
    """

    root: Node
    schemas: Mapping[Node, Subschema]
    targets: Mapping[Node, Node]
    shared: frozenset[Node]
    recursive: frozenset[Node]
    height: int
    uses_remotes: bool

    def at(self, node: Node) -> Subschema:
        """Return the subschema at `node`; for the value of a reference, its target."""
        return self.schemas[self.targets.get(node, node)]


def analyse(root: Node, question: CompileRequest) -> tuple[SchemaAnalysis | None, Diagnostics]:
    """Return the analysis of the schema `root`, or None, and all its problems."""
    search = SubschemaCollector(root, question)
    search.run()
    if (
        question.closed
        and root.kind == "object"
        and root in search.schemas
        and not any(map(search.schemas[root].get, OPENING))
    ):
        search.close()
    if has_errors(search.problems):
        return None, in_order(search.problems)
    written = specialised(search)
    if isinstance(written, Diagnostic):
        return None, in_order((*search.problems, written))
    schemas = {
        node: _subschema(node, keywords, written.homes[node].dialect.counts_contained)
        for node, keywords in written.schemas.items()
    }
    references = References(written.root, schemas, written.targets)
    problems = in_order((*search.problems, *references.problems))
    if has_errors(problems):
        return None, problems
    shared = references.shared()
    height, remote = search.height, bool(search.foreign)
    return SchemaAnalysis(
        written.root, schemas, written.targets, shared, references.recursive, height, remote
    ), problems


class References:
    """The recursive schemas, and problems of chains of references."""

    def __init__(self, root: Node, schemas: Mapping[Node, Subschema], targets: Mapping[Node, Node]) -> None:
        self.root = root
        self.schemas = schemas
        self.targets = targets
        self.recursive: frozenset[Node] = frozenset()
        self.problems: list[Diagnostic] = []
        in_place = self.edges(IN_PLACE)
        cycles = components(in_place) if targets else []
        self.problems += self.endless(cycles, in_place)
        # Without endless references every component is one schema, which `excessive` relies on.
        if not self.problems:
            self.problems += self.excessive(cycles, in_place)
            self.recursive = self.check_chains() if targets else frozenset()

    def shared(self) -> frozenset[Node]:
        """Return targets that something else also uses: another reference, or the enclosing schema."""
        times = Counter(self.targets.values())
        times.update(part for schema in self.schemas.values() for part in _parts(schema))
        return frozenset(node for node in self.targets.values() if times[node] > 1 or node in self.recursive)

    def check_chains(self) -> frozenset[Node]:
        """Report too long chains of references; return the recursive schemas."""
        edges = self.edges(JUDGING)
        length: dict[Node, int] = {}
        recursive: set[Node] = set()
        for component in components(edges):
            # A component comes after all others that it leads to.
            beyond = max((length.get(child, 0) for node in component for child in edges[node]), default=0)
            length.update(dict.fromkeys(component, beyond + 1))
            recursive.update(component if is_cycle(component, edges) else ())
        if max(length.values()) > CHAIN_LIMIT:
            message = f"references lead through more than {CHAIN_LIMIT} schemas in a row"
            self.problems.append(diagnose("MCP008", self.root.span, message))
        return frozenset(recursive)

    def endless(self, cycles: list[tuple[Node, ...]], edges: Mapping[Node, tuple[Node, ...]]) -> Iterator[Diagnostic]:
        """Yield each reference that would validate the same value without end."""
        for component in cycles:
            inside = frozenset(component if is_cycle(component, edges) else ())
            for node in component:
                for reference in filter(None, map(self.schemas[node].keywords.get, REFERENCES)):
                    if self.targets[reference] in inside:
                        message = f"`{reference.value}` leads back to itself without a step into the value"
                        yield diagnose("MCP117", reference.span, message)

    def excessive(self, cycles: list[tuple[Node, ...]], edges: Mapping[Node, tuple[Node, ...]]) -> Iterator[Diagnostic]:
        """Yield the first schema that makes too many others validate one value."""
        work: dict[Node, int] = {}
        for component in cycles:  # each is one schema, after all those that it asks
            for node in component:
                work[node] = 1 + sum(work[child] for child in edges[node])
                if work[node] > WORK_LIMIT:
                    message = f"one value would be judged by more than {WORK_LIMIT} schemas, one referring to the other"
                    yield diagnose("MCP008", node.span, message, hint="refer to each schema once")
                    return

    def edges(self, keywords: frozenset[str]) -> dict[Node, tuple[Node, ...]]:
        """Return the schemas that each schema uses by `keywords`."""
        return {node: tuple(self.used_by(schema, keywords)) for node, schema in self.schemas.items()}

    def used_by(self, schema: Subschema, keywords: frozenset[str]) -> Iterator[Node]:
        """Yield the schemas that `schema` uses by `keywords`."""
        for keyword, value in schema.keywords.items():
            if keyword in REFERENCES:
                yield self.targets[value]
            elif keyword in keywords:
                yield from KEYWORDS[keyword].shape.children(value)


def _parts(schema: Subschema) -> Iterator[Node]:
    for keyword, value in schema.keywords.items():
        if keyword in JUDGING:
            yield from KEYWORDS[keyword].shape.children(value)


def _subschema(node: Node, keywords: Mapping[str, Node], counts_contained: bool) -> Subschema:
    ordered = {name: keywords[name] for name in sorted(keywords, key=ORDER.__getitem__)}
    judging = [(KEYWORDS[name].judges, name, value) for name, value in ordered.items() if KEYWORDS[name].judges]
    runs = groupby(judging, key=itemgetter(0))
    return Subschema(
        node,
        node.value if isinstance(node.value, bool) else None,
        ordered,
        types_of(keywords.get("type")),
        tuple((group, tuple((name, value) for _, name, value in run)) for group, run in runs),
        counts_contained,
    )
