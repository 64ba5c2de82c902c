"""Code for the keywords that ask one question about a string, a number, a list or an object as such."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, LiteralString

from mcpc.schema.code import fill, literal
from mcpc.schema.codegen.equality import equals, is_among
from mcpc.schema.conditions import ALWAYS, Condition, atom, holds

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.schema.codegen.walker import ValuePlace
    from mcpc.sources import Node

    Ask = Callable[[ValuePlace, Node], Condition]


PLAIN = frozenset(("string", "null"))
"""Types whose values a set can hold as they are: nobody outside can choose their hashes, unlike those of numbers."""


def compared(yes: LiteralString, no: LiteralString) -> Ask:
    """Return the condition of two templates, to be filled with the value and the bound."""

    def condition(place: ValuePlace, bound: Node) -> Condition:
        return atom(yes, no, place.value, literal(bound.value))

    return condition


def at_least(place: ValuePlace, bound: Node) -> Condition:
    """Return the condition of `minLength`, `minItems` and `minProperties`."""
    if bound.value == 0:
        return ALWAYS
    return atom("len(%s) >= %s", "len(%s) < %s", place.value, literal(whole(bound)))


def at_most(place: ValuePlace, bound: Node) -> Condition:
    """Return the condition of `maxLength`, `maxItems` and `maxProperties`."""
    return atom("len(%s) <= %s", "len(%s) > %s", place.value, literal(whole(bound)))


def whole(bound: Node) -> int:
    """Return the integer a bound is; JSON may write it `2.0`."""
    assert isinstance(bound.value, int | float)
    return int(bound.value)


def multiple(place: ValuePlace, divisor: Node) -> Condition:
    """Return the condition of `multipleOf`, exact on the decimal numbers as they are written."""
    step, scale = Decimal(repr(divisor.value)).as_integer_ratio()
    call = fill("%s(%s, %s, %s)", place.walk.program.support("multiple"), place.value, literal(step), literal(scale))
    return holds(call)


def matches(place: ValuePlace, pattern: Node) -> Condition:
    """Return the condition of `pattern`."""
    return place.walk.program.search(str(pattern.value), place.value)


def has_format(place: ValuePlace, name: Node) -> Condition:
    """Return the condition of `format`, where it decides."""
    return holds(fill("%s(%s, %s)", place.walk.program.support("has_format"), literal(name.value), place.value))


def constant(place: ValuePlace, value: Node) -> Condition:
    """Return the condition of `const`."""
    return equals(place.walk.program, place.value, value.value)


def enumeration(place: ValuePlace, values: Node) -> Condition:
    """Return the condition of `enum`."""
    return is_among(place.walk.program, place.value, [item.value for item in values.items])


def unique(place: ValuePlace, is_asked: Node) -> Condition:
    """Return the condition of `uniqueItems`."""
    if not is_asked.value:
        return ALWAYS
    if place.walk.ends_early and _are_plain(place):
        return atom("len(set(%s)) == len(%s)", "len(set(%s)) != len(%s)", place.value, place.value)
    return holds(fill("%s(%s)", place.walk.program.support("distinct"), place.value))


def _are_plain(place: ValuePlace) -> bool:
    """Say whether every item is by now known to be of a type whose values may be put into a set."""
    items = place.schema.keywords.get("items")
    if items is None or "prefixItems" in place.schema.keywords:
        return False
    schema = place.walk.survey.at(items)
    return schema.always is None and set(schema.types) <= PLAIN
