"""Server-sent events: the events of a stream, and the response that sends them while a client listens.

An `EventStream` with a name can be resumed: its events have ids, and the newest of them are stored for a client that
reconnects. An `SseResponse` is one response. Unread output is bounded: notifications are dropped first, then the
client.
"""

from __future__ import annotations

from asyncio import get_running_loop, sleep, timeout
from collections import deque

from mcpc_runtime.http.memory_budget import EVENT_COST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from mcpc_runtime.http.memory_budget import MemoryAccount
    from mcpc_runtime.http.replies import Pairs, Receive, Send
    from mcpc_runtime.http.settings import HttpSettings

COMMENT = b":\n\n"
POLLED_SECONDS = 0.05
FAR_BEHIND = 1 << 20
"""With so much not taken yet, notifications are not told."""
TOO_FAR_BEHIND = 64 << 20
PIECE = 1 << 17
"""So much is sent at once: the connection keeps no more of a stream than this."""
NOTIFICATION = b'{"jsonrpc":"2.0","method":'


class SseResponse:
    """One response of events: written to by the loop's callbacks, pumped by the request's own coroutine.

    `account`: what is charged for events that are not sent yet.
    """

    __slots__ = ("_rest", "account", "chunks", "finished", "gone", "size", "waiter")

    def __init__(self, account: MemoryAccount | None = None) -> None:
        self.account = account
        self.chunks: deque[bytes] = deque()
        self._rest = memoryview(b"")
        self.size = 0
        self.finished = self.gone = False
        self.waiter: Future[None] | None = None

    def write(self, event: bytes) -> None:
        """Have something sent; give up a client that takes nothing, or if the memory budget has no room."""
        if self.gone or self.finished:
            return
        if self.account is not None and not self.account.charge(len(event) + EVENT_COST):
            self.lose()
            return
        self.chunks.append(event)
        self.size += len(event)
        if self.size > TOO_FAR_BEHIND:
            self.lose()
        self._wake()

    def finish(self) -> None:
        """End the response after what was written."""
        self.finished = True
        self._wake()

    def lose(self) -> None:
        """Send nothing more, and keep nothing: the client has gone, or is given up."""
        self.gone = True
        self.chunks.clear()
        self._rest = memoryview(b"")
        self.size = 0
        if self.account is not None:
            self.account.clear()
        self._wake()

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def _take(self) -> bytes:
        """Return what is to be sent next: small events together, a large one in pieces."""
        parts: list[bytes] = []
        size = released = 0
        while size < PIECE and (self._rest or self.chunks):
            if not self._rest:
                event = self.chunks.popleft()
                released += EVENT_COST
                if size + len(event) <= PIECE:
                    parts.append(event)
                    size += len(event)
                    continue
                self._rest = memoryview(event)
            part = self._rest[: PIECE - size]
            self._rest = self._rest[len(part) :]
            parts.append(bytes(part))
            size += len(part)
        self.size -= size
        if self.account is not None:
            self.account.release(released + size)
        return b"".join(parts)

    async def pump(self, send: Send, headers: Pairs, settings: HttpSettings) -> None:
        """Send until the end; a sign of life where there is nothing else, and no patience with who takes nothing."""
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            while not self.gone:
                if self._rest or self.chunks or self.finished:
                    data = self._take()
                    is_last = self.finished and not (self._rest or self.chunks)
                    async with timeout(settings.write_seconds):
                        await send({"type": "http.response.body", "body": data, "more_body": not is_last})
                    if is_last:
                        return
                elif not await self._wait(settings.comment_seconds):
                    self.write(COMMENT)
        except (TimeoutError, OSError):
            self.gone = True

    async def _wait(self, seconds: float) -> bool:
        """Wait until there is something to do; False if there was nothing for so long."""
        loop = get_running_loop()
        self.waiter = waiter = loop.create_future()
        timer = loop.call_later(seconds, lambda: None if waiter.done() else waiter.set_result(None))
        try:
            await waiter
        finally:
            timer.cancel()
            self.waiter = None
        return bool(self._rest or self.chunks) or self.finished or self.gone


class EventStream:
    """What is said on one stream, to a pipe if there is one; `name`: of one that can be resumed.

    `keep` is told of each event that is kept, and its size: it decides how much may be.
    """

    __slots__ = ("ended", "events", "held", "keep", "name", "number", "pipe", "until")

    def __init__(self, name: bytes = b"", keep: Callable[[EventStream, int], None] | None = None) -> None:
        self.name = name
        self.keep = keep
        self.number = 0
        self.events: list[tuple[int, bytes]] = []
        self.held = 0
        self.ended = False
        self.pipe: SseResponse | None = None
        self.until = 0.0

    def put(self, line: bytes) -> None:
        """Say one message."""
        pipe = self.pipe
        if pipe is not None and pipe.size > FAR_BEHIND and line.startswith(NOTIFICATION):
            return
        self._say(b"event: message\ndata: %b\n\n" % line.rstrip(b"\n"))

    def prime(self, retry_ms: int) -> None:
        """Say from where the client can come back, and when, before anything else is said (2025-11-25)."""
        self._say(b"retry: %d\ndata: \n\n" % retry_ms)

    def _say(self, event: bytes) -> None:
        if self.name:
            self.number += 1
            event = b"id: %b.%d\n%b" % (self.name, self.number, event)
            self.events.append((self.number, event))
            self.held += len(event)
            if self.keep is not None:
                self.keep(self, len(event))
        if self.pipe is not None:
            self.pipe.write(event)

    def trim(self, most: int, most_bytes: int) -> int:
        """Forget the oldest events that are too many, never the newest; return how many bytes that were."""
        before = self.held
        while len(self.events) > 1 and (len(self.events) > most or self.held > most_bytes):
            self.held -= len(self.events.pop(0)[1])
        return before - self.held

    def end(self) -> None:
        """Say nothing more."""
        self.ended = True
        if self.pipe is not None:
            self.pipe.finish()

    def close_response(self) -> None:
        """End the response; further events wait until the client reconnects."""
        if self.pipe is not None:
            self.pipe.finish()
        self.pipe = None

    def attach(self, pipe: SseResponse, after: int) -> None:
        """Say what was said after an event to another response, and all that follows."""
        if self.pipe is not None:
            self.pipe.finish()
        self.pipe = pipe
        for number, event in self.events:
            if number > after:
                pipe.write(event)
        if self.ended:
            pipe.finish()


async def leaving(receive: Receive, leave: Callable[[], None]) -> None:
    """Call `leave` when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        await sleep(POLLED_SECONDS)  # a server that goes on about a request that it has given us whole
    leave()


async def stream(pipe: SseResponse, receive: Receive, send: Send, headers: Pairs, settings: HttpSettings) -> None:
    """Send what is written to a pipe until its end, or until the client goes."""
    watcher = get_running_loop().create_task(leaving(receive, pipe.lose))
    try:
        await pipe.pump(send, headers, settings)
    finally:
        pipe.lose()
        watcher.cancel()
