"""What is known of a schema before code is written: its parts, where references lead, and that all of it can end.

Afterwards all that is left to do is to write code: whatever could be wrong has been reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, diagnose, has_errors, in_order
from mcpc.schema.dynamic import JUDGING, specialised
from mcpc.schema.graph import components, is_cycle
from mcpc.schema.json_types import types_of
from mcpc.schema.keywords import KEYWORDS, ORDER
from mcpc.schema.search import REFERENCES, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.schema.search import Question
    from mcpc.sources import Node

IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"))
"""Keywords whose subschemas judge the same value again, as references do."""
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
"""Keywords with which a root says by itself which properties it takes."""
CHAIN_LIMIT = 400
"""How many schemas may judge one inside the other without a cycle; each may cost a frame of Python's stack."""
WORK_LIMIT = 100_000
"""How many schemas may judge one and the same value: references to references can double their number at every step."""


@dataclass(frozen=True, slots=True, eq=False)
class Subschema:
    """One schema: a boolean (`always`), or keywords with values of the right shape, in the order they are asked.

    `types`: what `type` allows.  `runs`: the keywords that judge, in runs of those that judge the same type.
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
class Survey:
    """What is known of a schema before code is written.

    `targets`: where each reference leads, by its value.  `shared`: what is asked in more than one place.  `recursive`:
    what leads back to itself.  `height`: how many schemas stand at most one inside the other.  `uses_remotes`: whether
    other files of the project are part of it.
    """

    root: Node
    schemas: Mapping[Node, Subschema]
    targets: Mapping[Node, Node]
    shared: frozenset[Node]
    recursive: frozenset[Node]
    height: int
    uses_remotes: bool

    def at(self, node: Node) -> Subschema:
        """Return the subschema at `node`; for the value of a reference, the one it leads to."""
        return self.schemas[self.targets.get(node, node)]


def survey(root: Node, question: Question) -> tuple[Survey | None, Diagnostics]:
    """Return what is known of the schema `root`, or None, and everything that is wrong with it."""
    search = Search(root, question)
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
    return Survey(written.root, schemas, written.targets, shared, references.recursive, height, remote), problems


class References:
    """Which schemas lead back to themselves, and what is wrong with the ways that references make."""

    def __init__(self, root: Node, schemas: Mapping[Node, Subschema], targets: Mapping[Node, Node]) -> None:
        self.root = root
        self.schemas = schemas
        self.targets = targets
        self.recursive: frozenset[Node] = frozenset()
        self.problems: list[Diagnostic] = []
        in_place = self.edges(IN_PLACE)
        found = components(in_place) if targets else []
        self.problems += self.endless(found, in_place)
        if not self.problems:
            self.problems += self.laborious(found, in_place)
            self.recursive = self.judge_chains() if targets else frozenset()

    def shared(self) -> frozenset[Node]:
        """Return what a reference leads to and something else asks as well: another reference, or the schema around."""
        times = Counter(self.targets.values())
        times.update(part for schema in self.schemas.values() for part in _parts(schema))
        return frozenset(node for node in self.targets.values() if times[node] > 1 or node in self.recursive)

    def judge_chains(self) -> frozenset[Node]:
        """Report references that are too many in a row; return the schemas that lead to themselves."""
        edges = self.edges(JUDGING)
        length: dict[Node, int] = {}
        recursive: set[Node] = set()
        for component in components(edges):
            beyond = max((length.get(child, 0) for node in component for child in edges[node]), default=0)
            length.update(dict.fromkeys(component, beyond + 1))
            recursive.update(component if is_cycle(component, edges) else ())
        if max(length.values()) > CHAIN_LIMIT:
            message = f"references lead through more than {CHAIN_LIMIT} schemas in a row"
            self.problems.append(diagnose("MCP008", self.root.span, message))
        return frozenset(recursive)

    def endless(self, found: list[tuple[Node, ...]], edges: Mapping[Node, tuple[Node, ...]]) -> Iterator[Diagnostic]:
        """Yield each reference that asks about the same value for ever."""
        for component in found:
            inside = frozenset(component if is_cycle(component, edges) else ())
            for node in component:
                for reference in filter(None, map(self.schemas[node].keywords.get, REFERENCES)):
                    if self.targets[reference] in inside:
                        message = f"`{reference.value}` leads back to itself without a step into the value"
                        yield diagnose("MCP117", reference.span, message)

    def laborious(self, found: list[tuple[Node, ...]], edges: Mapping[Node, tuple[Node, ...]]) -> Iterator[Diagnostic]:
        """Yield the first schema that makes too many others judge one value."""
        work: dict[Node, int] = {}
        for component in found:  # each is one schema, after all those that it asks
            for node in component:
                work[node] = 1 + sum(work[child] for child in edges[node])
                if work[node] > WORK_LIMIT:
                    message = f"one value would be judged by more than {WORK_LIMIT} schemas, one referring to the other"
                    yield diagnose("MCP008", node.span, message, hint="refer to each schema once")
                    return

    def edges(self, keywords: frozenset[str]) -> dict[Node, tuple[Node, ...]]:
        """Return the schemas each schema asks by `keywords`."""
        return {node: tuple(self.asked(schema, keywords)) for node, schema in self.schemas.items()}

    def asked(self, schema: Subschema, keywords: frozenset[str]) -> Iterator[Node]:
        """Yield the schemas that `schema` asks by `keywords`."""
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
