"""Server-sent events: the events of a stream, and the response that sends them while a client listens.

An `EventStream` with a name can be resumed: its events have ids, and the newest of them are stored for a client that
reconnects. An `SseResponse` is one response. Unsent output is bounded: above one limit notifications are dropped, above
another the response is abandoned.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop, sleep, timeout
from collections import deque
from collections.abc import Callable

from mcpc_runtime.http.memory_budget import EVENT_COST, MemoryAccount
from mcpc_runtime.http.replies import CHUNK_SIZE, Pairs, Receive, Send
from mcpc_runtime.http.settings import HttpSettings

COMMENT = b":\n\n"
POLL_SECONDS = 0.05
MAX_UNSENT_NOTIFIED = 1 << 20
"""With more unsent bytes than this, notifications are dropped."""
MAX_UNSENT = 64 << 20
"""Maximum bytes that are sent at once, and so the maximum of a stream that the connection buffers."""
NOTIFICATION = b'{"jsonrpc":"2.0","method":'


def message_event(line: bytes) -> bytes:
    """Return a message as an event; it may be large, and is copied once."""
    return b"".join((b"event: message\ndata: ", memoryview(line)[: len(line) - line.endswith(b"\n")], b"\n\n"))


class SseResponse:
    """One response of events: callbacks of the loop write to it, the request's coroutine sends (`pump`).

    `account`: charged for events that are not sent yet.  `gone`: nothing more can be sent.
    """

    __slots__ = ("_partial", "account", "chunks", "finished", "gone", "size", "waiter")

    def __init__(self, account: MemoryAccount | None = None) -> None:
        self.account = account
        self.chunks: deque[bytes] = deque()
        self._partial = memoryview(b"")
        self.size = 0
        self.finished = self.gone = False
        self.waiter: Future[None] | None = None

    def write(self, event: bytes) -> None:
        """Queue an event; abandon the response if too much is unsent, or if the memory budget has no room."""
        if self.gone or self.finished:
            return
        if self.account is not None and not self.account.charge(len(event) + EVENT_COST):
            self.abandon()
            return
        self.chunks.append(event)
        self.size += len(event)
        if self.size > MAX_UNSENT:
            self.abandon()
        self._wake()

    def finish(self) -> None:
        """End the response after the queued events."""
        self.finished = True
        self._wake()

    def abandon(self) -> None:
        """Send nothing more and discard what is queued: the client has disconnected, or is too slow."""
        self.gone = True
        self.chunks.clear()
        self._partial = memoryview(b"")
        self.size = 0
        if self.account is not None:
            self.account.clear()
        self._wake()

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def _next_chunk(self) -> bytes:
        """Return the next bytes to send: small events together, a large one in parts, which is charged to its end."""
        parts: list[bytes] = []
        size = released = 0
        while size < CHUNK_SIZE and (self._partial or self.chunks):
            if not self._partial:
                event = self.chunks.popleft()
                released += EVENT_COST
                if size + len(event) <= CHUNK_SIZE:
                    parts.append(event)
                    size += len(event)
                    released += len(event)
                    continue
                self._partial = memoryview(event)
            part = self._partial[: CHUNK_SIZE - size]
            self._partial = self._partial[len(part) :]
            parts.append(bytes(part))
            size += len(part)
            if not self._partial:
                # All of it only now: until its last part is sent, the whole event is in memory.
                released += memoryview(part.obj).nbytes
        self.size -= size
        if self.account is not None:
            self.account.release(released)
        return b"".join(parts)

    async def pump(self, send: Send, headers: Pairs, settings: HttpSettings) -> None:
        """Send events until the end, and a comment after a while without events; abandon a client that stalls."""
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            while not self.gone:
                if self._partial or self.chunks or self.finished:
                    data = self._next_chunk()
                    is_last = self.finished and not (self._partial or self.chunks)
                    async with timeout(settings.write_seconds):
                        await send({"type": "http.response.body", "body": data, "more_body": not is_last})
                    if is_last:
                        return
                elif not await self._wait(settings.comment_seconds):
                    self.write(COMMENT)
        except (TimeoutError, OSError):
            self.gone = True

    async def _wait(self, seconds: float) -> bool:
        """Wait for an event or the end; return False if there was neither for so many seconds."""
        loop = get_running_loop()
        self.waiter = waiter = loop.create_future()
        timer = loop.call_later(seconds, lambda: None if waiter.done() else waiter.set_result(None))
        try:
            await waiter
        finally:
            timer.cancel()
            self.waiter = None
        return bool(self._partial or self.chunks) or self.finished or self.gone


class EventStream:
    """One stream of events, and the response that sends them, if one is open.

    `name`: the part of its event ids that names it, empty if it cannot be resumed.  `on_store`: called with each event
    that is stored, and its size, to limit them.  `expires`: when stored events of an ended stream are discarded.
    """

    __slots__ = ("ended", "events", "expires", "last_number", "name", "on_store", "response", "stored_bytes")

    def __init__(self, name: bytes = b"", keep: Callable[[EventStream, int], None] | None = None) -> None:
        self.name = name
        self.on_store = keep
        self.last_number = 0
        self.events: list[tuple[int, bytes]] = []
        self.stored_bytes = 0
        self.ended = False
        self.response: SseResponse | None = None
        self.expires = 0.0

    def send(self, line: bytes) -> None:
        """Send one message; a notification is dropped if too much is unsent."""
        response = self.response
        if response is not None and response.size > MAX_UNSENT_NOTIFIED and line.startswith(NOTIFICATION):
            return
        self._send_event(message_event(line))

    def send_retry(self, retry_ms: int) -> None:
        """Send an event without a message, whose id and retry time the client uses to reconnect (2025-11-25)."""
        self._send_event(b"retry: %d\ndata: \n\n" % retry_ms)

    def _send_event(self, event: bytes) -> None:
        if self.name:
            self.last_number += 1
            event = b"id: %b.%d\n%b" % (self.name, self.last_number, event)
            self.events.append((self.last_number, event))
            self.stored_bytes += len(event)
            if self.on_store is not None:
                self.on_store(self, len(event))
        if self.response is not None:
            self.response.write(event)

    def trim(self, most: int, most_bytes: int) -> int:
        """Discard the oldest events above the limits, never the newest; return how many bytes they had."""
        before = self.stored_bytes
        while len(self.events) > 1 and (len(self.events) > most or self.stored_bytes > most_bytes):
            self.stored_bytes -= len(self.events.pop(0)[1])
        return before - self.stored_bytes

    def end(self) -> None:
        """End the stream, and its response."""
        self.ended = True
        if self.response is not None:
            self.response.finish()

    def close_response(self) -> None:
        """End the response; further events wait until the client reconnects."""
        if self.response is not None:
            self.response.finish()
        self.response = None

    def attach(self, response: SseResponse, after: int) -> None:
        """Continue on another response, after the event of this number."""
        if self.response is not None:
            self.response.finish()
        self.response = response
        # What the client has not got, as it says by the id of its last event.
        for number, event in self.events:
            if number > after:
                response.write(event)
        if self.ended:
            response.finish()


async def wait_for_disconnect(receive: Receive, disconnected: Callable[[], None]) -> None:
    """Call `disconnected` when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        await sleep(POLL_SECONDS)  # some servers repeat the end of a request that was read already
    disconnected()


async def serve_stream(
    response: SseResponse, receive: Receive, send: Send, headers: Pairs, settings: HttpSettings
) -> None:
    """Send a response until its end, or until the client disconnects."""
    watcher = get_running_loop().create_task(wait_for_disconnect(receive, response.abandon))
    try:
        await response.pump(send, headers, settings)
    finally:
        response.abandon()
        watcher.cancel()
