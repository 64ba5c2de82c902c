"""Read the whole body of a request, within limits of size and time."""

from __future__ import annotations

from asyncio import timeout

from mcpc_runtime.http.memory_budget import MemoryAccount
from mcpc_runtime.http.replies import RETRY, Receive, Reply, error, refuse
from mcpc_runtime.http.request import too_large
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_REQUEST
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.session import MAX_VALUES, TOO_MANY_VALUES
from mcpc_runtime.protocol.values import has_too_many_values

FULL = "the server keeps as much as it may (--memory-limit): try again in a moment"
CLOSE = [(b"connection", b"close")]


def no_room(identifier: Json = None) -> Reply:
    """Return the refusal of a request for which the memory budget has no room."""
    return error(503, INTERNAL_ERROR, f"Internal error: {FULL}", identifier, RETRY)


def refuse_values(body: bytes) -> Reply | None:
    """Return the refusal of a message with too many values, before it is parsed."""
    if len(body) <= MAX_VALUES or not has_too_many_values(body):
        return None
    return error(413, INVALID_REQUEST, TOO_MANY_VALUES)


async def read_body(
    receive: Receive, length: int, limit: int, seconds: float, account: MemoryAccount
) -> bytes | Reply | None:
    """Return the body; a refusal if it is too long or does not arrive; None if the client has disconnected.

    A body of `length` bytes is complete: some servers report its end only in another message.  Read bytes are charged
    to `account`, which the caller clears.
    """
    message = await receive()
    body: bytes = message.get("body", b"")
    if message.get("more_body") and len(body) != length:
        read = bytearray(body)
        try:
            async with timeout(seconds):
                while message.get("more_body") and len(read) <= limit and len(read) != length:
                    message = await receive()
                    read += message.get("body", b"")
                    if not account.set(len(read)):
                        return error(503, INTERNAL_ERROR, f"Internal error: {FULL}", None, RETRY + CLOSE)
        except TimeoutError:
            return refuse(408, "the body did not arrive in time", CLOSE)
        body = bytes(read)
    if message["type"] == "http.disconnect":
        return None
    return too_large(limit) if len(body) > limit else body
