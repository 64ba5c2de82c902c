"""Transports: their streams only stand for those of the built server, which serves HTTP itself."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcpc_runtime.systems.fastmcp.program import NotStartedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Stream:
    """An end of a transport; the built server reads and writes itself."""

    async def aclose(self) -> None:
        """Do nothing."""

    async def __aenter__(self) -> Stream:
        """Return the stream."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Do nothing."""


@asynccontextmanager
async def stdio_server(stdin: Any = None, stdout: Any = None) -> AsyncIterator[tuple[Stream, Stream]]:
    """Return the streams that `Server.run` is given."""
    yield Stream(), Stream()


class SseServerTransport:
    """Accepts what a project tells it."""

    def __init__(self, endpoint: str, *_: Any, **__: Any) -> None:
        self.endpoint = endpoint

    @asynccontextmanager
    async def connect_sse(self, scope: Any, receive: Any, send: Any) -> AsyncIterator[tuple[Stream, Stream]]:
        """Return streams that stand for those of the built server."""
        yield Stream(), Stream()

    async def handle_post_message(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse: no framework serves HTTP."""
        raise NotStartedError("requests are served by the built file")


StreamId = str
EventId = str
EventCallback = Any
MCP_PROTOCOL_VERSION_HEADER = "mcp-protocol-version"
MCP_SESSION_ID_HEADER = "mcp-session-id"


@dataclass
class EventMessage:
    """A message of a stream."""

    message: Any
    event_id: str | None = None


class EventStore:
    """Keeps the messages of streams; no message reaches it."""


DEFAULT_MAX_SESSIONS = 10_000
DEFAULT_SESSION_IDLE_TIMEOUT = 1800


class StreamableHTTPSessionManager:
    """Accepts what a project tells it; a built server keeps the sessions."""

    def __init__(self, app: Any, *_: Any, **__: Any) -> None:
        self.app = app

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Do nothing."""
        yield

    async def handle_request(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse: no framework serves HTTP."""
        raise NotStartedError("requests are served by the built file")
