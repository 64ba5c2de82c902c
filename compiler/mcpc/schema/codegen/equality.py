"""Code that compares a value with a constant of the schema as JSON does: `1` is `1.0`, and `true` is not `1`.

Python's `==` is that already, except that it takes `True` for 1 and `False` for 0, however deep inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.code import PythonCode, fill, literal
from mcpc.schema.conditions import Condition, atom, every, holds, some
from mcpc.schema.json_types import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.schema.codegen.program import GeneratedModule
    from mcpc.sources import Json

FEW = 5
"""Up to this number constants are compared one by one; more are looked up in a set."""
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
        return every(
            (has_type, atom("%s in %s", "%s not in %s", value, program.constant(fill("frozenset(%s)", written))))
        )
    is_member = atom("%s in %s", "%s not in %s", value, written)
    if any(constant in (0, 1) for constant in constants):
        return every((atom("type(%s) is not bool", "type(%s) is bool", value), is_member))
    return is_member


def _confuses(constant: Json) -> bool:
    """Say whether `constant` holds anything Python could take for a boolean, or a boolean for."""
    if isinstance(constant, list):
        return any(map(_confuses, constant))
    if isinstance(constant, dict):
        return any(map(_confuses, constant.values()))
    return isinstance(constant, int | float) and constant in (0, 1)
