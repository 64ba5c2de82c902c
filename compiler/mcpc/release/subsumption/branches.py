"""Schemas as alternatives of simple constraints, for values of one JSON type: a tableau.

A goal is a set of schemas that a value must match, and of others that it must not.  Each keyword is a clause with the
alternatives that make it hold, and those that make it fail:

    {"anyOf": [A, B]} holds by A or by B, and fails by (not A and not B)
    {"required": ["a", "b"]} fails by (a is absent) or by (b is absent)

A branch is one choice of alternatives, with all that is left: atoms about a value of one type.  A keyword that cannot
be expressed is an opaque atom; a branch without it has at least the values of the branch with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.release.subsumption.structures import ArrayKeywords, ObjectKeywords, Somewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.release.subsumption.nodes import Nodes, SchemaNode

    Json = Any

KINDS = ("null", "boolean", "number", "string", "array", "object")


class Atom(NamedTuple):
    """A constraint on a value: its keyword, what the keyword says, and whether it holds."""

    name: str
    value: Any
    holds: bool = True


class Demand(NamedTuple):
    """A schema that a value matches, or does not."""

    node: SchemaNode
    holds: bool


Alternative = list[Atom | Demand]


@dataclass(frozen=True, slots=True)
class Clause:
    """What makes a keyword hold, and what makes it fail: one of several alternatives each."""

    holds: list[Alternative]
    fails: list[Alternative]


@dataclass(slots=True)
class _Branch:
    """A branch that is not complete: what is still to be added, alternatives to choose from, and what it has."""

    items: Alternative
    choices: list[list[Alternative]]
    done: set[Demand]
    atoms: list[Atom]


def kind_of(value: Json) -> str:
    """Return the JSON type of a value; integers are numbers."""
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def exact(number: Json) -> Fraction:
    """Return the number that is written in JSON."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


class Tableau:
    """Makes branches of goals; `spend` is called for each step."""

    def __init__(self, nodes: Nodes, spend: Callable[[int], None]) -> None:
        self._nodes = nodes
        self._spend = spend
        self._clauses: dict[tuple[SchemaNode, str], list[Clause]] = {}

    def branches(self, goal: list[Demand], kind: str) -> Iterator[list[Atom]]:
        """Yield the atoms of each branch in which the goal may be reached by values of this type."""
        yield from self._expand(_Branch([*goal], [], set(), []), kind)

    def _expand(self, branch: _Branch, kind: str) -> Iterator[list[Atom]]:
        while branch.items:
            self._spend(1)
            if not self._take(branch, branch.items.pop(), kind):
                return
        if not branch.choices:
            yield branch.atoms
            return
        chosen = min(branch.choices, key=len)
        rest = [each for each in branch.choices if each is not chosen]
        for alternative in chosen:
            yield from self._expand(_Branch([*alternative], [*rest], {*branch.done}, [*branch.atoms]), kind)

    def _take(self, branch: _Branch, item: Atom | Demand, kind: str) -> bool:
        """Add an item to a branch; return False if the branch has no values then."""
        if isinstance(item, Atom):
            branch.atoms.append(item)
            return True
        if Demand(item.node, not item.holds) in branch.done:
            return False
        if item in branch.done:
            return True
        branch.done.add(item)
        for alternatives in self._alternatives(item, kind):
            if not alternatives:
                return False
            if len(alternatives) == 1:
                branch.items.extend(alternatives[0])
            else:
                branch.choices.append(alternatives)
        return True

    def _alternatives(self, item: Demand, kind: str) -> list[list[Alternative]]:
        """Return what has to be chosen for a schema: one alternative of each list."""
        node, holds = item
        if node.value is not None:
            return [] if node.value is holds else [[]]
        key = (node, kind)
        if key not in self._clauses:
            self._clauses[key] = [*clauses_of(node, kind, self._nodes)]
        clauses = self._clauses[key]
        if holds:
            return [clause.holds for clause in clauses]
        return [[alternative for clause in clauses for alternative in clause.fails]]


def clauses_of(node: SchemaNode, kind: str, nodes: Nodes) -> Iterator[Clause]:
    """Yield the clauses of a schema for values of one type; a keyword about other types has none."""
    keywords = node.keywords
    for name, value in keywords.items():
        if name in LOGIC:
            yield LOGIC[name](value)
        elif OPAQUE.get(name) in (kind, "any"):
            yield simple(name, node)
        elif SIMPLE.get(name) == kind:
            yield simple(name, value)
    if "type" in keywords:
        yield type_clause(keywords["type"], kind)
    if "$ref" in keywords:
        target = nodes.target(node)
        yield (simple("$ref", node) if target is None else Clause([[Demand(target, True)]], [[Demand(target, False)]]))
    if "if" in keywords:
        yield condition(node)
    yield from STRUCTURES[kind](node) if kind in STRUCTURES else ()


def simple(name: str, value: Any) -> Clause:
    """Return the clause of a keyword that is an atom."""
    return Clause([[Atom(name, value, True)]], [[Atom(name, value, False)]])


