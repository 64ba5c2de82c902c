"""Answers as HTTP has them: a status for each JSON-RPC error code, and headers that let nobody keep them."""

from __future__ import annotations

import re

from mcpc_runtime.protocol.facts import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json

    Pairs = list[tuple[bytes, bytes]]
    Reply = tuple[int, Pairs, bytes]
    """Status, headers, body."""
    Client = tuple[str, int] | None
    """Who is at the other end of the connection: address and port, where they are known."""
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""Of the errors of the stateless era; any other answer is 200."""
STATUS_BEFORE = {PARSE_ERROR: 400, INVALID_REQUEST: 400}
"""Of those of the handshake era, where an error that answers a request is an answer like any other."""
PROTECTED: Pairs = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
JSON: Pairs = [(b"content-type", b"application/json"), *PROTECTED]
PLAIN: Pairs = [(b"content-type", b"text/plain; charset=utf-8"), *PROTECTED]
EVENTS: Pairs = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-accel-buffering", b"no"),
]
METHODS = b"GET, POST, DELETE, OPTIONS"
NO_ID = b'{"jsonrpc":"2.0","id":null,'
NO_CONTENT = 204
"""An answer that has no body, and says nothing of its length (RFC 9110, 8.6)."""
SENT = (b"authorization", b"content-type", b"last-event-id", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method",
        b"mcp-name")  # fmt: skip
"""The headers that a page may send; and those that repeat arguments, of which each tool has its own."""
repeats_argument = re.compile(rb"mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+").fullmatch
PIECE = 1 << 17
"""A longer body is sent in pieces, so that what a client does not take is kept once."""
RETRY: Pairs = [(b"retry-after", b"1")]


def error(status: int, code: int, words: str, identifier: Json = None, more: Pairs | None = None) -> Reply:
    """Return an error as JSON-RPC; without an id if there is none (2026-07-28, Sending Messages)."""
    said: dict[str, Json] = {"jsonrpc": "2.0"}
    if type(identifier) is str or type(identifier) is int:
        said["id"] = identifier
    said["error"] = {"code": code, "message": words}
    return status, JSON + (more or []), encode(said)


def refuse(status: int, words: str, more: Pairs | None = None) -> Reply:
    """Return the refusal of a request that is none of the protocol's."""
    return error(status, INVALID_REQUEST, words, None, more)


def preflight(methods: bytes, fields: dict[bytes, bytes]) -> Pairs:
    """Return what tells a browser which methods and headers a page may use, of those that it asks for."""
    asked = [one.strip() for one in fields.get(b"access-control-request-headers", b"").lower().split(b",")]
    sent = b", ".join([*SENT, *dict.fromkeys(filter(repeats_argument, asked))])
    return [(b"access-control-allow-methods", methods), (b"access-control-allow-headers", sent),
            (b"access-control-max-age", b"600")]  # fmt: skip


def without_null(line: bytes) -> bytes:
    """Return an error without an id, where the id is null: over HTTP it can be left out, and has to be."""
    return b'{"jsonrpc":"2.0",' + line[len(NO_ID) :] if line.startswith(NO_ID) else line


def accepted() -> Reply:
    """Return the answer to what needs none."""
    return 202, PROTECTED, b""


async def respond(send: Send, reply: Reply) -> None:
    """Send a whole answer."""
    status, headers, body = reply
    length = [] if status == NO_CONTENT else [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers + length})
    at = 0
    while len(body) - at > PIECE:  # each piece waits until the client has taken most of the one before
        await send({"type": "http.response.body", "body": body[at : at + PIECE], "more_body": True})
        at += PIECE
    await send({"type": "http.response.body", "body": body[at:]})
