"""The body of a request, read whole: within a size and a time, and never after the client has gone."""

from __future__ import annotations

from asyncio import timeout

from mcpc_runtime.http.replies import refuse
from mcpc_runtime.http.said import too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.replies import Receive, Reply


async def read_body(receive: Receive, length: int, limit: int, seconds: float) -> bytes | Reply | None:
    """Return the body; a refusal if it is too long or does not come; None if the client has left.

    A body that has its `length` is whole: some servers say only in a further message that nothing more comes.
    """
    message = await receive()
    body: bytes = message.get("body", b"")
    if message.get("more_body") and len(body) != length:
        chunks, size = [body], len(body)
        try:
            async with timeout(seconds):
                while message.get("more_body") and size <= limit and size != length:
                    message = await receive()
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
        except TimeoutError:
            return refuse(408, "the body did not come in time", [(b"connection", b"close")])
        body = b"".join(chunks)
    if message["type"] == "http.disconnect":
        return None
    return too_large(limit) if len(body) > limit else body
