"""The rule of each keyword: whether what it demands follows from other schemas.

A constraint that the other schemas do not have is a new one, so the answer is False.  Where more than one alternative
might accept a value, a rule only says what is certain.  What is not taken apart here (`not`, conditions, dependencies
and the like) accepts the same if it is written the same; it is a new constraint if there was none; and any other change
is undecided.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
from mcpc.schema.ecma.code_point_sets import Ranges, intersection
from mcpc.schema.ecma.translation import parse, translate
from mcpc.schema.ecma.tree import Assertion, Group, Repeat, Sequence, Set
from mcpc_runtime.protocol.validation.formats import FORMATS
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mcpc.release.comparison.placed_schemas import Search
    from mcpc.schema.ecma.tree import Node

    Step = tuple[Ranges | str, int, float]
    Json = Any
    PlacedSchemas = tuple[PlacedSchema, ...]
    Row = tuple[frozenset[str], tuple[str, ...], Callable[[Search, PlacedSchema, PlacedSchemas], bool | None]]


UNLIMITED = float("inf")


class OtherPatternError(ValueError):
    """A pattern is of another form."""


def accepts_texts(wide: str, narrow: str) -> bool | None:
    """Tell whether `wide` matches all texts that `narrow` matches; None if that is not decided."""
    if wide == narrow:
        return True
    try:
        before, after = _merged(narrow), _merged(wide)
    except (PatternError, OtherPatternError, RecursionError):
        return None
    if _has_steps(after, before):
        return True
    return False if _has_steps(before, after) else None


def _has_steps(wide: list[Step], narrow: list[Step]) -> bool:
    return len(wide) == len(narrow) and all(
        _has(one, other) and least <= low and high <= most
        for (one, least, most), (other, low, high) in zip(wide, narrow, strict=True)
    )


def _has(wide: Ranges | str, narrow: Ranges | str) -> bool:
    if isinstance(wide, str) or isinstance(narrow, str):
        return wide == narrow
    return intersection(wide, narrow) == narrow


def _merged(pattern: str) -> list[Step]:
    """Return the steps of a pattern, with the same set at most once in a row."""
    steps: list[Step] = []
    for what, least, most in _steps(parse(pattern)):
        if steps and steps[-1][0] == what:
            # `a{1,2}a{3}` becomes `a{4,5}`; the right side is evaluated in its order, so that `pop` comes last.
            least, most = least + steps[-1][1], most + steps.pop()[2]
        steps.append((what, least, most))
    return steps


def _steps(node: Node) -> Iterator[Step]:
    if isinstance(node, Set):
        yield node.ranges, 1, 1
    elif isinstance(node, Assertion) and node.kind in "^$":
        yield node.kind, 1, 1
    elif isinstance(node, Repeat) and isinstance(node.item, Set):
        yield node.item.ranges, node.least, UNLIMITED if node.most is None else node.most
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _steps(item)
    elif isinstance(node, Group):
        yield from _steps(node.item)
    else:
        raise OtherPatternError


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
    return kinds_of(narrow) <= named_kinds(wide.get("type", (str, list), []))


def values(_search: Search, _wide: PlacedSchema, _narrow: PlacedSchemas) -> bool:
    """Refuse: a schema that lists its values is validated, and has no need of a rule."""
    return False


def bounds(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare bounds; those of integers are rounded."""
    are_integers = "fraction" not in kinds_of(narrow)
    for names in BOUNDS:
        limits = [bound for part in narrow for bound in _limits(part, *names)]
        # For integers `> 2` and `>= 2.5` both mean `>= 3`.
        if are_integers:
            limits = [
                (Fraction(math.floor(each) + 1 if is_open else math.ceil(each)), False) for each, is_open in limits
            ]
        # Of equal bounds the excluded one is greater, and tighter, as True is greater than False.
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
    # `repr` gives the decimal that was written: 1/10 for 0.1, and not the nearest binary fraction.
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def multiples(_search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool:
    """Compare multiples; integers are multiples of one."""
    factors = [exact(each) for part in narrow if (each := part.get("multipleOf", NUMBER, None))]
    factors += [] if "fraction" in kinds_of(narrow) else [Fraction(1)]
    # A `multipleOf` of zero is invalid, but must not end the comparison of the rest.
    return any((each / (exact(wide.get("multipleOf", NUMBER, 1)) or 1)).denominator == 1 for each in factors)


def counts(kind: str, what: str) -> Row:
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
    # From the last place of a row on, its last schema holds: that of all others.
    return all_of(search.below(*(row[min(at, len(row) - 1)] for row in rows)) for at in places)


def _items(part: PlacedSchema) -> list[PlacedSchema]:
    """Return the schemas of items by place; the last is that of all others."""
    # A list is the form before draft 2020-12, where `additionalItems` is about the rest.
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
    # A pattern that only the narrower side has may match names that the wider side leaves to its `others`.
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
            # In ECMA-262 `\d`, `\w` and `\b` know ASCII only.
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


def alternatives(parts: PlacedSchemas) -> list[PlacedSchemas]:
    """Return the cases that the first `anyOf` or `oneOf` of parts makes; empty if there is neither."""
    for at, part in enumerate(parts):
        for name in ("anyOf", "oneOf"):
            if branches := part.among(name):
                # Without the keyword, since the case would be taken apart again and again.
                rest = part.at({key: each for key, each in part.keywords.items() if key != name})
                return [(*parts[:at], rest, *together(each), *parts[at + 1 :]) for each in branches]
    return []


def reference(search: Search, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
    """Compare with what a reference leads to; one out of the schema is the same as itself only."""
    target, name = wide.target(), wide.get("$ref", str, "")
    if target is not None:
        return search.decide(target, narrow)
    # Where a document has an `$id`, the same relative reference may lead elsewhere.
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
        # Of several branches each may accept a part of the values, so that a False for each is not one for all.
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
        # Without formats: whether they are asserted depends on the validator, and a refusal has to be certain.
        values = values_of(some)
        if values is not None and not any(
            all(each.accepts(value, formats=False) for each in others) for value in values
        ):
            return True
    # Properties are compared one level deep, which finds discriminators and bounds the work.
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
