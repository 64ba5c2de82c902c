"""Boolean expressions of generated code, each in two texts: the condition and its negation.

A negation is thus never a `not (...)` around an expression: `type(x) is str and len(x) < 9` becomes `type(x) is not str
or len(x) >= 9`.

A number with a zero fraction is an integer; a boolean is not a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

from mcpc.schema.code import PythonCode, fill, join_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpc.reading import Json, Node


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """`yes` is true exactly when `no` is false.  `bond`: the operator in `yes` (`and`, `or`, or none).

    `ALWAYS` and `NEVER` are the only conditions of their kind, to be compared with `is`.
    """

    yes: PythonCode
    no: PythonCode
    bond: str = ""


ALWAYS = Condition(fill("True"), fill("False"))
NEVER = Condition(ALWAYS.no, ALWAYS.yes)


def atom(yes: LiteralString, no: LiteralString, *parts: PythonCode) -> Condition:
    """Return the condition of two templates that are filled with the same `parts`."""
    return Condition(fill(yes, *parts), fill(no, *parts))


def holds(expression: PythonCode) -> Condition:
    """Return the condition that `expression`, a call or a name, is true."""
    return Condition(expression, fill("not %s", expression))


def negated(condition: Condition) -> Condition:
    """Return the opposite."""
    if condition is ALWAYS or condition is NEVER:
        return NEVER if condition is ALWAYS else ALWAYS
    return Condition(condition.no, condition.yes, _DUAL[condition.bond])


def every(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that all of them hold."""
    return _bound(tuple(conditions), "and")


def some(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that at least one of them holds."""
    return _bound(tuple(conditions), "or")


_DUAL = {"": "", "and": "or", "or": "and"}
_JOINT: dict[str, LiteralString] = {"and": " and ", "or": " or "}


def _bound(conditions: tuple[Condition, ...], bond: str) -> Condition:
    neutral, decisive = (ALWAYS, NEVER) if bond == "and" else (NEVER, ALWAYS)
    if decisive in conditions:
        return decisive
    parts = [condition for condition in conditions if condition is not neutral]
    if len(parts) < 2:
        return parts[0] if parts else neutral
    dual = _DUAL[bond]
    # Enclosed in both texts, because the negation exchanges `and` and `or`.
    return Condition(
        join_code(_JOINT[bond], [_part(part.yes, part.bond == dual) for part in parts]),
        join_code(_JOINT[dual], [_part(part.no, part.bond == dual) for part in parts]),
        bond,
    )


def _part(text: PythonCode, enclosed: bool) -> PythonCode:
    return fill("(%s)", text) if enclosed else text


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
    # Every integer is a number.
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
