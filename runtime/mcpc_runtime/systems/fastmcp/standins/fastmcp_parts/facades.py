"""What projects find where they reach into a server: the low-level server, settings; lifespans as objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.context import current_context
from mcpc_runtime.systems.fastmcp.engine.server import lack
from mcpc_runtime.systems.fastmcp.interfaces import Object

DEFAULTS = {"host": "127.0.0.1", "port": 8000, "log_level": "INFO", "debug": False, "stateless_http": False}


def server_settings(options: Object) -> SimpleNamespace:
    """Return the settings of a server: what says how it is served."""
    return SimpleNamespace(**DEFAULTS | {name: options[name] for name in DEFAULTS if options.get(name) is not None})


class LowLevel:
    """The low-level server: the current request is what projects want of it."""

    def __init__(self, server: Any) -> None:
        self.__dict__.update(name=server.name, version=server.version, instructions=server.instructions)

    @property
    def request_context(self) -> object:
        """The current request; None or LookupError outside of one."""
        found = current_context()
        if found is None or found._call is None:
            raise LookupError("request_ctx")
        return found.request_context

    def __getattr__(self, name: str) -> object:
        """Accept what a program registers, and say that the adapter does not have it."""
        if name.startswith("__"):
            raise AttributeError(name)
        lack(f"fastmcp.FastMCP._mcp_server({name})")
        return lambda *_, **__: lambda function: function

    def __setattr__(self, name: str, value: object) -> None:
        lack(f"fastmcp.FastMCP._mcp_server({name})")


class Lifespan:
    """What is entered when a server starts.  `first | second` joins two: their dictionaries are one."""

    def __init__(self, function: Callable[[object], object]) -> None:
        self._function = function

    def __call__(self, server: object) -> object:
        return self._function(server)

    def __or__(self, other: object) -> Lifespan:
        """Return this lifespan combined with another one; TypeError: that is not a Lifespan."""
        if not isinstance(other, Lifespan):
            raise TypeError(f"Cannot compose Lifespan with {type(other).__name__}; use @lifespan or combine_lifespans")
        return Lifespan(combined(self, other))


class ContextManagerLifespan(Lifespan):
    """A lifespan made of a function that returns an asynchronous context manager."""


def combined(*lifespans: Any) -> Callable[[Any], Any]:
    """Return a lifespan of several, left in the opposite order."""

    @asynccontextmanager
    async def enter(server: Any) -> AsyncIterator[Object]:
        async with AsyncExitStack() as stack:
            found: Object = {}
            for each in lifespans:
                found |= await stack.enter_async_context(each(server)) or {}
            yield found

    return enter


def lifespan(function: Any) -> Lifespan:
    """Make a lifespan of an asynchronous generator."""
    return Lifespan(asynccontextmanager(function))


def combine_lifespans(*lifespans: object) -> Callable[[object], object]:
    return combined(*lifespans)
