"""HTTP replies: a status for each JSON-RPC error code, and the headers that forbid caching."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from mcpc_runtime.protocol.constants import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcpc_runtime.protocol.jsonrpc import Json, encode

Pairs = list[tuple[bytes, bytes]]
Reply = tuple[int, Pairs, bytes]
"""Status, headers, body."""
Client = tuple[str, int] | None
"""The address and port of the other end of the connection, None if unknown."""
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class PendingReply(Protocol):
    """A reply that is not ready yet, or is too long to be sent at once."""

    async def serve(self, receive: Receive, send: Send, more: Pairs) -> Reply | None:
        """Return the reply when it is ready, or send it here, with `more` headers, and return None."""
        ...


Answer = Reply | PendingReply


STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""HTTP status of each error code in the stateless era; all other replies have 200."""
STATUS_BEFORE = {PARSE_ERROR: 400, INVALID_REQUEST: 400}
"""HTTP status of each error code before 2026-07-28; all other errors are sent with 200."""
PROTECTED: Pairs = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
JSON: Pairs = [(b"content-type", b"application/json"), *PROTECTED]
PLAIN: Pairs = [(b"content-type", b"text/plain; charset=utf-8"), *PROTECTED]
EVENTS: Pairs = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-store"),
    (b"x-content-type-options", b"nosniff"),
    # nginx would collect events in a buffer.
    (b"x-accel-buffering", b"no"),
]
METHODS = b"GET, POST, DELETE, OPTIONS"
NO_ID = b'{"jsonrpc":"2.0","id":null,'
NO_CONTENT = (204, 304)
"""A reply with this status has no body and no Content-Length (RFC 9110, 8.6)."""
REQUEST_HEADERS = (b"authorization", b"content-type", b"last-event-id", b"mcp-session-id", b"mcp-protocol-version",
                   b"mcp-method", b"mcp-name")  # fmt: skip
"""The headers that a page may send, besides those that repeat arguments."""
repeats_argument = re.compile(rb"mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+").fullmatch
CHUNK_SIZE = 1 << 17
"""Maximum bytes of a body that are sent at once: only so many are buffered twice for a slow client."""
RETRY: Pairs = [(b"retry-after", b"1")]


def error(status: int, code: int, message: str, identifier: Json = None, more: Pairs | None = None) -> Reply:
    """Return an error as JSON-RPC; without an id if there is none (2026-07-28, Sending Messages)."""
    response: dict[str, Json] = {"jsonrpc": "2.0"}
    if type(identifier) is str or type(identifier) is int:
        response["id"] = identifier
    response["error"] = {"code": code, "message": message}
    return status, JSON + (more or []), encode(response)


def refuse(status: int, message: str, more: Pairs | None = None) -> Reply:
    """Return the refusal of an HTTP request that never became a JSON-RPC request."""
    return error(status, INVALID_REQUEST, message, None, more)


def preflight(methods: bytes, fields: dict[bytes, bytes]) -> Pairs:
    """Return the CORS headers that list the methods and headers that a page may use."""
    requested = [name.strip() for name in fields.get(b"access-control-request-headers", b"").lower().split(b",")]
    allowed = b", ".join([*REQUEST_HEADERS, *dict.fromkeys(filter(repeats_argument, requested))])
    # For 600 seconds a browser need not ask again.
    return [(b"access-control-allow-methods", methods), (b"access-control-allow-headers", allowed),
            (b"access-control-max-age", b"600")]  # fmt: skip


def remove_null_id(line: bytes) -> bytes:
    """Return an error without its id if the id is null: over HTTP it has to be omitted."""
    return b'{"jsonrpc":"2.0",' + line[len(NO_ID) :] if line.startswith(NO_ID) else line


def accepted() -> Reply:
    """Return the reply to notifications and responses: 202 without a body."""
    return 202, PROTECTED, b""


async def respond(send: Send, reply: Reply) -> None:
    """Send a complete reply."""
    status, headers, body = reply
    length = [] if status in NO_CONTENT else [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers + length})
    at = 0
    while len(body) - at > CHUNK_SIZE:  # each chunk waits until most of the previous one was sent
        await send({"type": "http.response.body", "body": body[at : at + CHUNK_SIZE], "more_body": True})
        at += CHUNK_SIZE
    await send({"type": "http.response.body", "body": body[at:]})
