"""Functions that take as much of what they are offered as they name: those that complete arguments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TAKES_ALL = 8
"""The flag of code that has `**keywords`."""


def call(function: Callable[..., Any], arguments: dict[str, Any], more: dict[str, Any]) -> Any:
    """Call a function with those of the arguments that it has parameters for."""
    taken = names(function)
    given = arguments if taken is None else {name: value for name, value in arguments.items() if name in taken}
    return function(**given, **more)


def names(function: Any) -> tuple[str, ...] | None:
    """Return the names of a function's parameters, None if it takes whatever it is given, or nobody knows."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & TAKES_ALL:
        return None
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return found
