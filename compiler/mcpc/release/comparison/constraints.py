"""Rules of keywords about values of one type: what the keyword demands has to follow from one of the other schemas.

A constraint that the other schemas do not have is a new one, so the answer is False.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.patterns import accepts_texts
from mcpc.release.comparison.placed_schemas import KINDS, PlacedSchema, kinds_of, named_kinds
from mcpc.schema.ecma.translation import translate
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mcpc.release.comparison.placed_schemas import Search

    Json = Any
    PlacedSchemas = tuple[PlacedSchema, ...]
    Row = tuple[frozenset[str], tuple[str, ...], Callable[[Search, PlacedSchema, PlacedSchemas], bool | None]]

NUMBER, SCHEMA = (int, float), (dict, bool)
BOUNDS = ((1, "minimum", "exclusiveMinimum"), (-1, "maximum", "exclusiveMaximum"))
WIDER_FORMATS = {
    ("uri", "uri-reference"), ("uri", "iri"), ("uri", "iri-reference"), ("iri", "iri-reference"),
    ("uri-reference", "iri-reference"), ("email", "idn-email"), ("hostname", "idn-hostname"),
}  # fmt: skip
"""Formats, and those that accept all that they accept, by the RFCs that define them."""


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Return False for an answer that is False, else None for one that is open, else True."""
    is_open = False
    for each in answers:
        if each is False:
            return False
        is_open = is_open or each is None
    return None if is_open else True


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """Return True for an answer that is True, else None for one that is open, else False."""
    answer = all_of(None if each is None else not each for each in answers)
    return None if answer is None else not answer


