"""Rules of keywords that combine schemas: references, and alternatives that are compared one by one.

Where more than one alternative might accept a value, a rule only says what is certain.  What is not taken apart here
(`not`, conditions, dependencies and the like) accepts the same if it is written the same; it is a new constraint if
there was none; and any other change is undecided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.comparison.constraints import all_of, any_of, property_schemas, required_names
from mcpc.release.comparison.placed_schemas import (
    KINDS,
    NAMES,
    PlacedSchema,
    is_same,
    kinds_of,
    named_kinds,
    together,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.comparison.constraints import Row
    from mcpc.release.comparison.placed_schemas import Search

    PlacedSchemas = tuple[PlacedSchema, ...]


def alternatives(parts: PlacedSchemas) -> list[PlacedSchemas]:
    """Return the cases that the first `anyOf` or `oneOf` of parts makes; empty if there is neither."""
    for at, part in enumerate(parts):
        for name in ("anyOf", "oneOf"):
            if branches := part.among(name):
                rest = part.at({key: each for key, each in part.keywords.items() if key != name})
                return [(*parts[:at], rest, *together(each), *parts[at + 1 :]) for each in branches]
    return []


def reference(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare with what a reference leads to; one out of the schema is the same as itself only."""
    target, name = wide.target(), wide.get("$ref", str, "")
    if target is not None:
        return search.decide(target, narrow)
    is_outside = not name.startswith("#") and not any(part.document.ids for part in (wide, *narrow))
    return (is_outside and any(name == part.get("$ref", str, "") for part in narrow)) or None


def conjunction(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare with each schema of `allOf`."""
    return all_of(search.decide(each, narrow) for each in wide.among("allOf"))


def union(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare with the alternatives of `anyOf` that may accept values of each type."""
    answers = []
    for case, branches in _cases(wide.among("anyOf"), narrow):
        answer = any_of(search.decide(each, case) for each in branches)
        answers.append(None if answer is False and len(branches) > 1 else answer)
    return all_of(answers)


def choice(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare with `oneOf`, whose other alternatives must not accept the same value."""
    branches = wide.among("oneOf")
    if any(_are_equivalent(search, branches, part.among("oneOf")) for part in narrow):
        return True
    answers = [
        search.decide(possible[0], case) if len(possible) == 1 else None if possible else False
        for case, possible in _cases(branches, narrow)
    ]
    return all_of(answers)


def _are_equivalent(search: Search, wide: list[PlacedSchema], narrow: list[PlacedSchema]) -> bool:
    return len(wide) == len(narrow) and all(
        search.decide(one, together(other)) and search.decide(other, together(one))
        for one, other in zip(wide, narrow, strict=True)
    )


def _cases(branches: list[PlacedSchema], narrow: PlacedSchemas) -> Iterator[tuple[PlacedSchemas, list[PlacedSchema]]]:
    """Yield the values of each type, with the branches that might accept them."""
    kinds = kinds_of(narrow)
    for name in NAMES:
        if named_kinds(name) & kinds:
            case = (*narrow, narrow[0].at({"type": name}))
            yield case, [each for each in branches if not _are_disjoint(together(each), case)]


def _are_disjoint(one: PlacedSchemas, other: PlacedSchemas, *, is_whole: bool = True) -> bool:
    """Tell whether it is certain that no value is accepted by both: of a type, by their values, or by a property's."""
    kinds = kinds_of(one) & kinds_of(other)
    for some, others in ((one, other), (other, one)):
        values = values_of(some)
        if values is not None and not any(
            all(each.accepts(value, formats=False) for each in others) for value in values
        ):
            return True
    if kinds != {"object"} or not is_whole:
        return not kinds
    for name in sorted(required_names(one) | required_names(other)):
        rows = [together(*property_schemas(parts, name)) for parts in (one, other)]
        if _are_disjoint(*rows, is_whole=False):
            return True
    return False


def unchanged(*keywords: str) -> Row:
    """Return the row of keywords that are not taken apart."""

    def rule(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
        wanted, *others = [
            part.at({name: part.keywords[name] for name in keywords if name in part.keywords})
            for part in (wide, *narrow)
        ]
        if any(is_same(wanted, each) for each in others):
            return True
        return None if any(each.schema for each in others) else False

    return KINDS, keywords, rule


def dependent(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare the whole schemas, since the keyword depends on all that is beside it."""
    return any(is_same(wide, part) for part in narrow) or None


COMBINATIONS: dict[str, Row] = {
    "$ref": (KINDS, ("$ref",), reference),
    "allOf": (KINDS, ("allOf",), conjunction),
    "anyOf": (KINDS, ("anyOf",), union),
    "oneOf": (KINDS, ("oneOf",), choice),
    "contains": unchanged("contains", "minContains", "maxContains"),
    "propertyNames": unchanged("propertyNames"),
    "dependencies": unchanged("dependentRequired", "dependentSchemas", "dependencies"),
    "not": unchanged("not"),
    "condition": unchanged("if", "then", "else"),
    "unevaluated": (KINDS, ("unevaluatedProperties", "unevaluatedItems"), dependent),
    "reference": (KINDS, ("$dynamicRef", "$recursiveRef"), dependent),
}
"""By a name: the types that a rule is about, its keywords, and the rule."""
