"""Calls of the project's functions: in the event loop, or in separate threads."""

from __future__ import annotations

import asyncio
import functools
import inspect
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

THREADS = 40
"""How many synchronous functions run at the same time."""
_threads: list[ThreadPoolExecutor] = []


def innermost(function: Any) -> Any:
    """Return the function that is called in the end: behind partial functions, methods, and callable objects."""
    while isinstance(function, (functools.partial, staticmethod, classmethod)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if not inspect.isroutine(function) and not inspect.isclass(function) and callable(function):
        return function.__call__
    return function


def is_asynchronous(function: Any) -> bool:
    """Tell whether a call of a function gives an awaitable."""
    found = innermost(function)
    return inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)


async def in_thread(function: Callable[..., Any], **values: Any) -> Any:
    """Return the result of a function that runs in another thread, in this context."""
    if not _threads:
        _threads.append(ThreadPoolExecutor(THREADS, "function"))
    run = functools.partial(copy_context().run, function, **values)
    return await asyncio.get_running_loop().run_in_executor(_threads[0], run)


async def call_function(
    function: Callable[..., Any], values: dict[str, Any], *, threaded: bool, collects: bool = False
) -> Any:
    """Call a function; `threaded`: in a thread, if it is synchronous; `collects`: a generator as a list."""
    called = functools.partial(collected, function) if collects else function
    if threaded and not is_asynchronous(function):
        result = await in_thread(called, **values)
    else:
        result = called(**values)
    if inspect.isawaitable(result):
        result = await result
    if not collects:
        return result
    if inspect.isasyncgen(result):
        return [item async for item in result]
    return list(result) if inspect.isgenerator(result) else result


def collected(function: Callable[..., Any], /, **values: Any) -> Any:
    """Return what a function returns, the items of a generator as a list: where it is called, so that it can block."""
    result = function(**values)
    return list(result) if inspect.isgenerator(result) else result
