"""Boolean expressions of generated code, each in two texts: the condition and its negation.

A negation is thus never a `not (...)` around an expression: `type(x) is str and len(x) < 9` becomes `type(x) is not str
or len(x) >= 9`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

from mcpc.schema.code import PythonCode, fill, join_code

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    return Condition(
        join_code(_JOINT[bond], [_part(part.yes, part.bond == dual) for part in parts]),
        join_code(_JOINT[dual], [_part(part.no, part.bond == dual) for part in parts]),
        bond,
    )


def _part(text: PythonCode, enclosed: bool) -> PythonCode:
    return fill("(%s)", text) if enclosed else text
