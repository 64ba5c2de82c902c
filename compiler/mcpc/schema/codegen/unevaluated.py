"""Code for `unevaluatedProperties` and `unevaluatedItems`: which parts of a value other keywords have evaluated.

A function of kind `evaluated` adds to the set `seen` the names and indexes that a schema evaluates in a value that it
has accepted; one of kind `beside` omits the schema's own `unevaluated…`, whose result depends on it.  Evaluated parts
are determined only for schemas with such a keyword, after all other keywords have accepted.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from mcpc.schema.code import fill, literal
from mcpc.schema.codegen.applicators import (
    at_index,
    below_any,
    write_all,
    write_alternatives,
    write_dependent_schemas,
    write_reference,
)
from mcpc.schema.codegen.walker import INLINE_LEVELS, Walker
from mcpc.schema.conditions import ALWAYS, atom, holds, negated, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from mcpc.reading import Json, Node
    from mcpc.schema.analysis import SchemaAnalysis, Subschema
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.walker import ValuePlace
    from mcpc.schema.conditions import Condition

    Mark = Callable[[ValuePlace, Node], None]

EVALUATING = {
    "object": ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    "array": ("prefixItems", "items", "contains", "unevaluatedItems"),
}
"""The keywords that evaluate parts of a value themselves."""
APPLYING = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
"""The keywords whose schemas do so; `not` does not count."""
UNCONDITIONAL = ("$ref", "$dynamicRef", "allOf")


class Marker(Walker):
    """Writes a function of an accepted value and the set `seen`."""

    ends_early = False

    def keyword(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Write the evaluated parts of one keyword."""
        mark = MARKS.get(keyword)
        if mark is not None and not (self.kind == "beside" and place.level == 0 and keyword.startswith("unevaluated")):
            mark(place, value)

    def apply(self, place: ValuePlace, guard: Condition = ALWAYS) -> None:
        """Write the evaluated parts of another schema of the same value, if `guard` holds."""
        if not evaluates_parts(self.survey, place.schema):
            return
        with self.when(guard):
            if place.schema.node in self.survey.shared or place.level >= INLINE_LEVELS:
                self.line(self.call("evaluated", place.schema, place.value, fill("seen")))
            else:
                self.body(place)

    def begin(self, place: ValuePlace) -> None:
        """Do nothing: the value was accepted."""

    def check(self, place: ValuePlace, condition: Condition, keyword: str, expected: Json) -> None:
        """Do nothing: the value was accepted."""

    def typed(self, place: ValuePlace) -> AbstractContextManager[None]:
        """Check nothing: the value was accepted."""
        return nullcontext()

    def alternatives(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Write the evaluated parts of the alternatives that accept."""
        for node in value.items:
            branch = place.here(node)
            if evaluates_parts(self.survey, branch.schema):
                self.apply(branch, self.decision(branch))

    def name(self, place: ValuePlace) -> None:
        """Do nothing: a name has no parts."""

    def settle(self) -> None:
        """Do nothing: no check is deferred."""


def evaluates_parts(survey: SchemaAnalysis, schema: Subschema) -> bool:
    """Tell whether a schema, or one that it applies to the same value, evaluates any part of it."""
    if any(keyword in schema.keywords for group in EVALUATING.values() for keyword in group):
        return True
    # It ends: references of the same value that lead back to themselves have been refused.
    return any(evaluates_parts(survey, applied) for applied in _applied(survey, schema, APPLYING))


def _applied(survey: SchemaAnalysis, schema: Subschema, keywords: tuple[str, ...]) -> Iterator[Subschema]:
    for keyword in keywords:
        value = schema.keywords.get(keyword)
        if value is not None and value in survey.targets:
            yield survey.at(value)
        else:
            yield from map(survey.at, schema.children(keyword))


def mark_properties(place: ValuePlace, properties: Node) -> None:
    """Mark the names of `properties`; that some are not there does no harm."""
    names = literal(tuple(member.key for member in properties.members))
    if properties.members:
        place.walk.line(fill("seen.update(%s)", names))


def mark_patterns(place: ValuePlace, patterns: Node) -> None:
    """Mark the names that match a pattern."""
    walk = place.walk
    name = walk.fresh("k")
    matches = some(walk.program.search(member.key, name) for member in patterns.members)
    with walk.section(fill("for %s in %s:", name, place.value)), walk.when(matches):
        if patterns.members:
            walk.line(fill("seen.add(%s)", name))


def mark_names(place: ValuePlace, _schema: Node) -> None:
    """Mark every name: this keyword evaluates those that no other one does."""
    place.walk.line(fill("seen.update(%s)", place.value))


def mark_prefix(place: ValuePlace, schemas: Node) -> None:
    """Mark the first indexes; that some are not there does no harm."""
    place.walk.line(fill("seen.update(range(%s))", literal(len(schemas.items))))


def mark_indexes(place: ValuePlace, _schema: Node) -> None:
    place.walk.line(fill("seen.update(range(len(%s)))", place.value))


def mark_contained(place: ValuePlace, schema: Node) -> None:
    """Mark the items that `contains` accepts, in a draft where that counts."""
    walk = place.walk
    if not place.schema.counts_contained:
        return
    index, item = walk.fresh("i"), walk.fresh("v")
    accepted = walk.decision(place.child(schema, item, ()))
    with walk.section(fill("for %s, %s in enumerate(%s):", index, item, place.value)), walk.when(accepted):
        walk.line(fill("seen.add(%s)", index))


def mark_if(place: ValuePlace, schema: Node) -> None:
    """Mark what `if` and `then` evaluate, or what `else` does."""
    walk = place.walk
    accepts = walk.decision(place.here(schema))
    with walk.when(accepts):
        walk.apply(place.here(schema))
        if "then" in place.schema.keywords:
            walk.apply(place.here(place.schema.keywords["then"]))
    if "else" in place.schema.keywords:
        walk.apply(place.here(place.schema.keywords["else"]), negated(accepts))


MARKS: dict[str, Mark] = {
    "properties": mark_properties,
    "patternProperties": mark_patterns,
    "additionalProperties": mark_names,
    "unevaluatedProperties": mark_names,
    "prefixItems": mark_prefix,
    "items": mark_indexes,
    "contains": mark_contained,
    "unevaluatedItems": mark_indexes,
    "$ref": write_reference,
    "$dynamicRef": write_reference,
    "allOf": write_all,
    "anyOf": write_alternatives("anyOf"),
    "oneOf": write_alternatives("oneOf"),
    "if": mark_if,
    "dependentSchemas": write_dependent_schemas,
}
"""How each keyword marks; those that apply other schemas do so with the methods of `Marker`."""


def write_properties(place: ValuePlace, schema: Node) -> None:
    """Check each property that no other keyword has evaluated."""
    walk = place.walk
    with walk.once_accepted(place):
        seen = _seen(place, "object")
        name, value = walk.fresh("k"), walk.fresh("v")
        child = place.child(schema, value, below_any(place, name))
        unseen = atom("%s not in %s", "%s in %s", name, seen)
        if walk.survey.at(schema).always is not False:
            with walk.loop(fill("for %s, %s in %s.items():", name, value, place.value)):
                walk.apply(child, unseen)
        elif walk.ends_early:
            # The predicate need not know which names they are.
            walk.check(place, holds(fill("%s.issuperset(%s)", seen, place.value)), "unevaluatedProperties", None)
        else:
            known = list(dict.fromkeys(_mentioned(walk.survey, place.schema)))
            with walk.loop(fill("for %s in %s:", name, place.value)):
                walk.check(child, negated(unseen), "unevaluatedProperties", list(known))


def write_items(place: ValuePlace, schema: Node) -> None:
    """Check each item that no other keyword has evaluated."""
    walk = place.walk
    with walk.once_accepted(place):
        seen = _seen(place, "array")
        index, item = walk.fresh("i"), walk.fresh("v")
        child = place.child(schema, item, at_index(place, index))
        unseen = atom("%s not in %s", "%s in %s", index, seen)
        if walk.survey.at(schema).always is not False:
            with walk.loop(fill("for %s, %s in enumerate(%s):", index, item, place.value)):
                walk.apply(child, unseen)
        elif walk.ends_early:
            every = holds(fill("%s.issuperset(range(len(%s)))", seen, place.value))
            walk.check(place, every, "unevaluatedItems", None)
        else:
            with walk.loop(fill("for %s in range(len(%s)):", index, place.value)):
                walk.check(child, negated(unseen), "unevaluatedItems", None)


def _seen(place: ValuePlace, group: str) -> PythonCode:
    """Return the set of evaluated parts: a constant if it does not depend on the value."""
    walk = place.walk
    names = _certain(walk.survey, place.schema, is_asking=True) if group == "object" else None
    if names is not None:
        return walk.program.constant(fill("frozenset(%s)", literal(tuple(dict.fromkeys(names)))))
    seen = walk.fresh("s")
    walk.line(fill("%s = set()", seen))
    walk.line(walk.call("beside", place.schema, place.value, seen))
    return seen


def _certain(survey: SchemaAnalysis, schema: Subschema, *, is_asking: bool = False) -> list[str] | None:
    """Return the names that a schema evaluates in every value; None if that depends on the value."""
    others = [keyword for keyword in EVALUATING["object"][1:] if keyword in schema.keywords]
    # The schema's own `unevaluatedProperties` is what asks, and evaluates nothing yet.
    if others and not (is_asking and others == ["unevaluatedProperties"]):
        return None
    sometimes = tuple(keyword for keyword in APPLYING if keyword not in UNCONDITIONAL)
    if any(evaluates_parts(survey, applied) for applied in _applied(survey, schema, sometimes)):
        return None
    names = _properties(schema)
    for applied in _applied(survey, schema, UNCONDITIONAL):
        more = _certain(survey, applied)
        if more is None:
            return None
        names += more
    return names


def _mentioned(survey: SchemaAnalysis, schema: Subschema) -> Iterator[str]:
    """Yield every name that a schema has under `properties`, in any branch."""
    yield from _properties(schema)
    for applied in _applied(survey, schema, APPLYING):
        yield from _mentioned(survey, applied)


def _properties(schema: Subschema) -> list[str]:
    properties = schema.keywords.get("properties")
    return [member.key for member in properties.members] if properties else []
