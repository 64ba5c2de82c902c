"""Functions that take as much of what they are offered as they name: those that complete arguments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.jsonrpc import Json

TAKES_ALL = 8
"""The flag of code that has `**keywords`."""


def call(function: Callable[..., object], arguments: dict[str, Json], more: dict[str, object]) -> object:
    """Call a function with those of the arguments that it has parameters for."""
    taken = names(function)
    given = arguments if taken is None else {name: value for name, value in arguments.items() if name in taken}
    return function(**given, **more)


def names(function: object) -> tuple[str, ...] | None:
    """Return the names of a function's parameters, None if it takes whatever it is given, or nobody knows."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & TAKES_ALL:
        return None
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return found