SIMPLE = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("minItems", "maxItems"), "array"),
    **dict.fromkeys(("minProperties", "maxProperties", "propertyNames"), "object"),
}
"""Keywords that are atoms, by the type that they are about."""
OPAQUE = {
    "$dynamicRef": "any",
    "$recursiveRef": "any",
    "unevaluatedItems": "array",
    "unevaluatedProperties": "object",
}
"""Keywords that this procedure does not decide."""


def one_of(nodes: tuple[SchemaNode, ...]) -> Clause:
    """Return the clause of `oneOf`: exactly one holds; or none, or two."""
    holds: list[Alternative] = [[Demand(each, each is chosen) for each in nodes] for chosen in nodes]
    if len({*nodes}) < len(nodes):  # a schema that stands there twice never holds alone
        holds = [row for row, chosen in zip(holds, nodes, strict=True) if nodes.count(chosen) == 1]
    pairs: list[Alternative] = [[Demand(one, True), Demand(other, True)] for one, other in combinations(nodes, 2)]
    return Clause(holds, [[Demand(each, False) for each in nodes], *pairs])


LOGIC: dict[str, Callable[[Any], Clause]] = {
    "allOf": lambda nodes: Clause([[Demand(each, True) for each in nodes]], [[Demand(each, False)] for each in nodes]),
    "anyOf": lambda nodes: Clause([[Demand(each, True)] for each in nodes], [[Demand(each, False) for each in nodes]]),
    "oneOf": one_of,
    "not": lambda node: Clause([[Demand(node, False)]], [[Demand(node, True)]]),
    "const": lambda value: simple("enum", (value,)),
    "enum": lambda values: simple("enum", tuple(values)),
}


def condition(node: SchemaNode) -> Clause:
    """Return the clause of `if`, `then` and `else`."""
    test, keywords = node.keywords["if"], node.keywords
    holds: list[Alternative] = [[Demand(test, True)], [Demand(test, False)]]
    fails: list[Alternative] = []
    for row, name, is_true in ((holds[0], "then", True), (holds[1], "else", False)):
        if name in keywords:
            row.append(Demand(keywords[name], True))
            fails.append([Demand(test, is_true), Demand(keywords[name], False)])
    return Clause(holds, fails)


def type_clause(types: Json, kind: str) -> Clause:
    """Return the clause of `type`."""
    names = (types,) if isinstance(types, str) else tuple(types)
    if kind in names:
        return Clause([[]], [])
    if kind == "number" and "integer" in names:
        return simple("multipleOf", 1)
    return Clause([], [[]])


def array_clauses(node: SchemaNode) -> Iterator[Clause]:
    """Yield the clauses about items."""
    keywords = node.keywords
    if "prefixItems" in keywords or "items" in keywords:
        shape = ArrayKeywords(keywords.get("prefixItems", ()), keywords.get("items"))
        fails: list[Alternative] = [[Atom("item", (at, each))] for at, each in enumerate(shape.prefix)]
        fails += [] if shape.items is None else [[Atom("later item", (len(shape.prefix), shape.items))]]
        yield Clause([[Atom("array shape", shape)]], fails)
    if keywords.get("uniqueItems") is True:
        yield simple("uniqueItems", True)
    if "contains" in keywords:
        node, least, most = keywords["contains"], keywords.get("minContains", 1), keywords.get("maxContains")
        least, most = int(least), None if most is None else int(most)
        fewer: list[Alternative] = [[Atom("contains", (node, 0, least - 1))]] if least > 0 else []
        more: list[Alternative] = [] if most is None else [[Atom("contains", (node, most + 1, None))]]
        yield Clause([[Atom("contains", (node, least, most))]], fewer + more)


def object_clauses(node: SchemaNode) -> Iterator[Clause]:
    """Yield the clauses about properties."""
    keywords = node.keywords
    shape = ObjectKeywords(
        keywords.get("properties", {}), keywords.get("patternProperties", {}), keywords.get("additionalProperties")
    )
    if shape.properties or shape.patterns or shape.others is not None:
        fails: list[Alternative] = [[Atom("property", (name, each, False))] for name, each in shape.properties.items()]
        fails += [[Atom("somewhere", Somewhere(matching, (), (), each))] for matching, each in shape.patterns.items()]
        if shape.others is not None:
            known, patterns = tuple(shape.properties), tuple(shape.patterns)
            fails.append([Atom("somewhere", Somewhere(None, known, patterns, shape.others))])
        yield Clause([[Atom("object shape", shape)]], fails)
    required = keywords.get("required", ())
    if required:
        yield Clause([[Atom("required", each) for each in required]], [[Atom("absent", each)] for each in required])
    for name, names in keywords.get("dependentRequired", {}).items():
        if names:
            there: Alternative = [Atom("required", each) for each in (name, *names)]
            yield Clause(
                [[Atom("absent", name)], there], [[Atom("required", name), Atom("absent", each)] for each in names]
            )
    for name, each in keywords.get("dependentSchemas", {}).items():
        holds: list[Alternative] = [[Atom("absent", name)], [Atom("required", name), Demand(each, True)]]
        yield Clause(holds, [[Atom("required", name), Demand(each, False)]])


STRUCTURES = {"array": array_clauses, "object": object_clauses}
"""Clauses about the parts of a value, by its type."""
