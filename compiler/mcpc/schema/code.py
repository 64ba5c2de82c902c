"""Python source text as a type, `PythonCode`, and `literal`, the only way from a schema's values to source text.

Text that is already Python has the type `PythonCode`; templates take nothing else, so a value that was not passed
through `literal` raises instead of becoming source.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, LiteralString

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NESTING_LIMIT = 64
"""How deep a literal may be nested; Python's own parser gives up a little above it."""

_LONG = 10**4000
"""Larger integers are written in hexadecimal, which Python reads and writes without a limit of digits."""


class PythonCode(str):
    """Python source text.  Only this module makes one."""

    __slots__ = ()


def literal(value: object) -> PythonCode:
    """Return `value` as an ASCII Python literal; raise TypeError for what has none, ValueError if nested too deeply."""
    return PythonCode(_written(value, NESTING_LIMIT))


def fill(template: LiteralString, *parts: PythonCode) -> PythonCode:
    """Return `template` with `parts` for each `%s`; raise TypeError for a part that is not code."""
    for part in parts:
        if type(part) is not PythonCode:
            raise TypeError(f"a {type(part).__name__} is not code")
    return PythonCode(template % parts)


def join_code(separator: LiteralString, parts: Iterable[PythonCode]) -> PythonCode:
    """Return `parts` with `separator` between them; raise TypeError for a part that is not code."""
    parts = tuple(parts)
    for part in parts:
        if type(part) is not PythonCode:
            raise TypeError(f"a {type(part).__name__} is not code")
    return PythonCode(separator.join(parts))


def numbered(prefix: LiteralString, number: int) -> PythonCode:
    """Return an identifier: identifiers are counters and never come from a name of the schema."""
    return fill(prefix + "%s", literal(number))


def indented(levels: int, text: PythonCode) -> PythonCode:
    """Return a line of code at a level of indentation."""
    return fill("    " * levels + "%s", text)


def _written(value: object, room: int) -> str:
    # By the exact type: a subclass could have a `repr` of its own.
    write = _WRITERS.get(type(value))
    if write is None:
        raise TypeError(f"a {type(value).__name__} cannot be written as a literal")
    if not room:
        raise ValueError(f"a value is nested deeper than {NESTING_LIMIT} levels")
    return write(value, room - 1)


def _integer(value: object, _room: int) -> str:
    assert type(value) is int
    return repr(value) if -_LONG < value < _LONG else hex(value)


def _float(value: object, _room: int) -> str:
    assert type(value) is float
    if not math.isfinite(value):
        raise TypeError(f"{value!r} cannot be written as a literal")
    return repr(value)


def _tuple(value: object, room: int) -> str:
    assert type(value) is tuple
    items = [_written(item, room) for item in value]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _list(value: object, room: int) -> str:
    assert type(value) is list
    return "[" + ", ".join([_written(item, room) for item in value]) + "]"


def _dict(value: object, room: int) -> str:
    assert type(value) is dict
    return "{" + ", ".join([f"{_written(key, room)}: {_written(item, room)}" for key, item in value.items()]) + "}"


def _plain(value: object, _room: int) -> str:
    return ascii(value)


_WRITERS: dict[type, Callable[[object, int], str]] = {
    str: _plain,
    bytes: _plain,
    bool: _plain,
    type(None): _plain,
    int: _integer,
    float: _float,
    tuple: _tuple,
    list: _list,
    dict: _dict,
}
