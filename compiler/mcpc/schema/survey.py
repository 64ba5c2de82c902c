"""The first pass over a schema: every subschema in it is found and judged, every reference followed.

Subschemas are kept on a list of their own while they wait, so that no nesting exhausts Python's stack.  Afterwards all
that is left to do is to write code: whatever could be wrong has been reported.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, diagnose, has_errors, in_order
from mcpc.schema.json_types import types_of
from mcpc.schema.keywords import KEYWORDS, ORDER
from mcpc.schema.references import components, is_cycle, resolve
from mcpc.schema.shapes import DIALECT, found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.schema.keywords import Keyword
    from mcpc.sources import Member, Node

IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose subschemas judge the same value again, as `$ref` does."""
OPENING = (
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
)
"""Keywords with which a root says by itself which properties it takes."""
CHAIN_LIMIT = 400
"""How many schemas may judge one inside the other without a cycle; each may cost a frame of Python's stack."""


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

    def children(self, keyword: str) -> tuple[Node, ...]:
        """Return the subschemas in the value of `keyword`."""
        value = self.keywords.get(keyword)
        return KEYWORDS[keyword].shape.children(value) if value else ()


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a schema before code is written.

    `targets`: where each `$ref` leads, by its value.  `shared`: what a `$ref` leads to.  `recursive`: what leads back
    to itself.  `height`: how many schemas stand at most one inside the other.
    """

    root: Node
    schemas: Mapping[Node, Subschema]
    targets: Mapping[Node, Node]
    shared: frozenset[Node]
    recursive: frozenset[Node]
    height: int

    def at(self, node: Node) -> Subschema:
        """Return the subschema at `node`; for the value of a `$ref`, the one it leads to."""
        return self.schemas[self.targets.get(node, node)]


def survey(root: Node, closed: bool) -> tuple[Survey | None, Diagnostics]:
    """Return what is known of the schema `root`, or None, and everything that is wrong with it."""
    dialect = root.get("$schema")
    foreign = tuple(DIALECT.problems("$schema", dialect)) if dialect else ()
    if foreign:
        return None, foreign
    search = _Search(root)
    search.run()
    if closed and root.kind == "object" and not any(map(root.get, OPENING)):
        search.close()
    recursive: frozenset[Node] = frozenset()
    if search.targets and not has_errors(search.problems):
        recursive = search.judge_references()
    if has_errors(search.problems):
        return None, in_order(search.problems)
    shared = frozenset(search.targets.values())
    return Survey(root, search.schemas, search.targets, shared, recursive, search.height), in_order(search.problems)


class _Search:
    """The state of the search: what was found, and what waits to be looked at."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.schemas: dict[Node, Subschema] = {}
        self.targets: dict[Node, Node] = {}
        self.problems: list[Diagnostic] = []
        self.waiting: list[tuple[Node, int]] = [(root, 1)]
        self.references: list[Node] = []
        self.height = 0

    def run(self) -> None:
        """Visit every subschema, then what only references lead to."""
        while self.waiting or self.references:
            while self.waiting:
                self.visit(*self.waiting.pop())
            for reference in self.references:
                self.follow(reference)
            self.references = []

    def follow(self, reference: Node) -> None:
        """Note where a `$ref` leads; what lies in no keyword of the standard is a schema only because of it."""
        target = resolve(self.root, reference)
        if isinstance(target, Diagnostic):
            self.problems.append(target)
        else:
            self.targets[reference] = target
            self.waiting.append((target, 1))

    def visit(self, node: Node, height: int) -> None:
        """Judge one schema, and put its subschemas on the list."""
        if node in self.schemas:
            return
        self.height = max(self.height, height)
        if node.kind not in ("object", "boolean"):
            expected = "an object, `true` or `false`"
            message = f"a schema must be {expected}, found {found(node)}"
            self.problems.append(diagnose("MCP110", node.span, message, expected))
        keywords: dict[str, Node] = {}
        for member in node.members:
            row = KEYWORDS.get(member.key)
            if row is None:
                self.problems += _unknown(member)
                continue
            keywords[member.key] = member.node
            if self.suits(member, row):
                self.waiting += ((child, height + 1) for child in row.shape.children(member.node))
        if "$ref" in keywords and keywords["$ref"].kind == "string":
            self.references.append(keywords["$ref"])
        self.schemas[node] = _subschema(node, keywords)

    def suits(self, member: Member, row: Keyword) -> bool:
        """Report what is wrong with one keyword; say whether its subschemas are worth looking at."""
        earlier, instead = row.earlier
        if member.node.kind == earlier:
            message = (
                f"`{member.key}` with {found(member.node)} is a form of earlier drafts, which are not compiled yet"
            )
            self.problems.append(diagnose("MCP111", member.node.span, message, hint=instead))
            return False
        if row.later:
            message = f"the keyword `{member.key}` is not compiled yet"
            self.problems.append(diagnose("MCP111", member.key_span, message, hint=row.later))
        self.problems += row.shape.problems(member.key, member.node)
        return True

    def close(self) -> None:
        """Let the root refuse every property it does not name."""
        refusal = replace(self.root, value=False, members=(), items=())
        self.schemas[refusal] = _subschema(refusal, {})
        keywords = {**self.schemas[self.root].keywords, "additionalProperties": refusal}
        self.schemas[self.root] = _subschema(self.root, keywords)

    def judge_references(self) -> frozenset[Node]:
        """Report references that never end or are too many in a row; return the schemas that lead to themselves."""
        self.problems += self.endless()
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

    def endless(self) -> Iterator[Diagnostic]:
        """Yield each `$ref` that asks about the same value for ever."""
        edges = self.edges(IN_PLACE)
        for component in components(edges):
            inside = frozenset(component if is_cycle(component, edges) else ())
            for node in component:
                reference = self.schemas[node].keywords.get("$ref")
                if reference and self.targets[reference] in inside:
                    message = f"`{reference.value}` leads back to itself without a step into the value"
                    yield diagnose("MCP117", reference.span, message)

    def edges(self, keywords: tuple[str, ...]) -> dict[Node, tuple[Node, ...]]:
        """Return the schemas each schema asks by `keywords`."""
        return {node: tuple(self.asked(schema, keywords)) for node, schema in self.schemas.items()}

    def asked(self, schema: Subschema, keywords: tuple[str, ...]) -> Iterator[Node]:
        """Yield the schemas that `schema` asks by `keywords`."""
        if "$ref" in schema.keywords:
            yield self.targets[schema.keywords["$ref"]]
        for keyword in keywords:
            yield from schema.children(keyword)


