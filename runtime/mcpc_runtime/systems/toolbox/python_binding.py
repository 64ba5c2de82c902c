"""Binding of Python functions with ToolBox's contract: they get the request, return the result, and are logged.

An exception becomes an error result here.  A module's `destroy` function is called when the process ends.
"""

from __future__ import annotations

import sys
from _contextvars import ContextVar
from asyncio import run
from collections.abc import Awaitable, Callable
from time import gmtime, time
from traceback import format_exception
from types import ModuleType
from typing import Any

from mcpc_runtime.handlers.python.context import Context
from mcpc_runtime.handlers.python.errors import ToolError
from mcpc_runtime.log import log_failure
from mcpc_runtime.protocol.jsonrpc import Json, encode, quote
from mcpc_runtime.transports.platforms import system

Object = dict[str, Any]


current: ContextVar[tuple[Context, str]] = ContextVar("toolbox")
"""The context of the running call, and the log file of the calls that it makes."""
modules: dict[str, ModuleType | None] = {}
"""The modules of which a function was called, by name."""
APPEND_FLAGS = system.O_WRONLY | system.O_APPEND | system.O_CREAT | system.O_CLOEXEC
PRIVATE = 0o600


def call(function: Callable[..., object], arguments: Object, more: Object, tool: str) -> object:
    """Call a tool's function; return its result, or an awaitable of the result."""
    request, entry = (
        arguments["request"],
        CallLogEntry(tool, arguments["caller"], arguments["request"], arguments["log"]),
    )
    modules.setdefault(function.__module__, sys.modules.get(function.__module__))
    chain = more["context"], arguments["chains"]
    current.set(chain)
    try:
        value = function(request)
        if hasattr(value, "__await__"):
            return await_call(value, entry, chain)
    except Exception as problem:  # noqa: BLE001 - the tool's own failure, whatever it is, is its result
        return entry.failed(problem)
    return entry.ended(value)


async def await_call(value: Awaitable[object], entry: CallLogEntry, chain: tuple[Context, str]) -> object:
    """Return the result of an asynchronous function; the awaiting task has a separate variable context."""
    current.set(chain)
    try:
        result = await value
    except Exception as problem:  # noqa: BLE001 - as above
        return entry.failed(problem)
    return entry.ended(result)


def call_tool_handler(request: Object, caller: str) -> object:
    """Call another tool of the server; return its result, also for an error, and never raise.

    In an `async` function: `await call_tool_handler(...)`.
    """
    context, log = current.get()
    params = request["params"]
    entry = CallLogEntry(params["name"], caller, request, log)
    return context._port.ask({"call": params["name"], "arguments": params.get("arguments") or {}}, entry.answered)


class CallLogEntry:
    """One line of the log, written when the call is over."""

    def __init__(self, tool: str, caller: str, request: Object, log: str) -> None:
        self.tool, self.caller, self.log = tool, caller, log
        params = request["params"]
        self.arguments = {"args": params["arguments"]} if "arguments" in params else {}
        self.began = time()

    def answered(self, result: Object) -> Object:
        """Log and return the result of another tool; an unknown tool is an error of the call."""
        content = result.get("content") or [{}]
        unknown = f"Unknown tool: {self.tool}"
        if result.get("isError") is True and content[0].get("text") == unknown:
            self.write({"stat": "error", "err": unknown, "cost": self.cost})
            return error_result(unknown)
        self.ended(result)
        return result

    def ended(self, value: object) -> object:
        """Log a call that returned."""
        self.write({"stat": "success", "cost": self.cost}, {"caller": self.caller})
        return value

    def failed(self, problem: Exception) -> Object:
        """Log a call that failed, also for the operator, and return its result."""
        if not isinstance(problem, ToolError):
            log_failure(problem, f"the tool {self.tool} failed")
        trace = "".join(format_exception(problem))
        self.write({"stat": "error", "err": str(problem), "trace": trace, "cost": self.cost})
        return error_result(str(problem))

    @property
    def cost(self) -> int:
        """Milliseconds since the call began."""
        return int((time() - self.began) * 1000)

    def write(self, outcome: dict[str, Json], caller: dict[str, Json] | None = None) -> None:
        """Write the line; a failure to write does not affect the tool."""
        if not self.log:
            return
        line = encode({"ts": javascript_time(), "tool": self.tool, **(caller or {}), **self.arguments, **outcome})
        try:
            file = system.open(self.log, APPEND_FLAGS, PRIVATE)
            try:
                # One write with O_APPEND, so that lines of several processes do not mix.
                system.write(file, line + b"\n")
            finally:
                system.close(file)
        except OSError as problem:
            system.write(2, f"a log line was lost: {problem}\n".encode())


def error_result(message: str) -> Object:
    """Return the result of a failed call: its message, as JSON."""
    return {"content": [{"type": "text", "text": quote(message)}], "isError": True}


def javascript_time() -> str:
    """Return the current time in JavaScript's ISO format."""
    seconds = time()
    year, month, day, hour, minute, second, *_ = gmtime(seconds)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{int(seconds * 1000) % 1000:03}Z"


def destroy() -> None:
    """Call `destroy` of every module before the process ends."""
    while modules:
        name, module = modules.popitem()
        end = getattr(module, "destroy", None)
        try:
            value: Any = end() if end is not None else None
            if hasattr(value, "__await__"):
                run(wait_for(value))
        except Exception as problem:  # noqa: BLE001 - a failure must not prevent others from being destroyed
            log_failure(problem, f"{name} could not be destroyed")


async def wait_for(value: Awaitable[object]) -> None:
    """Await a value."""
    await value
