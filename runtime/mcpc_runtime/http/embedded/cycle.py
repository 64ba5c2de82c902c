"""One request and its answer through ASGI, on a connection of the embedded server.

Head and body of an answer are written together if the body has a length.  A body without a length is sent in chunks, or
until the connection is closed for a client of HTTP/1.0.
"""

from __future__ import annotations

from asyncio import Event, sleep
from collections.abc import Awaitable
from typing import Protocol

from uvicorn.protocols.http.flow_control import FlowControl

from mcpc_runtime.http.embedded.messages import BAD_REQUEST, ChunkedBody, ChunkError, Pairs, RequestHead
from mcpc_runtime.http.replies import Message, Reply
from mcpc_runtime.log import log_failure, log_line


class CycleConnection(Protocol):
    """The connection of a request."""

    flow: FlowControl

    def write(self, data: bytes) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def abort(self) -> None: ...
    def refuse(self, status: int, reason: str) -> None: ...
    def body_ended(self) -> None: ...
    def body_read(self) -> None: ...
    def answer_ended(self, cycle: RequestCycle) -> None: ...
    def finish(self, cycle: RequestCycle, reply: Reply, more: Pairs) -> None: ...
    def response_head(self, status: int, headers: Pairs) -> bytes: ...


MAX_BUFFERED = 1 << 16
"""Maximum bytes of a body that are buffered before reading pauses."""
# These have no body, whatever their headers say (RFC 9112, section 6.3).
BODILESS = frozenset({204, 304})
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
DISCONNECT: Message = {"type": "http.disconnect"}


class RequestCycle:
    """A request that a task answers, with `receive` and `send` of ASGI.

    `body`: what has arrived of it, None if the application has it already.  `more`: the body is not complete.
    `chunks`: a chunked body, decoded when it is read.  `gone`: the client has disconnected.
    """

    __slots__ = ("_body", "_chunked", "_connection", "_event", "_is_expected", "_is_read", "_pending",
                 "chunks", "closes", "complete", "gone", "head", "more", "started")  # fmt: skip

    def __init__(
        self,
        connection: CycleConnection,
        head: RequestHead,
        body: bytes | None,
        *,
        more: bool = False,
        chunks: ChunkedBody | None = None,
    ) -> None:
        self._connection = connection
        self.head = head
        self._body = body or b""
        self._event: Event | None = None
        self._is_read = body is None
        self._chunked = False
        self._pending = b""
        self._is_expected = head.expects
        self.chunks = chunks
        self.more = more
        self.started = self.complete = self.gone = False
        self.closes = head.closes

    async def run(self, answering: Awaitable[Reply | None], more: Pairs) -> None:
        """Await the answer, a reply to send or None after it was sent; log an error, and refuse the request."""
        problem, reply = "nothing was answered", None
        try:
            reply = await answering
        except Exception as failure:  # noqa: BLE001 - an error in one request is the answer to that request
            log_failure(failure)
            problem = f"{type(failure).__name__}: {failure}"
        if self.complete or self.gone:
            return
        if reply is not None:
            self.complete = True
            self._connection.finish(self, reply, more)
            return
        log_line(f"a request to {self.head.path} failed: {problem}")
        if self.started:
            self._connection.abort()
        else:
            self._connection.refuse(500, "internal error")

    def feed(self, data: bytes, *, more: bool) -> None:
        """Add a part of the body."""
        self.more = more
        self._body += data
        if more and len(self._body) > MAX_BUFFERED:
            self._connection.pause()
        self._wake()

    @property
    def buffered(self) -> int:
        """How many bytes of the body the application has not read."""
        return len(self._body) + (0 if self.chunks is None else self.chunks.size)

    def feed_chunks(self, data: bytes) -> None:
        """Add a part of a chunked body, not decoded."""
        if self.chunks is not None and self.more:
            self.chunks.feed(data)
            if self.chunks.size > MAX_BUFFERED:
                self._connection.pause()
            self._wake()

    def _decode(self, chunks: ChunkedBody) -> None:
        """Decode a part of a chunked body; refuse a malformed one."""
        try:
            self._body += chunks.decode()
        except ChunkError as problem:
            self._connection.refuse(BAD_REQUEST, str(problem))
            return
        self.more = not chunks.ended
        if not self.more:
            self._connection.body_ended()

    def disconnected(self) -> None:
        """Handle that the client has disconnected."""
        self.gone = True
        self._wake()

    def _wake(self) -> None:
        if self._event is not None:
            self._event.set()

    async def receive(self) -> Message:
        """Return what has arrived of the body; after its end wait until the client disconnects."""
        # Only when the application reads: a request that is refused by its head never sends the body.
        if self._is_expected and self.more and not self._body and (self.chunks is None or not self.chunks.size):
            self._connection.write(CONTINUE)
        self._is_expected = False
        while not self.gone and not self.complete and (self._is_read or (self.more and not self._body)):
            if self.chunks is not None and self.more and not self.chunks.is_starved:
                self._decode(self.chunks)
                await sleep(0)  # other requests run before more is decoded
                continue
            self._event = self._event or Event()
            self._connection.resume()
            await self._event.wait()
            self._event.clear()
        if self.gone or self.complete:
            return DISCONNECT
        body, self._body = self._body, b""
        self._is_read = not self.more
        if body:
            self._connection.body_read()
        return {"type": "http.request", "body": body, "more_body": not self._is_read}

    async def send(self, message: Message) -> None:
        """Send a part of the answer; wait while the client does not accept it."""
        if self._connection.flow.write_paused and not self.gone:
            await self._connection.flow.drain()
        if self.gone:
            return
        if message["type"] == "http.response.start":
            self._start(message["status"], list(message.get("headers", ())))
        else:
            self._continue(message.get("body", b""), more=message.get("more_body", False))

    def _start(self, status: int, headers: Pairs) -> None:
        """Begin the answer; its head is written with the body if that has a length."""
        if self.started:
            raise RuntimeError("the answer was started already")
        self.started = True
        names = [name.lower() for name, _ in headers]
        has_length = b"content-length" in names
        if not has_length and status not in BODILESS:
            self._chunked = self.head.version == "1.1"
            if self._chunked:
                headers.append((b"transfer-encoding", b"chunked"))
            else:
                self.closes = True
        # The rest of a body that was not read is not awaited.
        self.closes = self.closes or self.more or b"connection" in names
        if self.closes and b"connection" not in names:
            headers.append((b"connection", b"close"))
        # Kept until the first part of the body, so that both are one write.
        self._pending = self._connection.response_head(status, headers) + b"\r\n"
        if not has_length:
            self._write(b"")

    def _continue(self, body: bytes, *, more: bool) -> None:
        """Send a part of the body; the last one ends the request."""
        if not self.started or self.complete:
            raise RuntimeError("the answer was not started, or is complete")
        if self.head.method == "HEAD":
            body = b""
        elif self._chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        self._write(body)
        if not more:
            self.complete = True
            self._wake()
            self._connection.answer_ended(self)

    def _write(self, data: bytes) -> None:
        pending, self._pending = self._pending, b""
        if pending or data:
            self._connection.write(pending + data)
