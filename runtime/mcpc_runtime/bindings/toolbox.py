"""Functions that keep ToolBox's contract: given the request, they return the result, and every call is logged.

Whatever a function raises becomes a result that says so, before anybody else sees it.  Modules with a `destroy` have it
called when the process ends.
"""

from __future__ import annotations

import posix
import sys
from _contextvars import ContextVar
from time import gmtime, time

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.jsonrpc import encode, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from mcpc_runtime.context import Context

    Result = dict[str, Any]
    from asyncio import run
    from traceback import format_exception
else:
    format_exception = lazy("traceback:format_exception")
    run = lazy("asyncio:run")

current: ContextVar[tuple[Context, str]] = ContextVar("toolbox")
"""The context of the call that runs, and the log that its own calls are written to."""
modules: dict[str, Any] = {}
"""Those of which a function was called."""
APPENDING = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC
PRIVATE = 0o600


def call(function: Callable[..., Any], arguments: dict[str, Any], more: dict[str, Any], tool: str) -> Any:
    """Call a tool's function; what it returns may have to be awaited, and then so has this."""
    request, entry = arguments["request"], Entry(tool, arguments["caller"], arguments["request"], arguments["log"])
    modules.setdefault(function.__module__, sys.modules.get(function.__module__))
    chain = more["context"], arguments["chains"]
    current.set(chain)
    try:
        value = function(request)
        if hasattr(value, "__await__"):
            return awaited(value, entry, chain)
    except Exception as problem:  # noqa: BLE001 - the tool's own failure, whatever it is, is its result
        return entry.failed(problem)
    return entry.ended(value)


async def awaited(value: Awaitable[Any], entry: Entry, chain: tuple[Context, str]) -> Any:
    """Return the result of a function that is asynchronous; the task that waits for it has variables of its own."""
    current.set(chain)
    try:
        found = await value
    except Exception as problem:  # noqa: BLE001 - as above
        return entry.failed(problem)
    return entry.ended(found)


def call_tool_handler(request: dict[str, Any], caller: str) -> Any:
    """Call another tool of the server; return its result, and never raise what is wrong with it.

    In an `async` function: `await call_tool_handler(...)`.
    """
    context, log = current.get()
    params = request["params"]
    entry = Entry(params["name"], caller, request, log)
    return context._port.ask({"call": params["name"], "arguments": params.get("arguments") or {}}, entry.answered)


class Entry:
    """One line of the log, written when its call is over."""

    def __init__(self, tool: str, caller: str, request: dict[str, Any], log: str) -> None:
        self.tool, self.caller, self.log = tool, caller, log
        params = request["params"]
        self.arguments = {"args": params["arguments"]} if "arguments" in params else {}
        self.began = time()

    def answered(self, result: Result) -> Result:
        """Take what another tool answered; that there is none of this name is an error of the call itself."""
        content = result.get("content") or [{}]
        unknown = f"Unknown tool: {self.tool}"
        if result.get("isError") is True and content[0].get("text") == unknown:
            self.write({"stat": "error", "err": unknown, "cost": self.cost})
            return refused(unknown)
        self.ended(result)
        return result

    def ended(self, value: Any) -> Any:
        """Log a call that returned."""
        self.write({"stat": "success", "cost": self.cost}, {"caller": self.caller})
        return value

    def failed(self, problem: Exception) -> Result:
        """Log a call that failed, and return its result."""
        trace = "".join(format_exception(problem))
        self.write({"stat": "error", "err": str(problem), "trace": trace, "cost": self.cost})
        return refused(str(problem))

    @property
    def cost(self) -> int:
        """How many milliseconds it took."""
        return int((time() - self.began) * 1000)

    def write(self, said: dict[str, Any], caller: dict[str, Any] | None = None) -> None:
        """Write the line; a log that cannot be written is no reason for a tool to fail."""
        if not self.log:
            return
        line = encode({"ts": now(), "tool": self.tool, **(caller or {}), **self.arguments, **said})
        try:
            file = posix.open(self.log, APPENDING, PRIVATE)
            try:
                posix.write(file, line + b"\n")
            finally:
                posix.close(file)
        except OSError as problem:
            posix.write(2, f"a line of the log is lost: {problem}\n".encode())


def refused(message: str) -> Result:
    """Return the result of a call that failed: its message, as JSON."""
    return {"content": [{"type": "text", "text": quote(message)}], "isError": True}


def now() -> str:
    """Return the time as JavaScript writes it."""
    seconds = time()
    year, month, day, hour, minute, second, *_ = gmtime(seconds)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{int(seconds * 1000) % 1000:03}Z"


def destroy() -> None:
    """Have every module let go of what it holds, for the process ends."""
    while modules:
        name, module = modules.popitem()
        end = getattr(module, "destroy", None)
        try:
            value: Any = end() if end is not None else None
            if hasattr(value, "__await__"):
                run(finished(value))
        except Exception as problem:  # noqa: BLE001 - one that fails keeps no other from being destroyed
            posix.write(2, f"{name} could not be destroyed: {problem}\n".encode("utf-8", "backslashreplace"))


async def finished(value: Awaitable[Any]) -> None:
    """Wait for a function that is asynchronous."""
    await value
