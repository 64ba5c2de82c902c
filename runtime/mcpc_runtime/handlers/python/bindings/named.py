"""Binding of functions that take only the arguments they name: functions that complete arguments."""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.protocol.jsonrpc import Json

TAKES_ALL = 8
"""The flag of code that has `**keywords`."""


def call_by_names(function: Callable[..., object], arguments: dict[str, Json], more: dict[str, object]) -> object:
    """Call a function with the arguments for which it has parameters."""
    names = parameter_names(function)
    accepted = arguments if names is None else {name: value for name, value in arguments.items() if name in names}
    return function(**accepted, **more)


def parameter_names(function: object) -> tuple[str, ...] | None:
    """Return the names of a function's parameters, None if it takes all keywords or cannot be inspected."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & TAKES_ALL:
        return None
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names
