"""How functions of a project are called: their context, their arguments, in a thread or not."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import typing
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def find_context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the parameter that gets the context, None if there is none."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - a hint that cannot be resolved is none of the context
        return None
    for name, hint in hints.items():
        if any(inspect.isclass(each) and issubclass(each, Context) for each in (hint, *typing.get_args(hint))):
            return name
    return None


def is_asynchronous(function: Any) -> bool:
    """Tell whether calling a function returns a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    method = getattr(type(function), "__call__", None)  # noqa: B004 - its kind matters, not that it is there
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


async def call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function, where the version of the SDK does: in a thread if it is synchronous, or at once."""
    if is_asynchronous(function):
        return await function(**arguments)
    if behaviour().synchronous_in_threads:
        return await asyncio.to_thread(function, **arguments)
    return function(**arguments)


async def call_and_wait(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function; wait for its result if that is a coroutine."""
    result = await call(function, arguments)
    return await result if inspect.iscoroutine(result) else result


def converting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose arguments are converted to the types of its parameters."""
    made: Callable[..., Any] = resolve("pydantic:validate_call")(function)
    return made


def json_text(value: Any) -> str:
    """Return a value as JSON text."""
    text: str = resolve("pydantic_core:to_json")(value, fallback=str, indent=2).decode()
    return text


def function_name(function: Any, name: str | None) -> str:
    """Return a component's name: the given one, or that of its function."""
    found: str = name or function.__name__
    if found == "<lambda>":
        raise ValueError("You must provide a name for lambda functions")
    return found


def get_logger(name: str) -> logging.Logger:
    """Return a logger."""
    return logging.getLogger(name)


def configure_logging(level: str = "INFO") -> None:
    """Let messages be written to the standard error output."""
    logging.basicConfig(format="%(message)s", level=level)