JUDGING = tuple(name for name, row in KEYWORDS.items() if row.judges or name in ("then", "else"))


def _subschema(node: Node, keywords: Mapping[str, Node]) -> Subschema:
    ordered = {name: keywords[name] for name in sorted(keywords, key=ORDER.__getitem__)}
    judging = [(KEYWORDS[name].judges, name, value) for name, value in ordered.items() if KEYWORDS[name].judges]
    runs = groupby(judging, key=itemgetter(0))
    return Subschema(
        node,
        node.value if isinstance(node.value, bool) else None,
        ordered,
        types_of(keywords.get("type")),
        tuple((group, tuple((name, value) for _, name, value in run)) for group, run in runs),
    )


def _unknown(member: Member) -> Iterator[Diagnostic]:
    meant = "" if member.key.startswith("x-") else _near(member.key)
    if meant:
        message = f"the schema keyword `{member.key}` does not exist and is ignored"
        yield diagnose("MCP103", member.key_span, message, hint=f"did you mean `{meant}`?")


@lru_cache(maxsize=4096)
def _near(key: str) -> str:
    """Return the keyword of which `key` looks like a slip, or nothing."""
    by_folded = {name.lower().strip("$"): name for name in KEYWORDS if len(name) > 3}
    folded = key.lower().replace("_", "").replace("-", "").strip("$")
    return by_folded.get(next(iter(difflib.get_close_matches(folded, by_folded, 1, 0.8)), ""), "")
