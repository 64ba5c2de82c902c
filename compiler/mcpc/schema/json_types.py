"""The types of JSON as tests on Python values, which are of exact types because a JSON parser made them.

A number with a zero fraction is an integer; a boolean is no number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.conditions import NEVER, Condition, atom, every, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpc.schema.code import Code
    from mcpc.schema.survey import Subschema
    from mcpc.sources import Json

EVERY_TYPE = frozenset(("null", "boolean", "object", "array", "number", "string"))


def is_number(value: Code) -> Condition:
    """Return the test for a number."""
    return some((_is_int(value), atom("type({}) is float", "type({}) is not float", value)))


def is_integer(value: Code) -> Condition:
    """Return the test for a number without a fraction."""
    is_float = atom("type({}) is float", "type({}) is not float", value)
    return some((_is_int(value), every((is_float, atom("{}.is_integer()", "not {}.is_integer()", value)))))


def _is_int(value: Code) -> Condition:
    return atom("type({}) is int", "type({}) is not int", value)


TESTS: dict[str, Callable[[Code], Condition]] = {
    "null": lambda value: atom("{} is None", "{} is not None", value),
    "boolean": lambda value: atom("type({}) is bool", "type({}) is not bool", value),
    "object": lambda value: atom("type({}) is dict", "type({}) is not dict", value),
    "array": lambda value: atom("type({}) is list", "type({}) is not list", value),
    "string": lambda value: atom("type({}) is str", "type({}) is not str", value),
    "number": is_number,
    "integer": is_integer,
}


def is_one_of(types: Iterable[str], value: Code) -> Condition:
    """Return the test for any of `types`."""
    return some(TESTS[name](value) for name in types) if types else NEVER


def types_of(schema: Subschema) -> tuple[str, ...]:
    """Return the types `type` of the schema allows, as written; all if it does not say."""
    node = schema.keywords.get("type")
    if node is None:
        return tuple(sorted(EVERY_TYPE))
    names = tuple(str(item.value) for item in node.items) or (str(node.value),)
    return tuple(name for name in names if name != "integer" or "number" not in names)


def has_type(value: Json, types: Iterable[str]) -> bool:
    """Say whether `value` is of one of `types`."""
    return any(_CONSTANT_TESTS[name](value) for name in types)


_CONSTANT_TESTS: dict[str, Callable[[Json], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: type(value) is bool,
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "number": lambda value: type(value) in (int, float),
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
}
