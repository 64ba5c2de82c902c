"""The handlers of a low-level server by the types of their requests, which are made when they are first asked for.

Most programs never look at them, and making pydantic models takes a tenth of the start of a small program.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from mcpc_runtime.systems.fastmcp.standins.mcp_types import selected as types

Handler = Callable[[Any], Awaitable[Any]]


class RequestHandlers(MutableMapping[Any, Handler]):
    """A mapping as projects know it; `register` and `named` know requests by the names of their types."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._kinds: dict[str, Any] = {}

    def register(self, name: str, handler: Handler) -> None:
        """Set the handler of a request of the protocol."""
        self._handlers[name] = handler

    def named(self, name: str) -> Handler | None:
        """Return the handler of a request of the protocol, if it has one."""
        return self._handlers.get(name)

    def __getitem__(self, kind: Any) -> Handler:
        """Return the handler of a type of requests."""
        name = getattr(kind, "__name__", "")
        if name not in self._handlers:
            raise KeyError(kind)
        return self._handlers[name]

    def __setitem__(self, kind: Any, handler: Handler) -> None:
        """Set the handler of a type of requests, which may be the project's own."""
        self._kinds[kind.__name__] = kind
        self._handlers[kind.__name__] = handler

    def __delitem__(self, kind: Any) -> None:
        """Remove the handler of a type of requests."""
        if kind not in self:
            raise KeyError(kind)
        del self._handlers[kind.__name__]

    def __iter__(self) -> Iterator[Any]:
        """Yield the types of requests that have handlers."""
        return iter([self._kinds.get(name) or types.find_type(name) for name in self._handlers])

    def __len__(self) -> int:
        """Return how many types have handlers."""
        return len(self._handlers)

    def __repr__(self) -> str:
        """Return what a dictionary would show."""
        return repr(dict(self))