def types(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare types."""
    return kinds_of(narrow) <= named_kinds(wide.get("type", (str, list), []))


def values(_search: Search, _wide: PlacedSchema, _narrow: PlacedSchemas) -> bool:
    """Refuse: a schema that lists its values is validated, and has no need of a rule."""
    return False


def bounds(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare bounds; those of integers are rounded."""
    are_integers = "fraction" not in kinds_of(narrow)
    for names in BOUNDS:
        limits = [bound for part in narrow for bound in _limits(part, *names)]
        if are_integers:
            limits = [
                (Fraction(math.floor(each) + 1 if is_open else math.ceil(each)), False) for each, is_open in limits
            ]
        if any(not limits or max(limits) < bound for bound in _limits(wide, *names)):
            return False
    return True


def _limits(part: PlacedSchema, sign: int, closed: str, opened: str) -> Iterator[tuple[Fraction, bool]]:
    """Yield bounds, and whether each is excluded; those from above are negated, so that the greater is the tighter."""
    bound, excluded = part.get(closed, NUMBER, None), part.get(opened, NUMBER, False)
    if bound is not None:
        yield sign * exact(bound), excluded is True  # a boolean up to draft 4
    if not isinstance(excluded, bool):
        yield sign * exact(excluded), True


def exact(number: Json) -> Fraction:
    """Return the number that is written in JSON."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def multiples(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare multiples; integers are multiples of one."""
    factors = [exact(each) for part in narrow if (each := part.get("multipleOf", NUMBER, None))]
    factors += [] if "fraction" in kinds_of(narrow) else [Fraction(1)]
    return any((each / (exact(wide.get("multipleOf", NUMBER, 1)) or 1)).denominator == 1 for each in factors)


def counts(kind: str, what: str) -> Row:
    """Return the row of the bounds of a count."""
    least, most = f"min{what}", f"max{what}"

    def rule(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
        low = max(part.get(least, NUMBER, 0) for part in narrow)
        high = min(part.get(most, NUMBER, math.inf) for part in narrow)
        return bool(wide.get(least, NUMBER, 0) <= low and high <= wide.get(most, NUMBER, math.inf))

    return named_kinds(kind), (least, most), rule


def patterns(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Tell whether a pattern of the narrower schema leaves only texts that the wider one's accepts."""
    narrower = [each for part in narrow if (each := part.get("pattern", str, None)) is not None]
    return any_of(accepts_texts(wide.get("pattern", str, ""), each) for each in narrower)


def formats(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare formats by name; what one that no standard defines accepts is not known."""
    name = wide.get("format", str, "")
    names = [each for part in narrow if (each := part.get("format", str, None)) is not None]
    if any(each == name or (each, name) in WIDER_FORMATS for each in names):
        return True
    return False if all(each in FORMATS for each in names) else None


def distinct(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare whether items differ."""
    return not wide.get("uniqueItems", bool, False) or any(part.get("uniqueItems", bool, False) for part in narrow)


def items(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare the items at each place, and all others."""
    rows = [_items(part) for part in (wide, *narrow)]
    places = range(max(map(len, rows)))
    return all_of(search.below(*(row[min(at, len(row) - 1)] for row in rows)) for at in places)


def _items(part: PlacedSchema) -> list[PlacedSchema]:
    """Return the schemas of items by place; the last is that of all others."""
    if isinstance(part.keywords.get("items"), list):
        return [*part.among("items"), part.at(part.get("additionalItems", SCHEMA, True))]
    return [*part.among("prefixItems"), part.at(part.get("items", SCHEMA, True))]


def properties(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare the properties that a side declares, by name, and all others; patterns of names by their texts."""
    by_pattern, others = wide.get("patternProperties", dict, {}), wide.at(_others(wide))
    declared = sorted({name for part in (wide, *narrow) for name in part.get("properties", dict, {})})
    answers = [
        search.below(each, *property_schemas(narrow, name))
        for name in declared
        for each in property_schemas((wide,), name)
    ]
    for pattern, each in sorted(by_pattern.items()):
        answers.append(search.below(wide.at(each), *(_matching(part, pattern) for part in narrow)))
    answers.append(search.below(others, *(part.at(_others(part)) for part in narrow)))
    for part in narrow:
        rows = part.get("patternProperties", dict, {})
        answers += [search.below(others, part.at(each)) for pattern, each in rows.items() if pattern not in by_pattern]
    return all_of(answers)


def _others(part: PlacedSchema) -> Json:
    return part.get("additionalProperties", SCHEMA, True)


def _matching(part: PlacedSchema, pattern: str) -> PlacedSchema:
    """Return what is demanded of properties that are not declared and whose names match a pattern."""
    rows = part.get("patternProperties", dict, {})
    return part.at(rows.get(pattern, True) if rows else _others(part))


def property_schemas(parts: PlacedSchemas, name: str) -> list[PlacedSchema]:
    """Return what is demanded of a property; raise PatternError."""
    demands = []
    for part in parts:
        own = [each for key, each in part.get("properties", dict, {}).items() if key == name]
        for pattern, each in part.get("patternProperties", dict, {}).items():
            own += [each] if re.search(translate(pattern), name, re.ASCII) else []
        demands += [part.at(each) for each in own or [_others(part)]]
    return demands


def required_names(parts: PlacedSchemas) -> set[str]:
    """Return the properties that are certain; of an object without others, all are if it has to have so many."""
    required = {name for part in parts for name in part.get("required", list, [])}
    for part in parts:
        names = {*part.get("properties", dict, {})}
        is_closed = _others(part) is False and not part.get("patternProperties", dict, {})
        required |= names if is_closed and part.get("minProperties", NUMBER, 0) >= len(names) else set()
    return required


def required(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare the properties that are certain."""
    return {*wide.get("required", list, [])} <= required_names(narrow)


NUMBERS, TEXTS, ARRAYS, OBJECTS = (named_kinds(name) for name in ("number", "string", "array", "object"))
CONSTRAINTS: dict[str, Row] = {
    "type": (KINDS, ("type",), types),
    "enum": (KINDS, ("enum", "const"), values),
    "bounds": (NUMBERS, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), bounds),
    "multipleOf": (NUMBERS, ("multipleOf",), multiples),
    "length": counts("string", "Length"),
    "pattern": (TEXTS, ("pattern",), patterns),
    "format": (TEXTS, ("format",), formats),
    "number of items": counts("array", "Items"),
    "uniqueItems": (ARRAYS, ("uniqueItems",), distinct),
    "items": (ARRAYS, ("items", "prefixItems", "additionalItems"), items),
    "number of properties": counts("object", "Properties"),
    "properties": (OBJECTS, ("properties", "patternProperties", "additionalProperties"), properties),
    "required": (OBJECTS, ("required",), required),
}
"""By a name: the types that a rule is about, its keywords, and the rule."""
