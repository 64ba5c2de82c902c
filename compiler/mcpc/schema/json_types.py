"""Tests of JSON types on Python values, whose types are exact because a JSON parser created them.

A number with a zero fraction is an integer; a boolean is not a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.conditions import NEVER, Condition, atom, every, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpc.reading import Json, Node
    from mcpc.schema.code import PythonCode

EVERY_TYPE = ("null", "boolean", "object", "array", "number", "string")


def is_number(value: PythonCode) -> Condition:
    """Return the test for a number."""
    return some((_is_int(value), atom("type(%s) is float", "type(%s) is not float", value)))


def is_integer(value: PythonCode) -> Condition:
    """Return the test for a number without a fraction."""
    is_float = atom("type(%s) is float", "type(%s) is not float", value)
    return some((_is_int(value), every((is_float, atom("%s.is_integer()", "not %s.is_integer()", value)))))


def _is_int(value: PythonCode) -> Condition:
    return atom("type(%s) is int", "type(%s) is not int", value)


TESTS: dict[str, Callable[[PythonCode], Condition]] = {
    "null": lambda value: atom("%s is None", "%s is not None", value),
    "boolean": lambda value: atom("type(%s) is bool", "type(%s) is not bool", value),
    "object": lambda value: atom("type(%s) is dict", "type(%s) is not dict", value),
    "array": lambda value: atom("type(%s) is list", "type(%s) is not list", value),
    "string": lambda value: atom("type(%s) is str", "type(%s) is not str", value),
    "number": is_number,
    "integer": is_integer,
}


def is_one_of(types: Iterable[str], value: PythonCode) -> Condition:
    """Return the test for any of `types`."""
    return some(TESTS[name](value) for name in types) if types else NEVER


def types_of(node: Node | None) -> tuple[str, ...]:
    """Return the types that the value of `type` allows, as written; every type if there is none."""
    if node is None:
        return EVERY_TYPE
    names = tuple(str(item.value) for item in node.items) or (str(node.value),)
    return tuple(name for name in names if name != "integer" or "number" not in names)


def has_type(value: Json, types: Iterable[str]) -> bool:
    """Tell whether `value` is of one of `types`."""
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
