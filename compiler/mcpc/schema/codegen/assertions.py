"""Code for the keywords that compare a value, or its length or size, with a constant of the schema.

JSON's equality is that of Python's `==` (`1` is `1.0`), except that `==` takes `True` for 1 and `False` for 0, at any
depth.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, LiteralString

from mcpc.schema.code import PythonCode, fill, literal
from mcpc.schema.conditions import ALWAYS, Condition, atom, every, holds, is_number, some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.reading import Json, Node
    from mcpc.schema.codegen.program import GeneratedModule
    from mcpc.schema.codegen.walker import ValuePlace

    Ask = Callable[[ValuePlace, Node], Condition]

PLAIN = frozenset(("string", "null"))
"""Types whose values may be in a set: other people cannot choose their hashes, unlike those of numbers."""


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
    # Only there `items` has ended the function for any other type of item.
    if place.walk.ends_early and _are_plain(place):
        return atom("len(set(%s)) == len(%s)", "len(set(%s)) != len(%s)", place.value, place.value)
    return holds(fill("%s(%s)", place.walk.program.support("distinct"), place.value))


def _are_plain(place: ValuePlace) -> bool:
    """Tell whether every item is known to have a type whose values may be in a set."""
    items = place.schema.keywords.get("items")
    if items is None or "prefixItems" in place.schema.keywords:
        return False
    schema = place.walk.survey.at(items)
    return schema.always is None and set(schema.types) <= PLAIN


FEW = 5
"""Maximum number of constants that are compared one after the other; more are in a set."""
SHORT = 100
"""A literal longer than this gets a name."""


def equals(program: GeneratedModule, value: PythonCode, constant: Json) -> Condition:
    """Return the test whether `value` is `constant`."""
    written = literal(constant)
    if constant is None or isinstance(constant, bool):
        return atom("%s is %s", "%s is not %s", value, written)
    if isinstance(constant, int | float) and constant in (0, 1):
        is_no_boolean = atom("type(%s) is not bool", "type(%s) is bool", value)
        return every((atom("%s == %s", "%s != %s", value, written), is_no_boolean))
    if len(written) > SHORT:
        written = program.constant(written)
    if _confuses(constant):
        return holds(fill("%s(%s, %s)", program.support("same"), value, written))
    return atom("%s == %s", "%s != %s", value, written)


def is_among(program: GeneratedModule, value: PythonCode, constants: Sequence[Json]) -> Condition:
    """Return the test whether `value` is one of `constants`."""
    texts = tuple(dict.fromkeys(constant for constant in constants if isinstance(constant, str)))
    numbers = tuple(dict.fromkeys(constant for constant in constants if type(constant) in (int, float)))
    others = [constant for constant in constants if type(constant) not in (str, int, float)]
    tests = [equals(program, value, constant) for constant in others]
    if texts:
        tests.insert(0, _member(program, value, texts, atom("type(%s) is str", "type(%s) is not str", value)))
    if numbers:
        tests.append(_member(program, value, numbers, is_number(value)))
    return some(tests)


def _member(program: GeneratedModule, value: PythonCode, constants: tuple[Json, ...], has_type: Condition) -> Condition:
    """Return the test for one of `constants`, all strings or all numbers.

    A set is a constant of the module: written in place, its order in the bytecode would change from build to build.
    """
    if len(constants) == 1:
        return equals(program, value, constants[0])
    written = literal(constants)
    if len(constants) > FEW or len(written) > SHORT:
        # The type comes first: asking a set for a list or an object raises TypeError.
        return every(
            (has_type, atom("%s in %s", "%s not in %s", value, program.constant(fill("frozenset(%s)", written))))
        )
    is_member = atom("%s in %s", "%s not in %s", value, written)
    if any(constant in (0, 1) for constant in constants):
        return every((atom("type(%s) is not bool", "type(%s) is bool", value), is_member))
    return is_member


def _confuses(constant: Json) -> bool:
    """Tell whether `constant` holds anything Python could take for a boolean, or a boolean for."""
    if isinstance(constant, list):
        return any(map(_confuses, constant))
    if isinstance(constant, dict):
        return any(map(_confuses, constant.values()))
    return isinstance(constant, int | float) and constant in (0, 1)
