"""Server-sent events: what is said on a stream, and the response that carries it as long as somebody listens.

A `Feed` is what is said; with a name it can be resumed: its events have ids, and the last of them are kept for a client
that comes back.  A `Pipe` is one response.  What a client does not take is bounded: notifications are lost first, then
the client.
"""

from __future__ import annotations

from asyncio import get_running_loop, sleep, timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from mcpc_runtime.http.replies import Pairs, Receive, Send
    from mcpc_runtime.http.settings import Settings

COMMENT = b":\n\n"
POLLED_SECONDS = 0.05
FAR_BEHIND = 1 << 20
"""With so much not taken yet, notifications are not told."""
TOO_FAR_BEHIND = 64 << 20
NOTIFICATION = b'{"jsonrpc":"2.0","method":'


class Pipe:
    """One response of events: written to by the loop's callbacks, pumped by the request's own coroutine."""

    __slots__ = ("chunks", "finished", "gone", "size", "waiter")

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.size = 0
        self.finished = self.gone = False
        self.waiter: Future[None] | None = None

    def write(self, event: bytes) -> None:
        """Have something sent; give up a client that takes nothing."""
        if self.gone or self.finished:
            return
        self.chunks.append(event)
        self.size += len(event)
        if self.size > TOO_FAR_BEHIND:
            self.gone = True
        self._wake()

    def finish(self) -> None:
        """End the response after what was written."""
        self.finished = True
        self._wake()

    def lose(self) -> None:
        """The client has gone."""
        self.gone = True
        self._wake()

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    async def pump(self, send: Send, headers: Pairs, settings: Settings) -> None:
        """Send until the end; a sign of life where there is nothing else, and no patience with who takes nothing."""
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            while not self.gone:
                if self.chunks or self.finished:
                    data, is_last = b"".join(self.chunks), self.finished
                    self.chunks.clear()
                    self.size = 0
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
        return bool(self.chunks) or self.finished or self.gone


class Feed:
    """What is said on one stream, to a pipe if there is one; `name`: of one that can be resumed.

    `keep` is told of each event that is kept, and its size: it decides how much may be.
    """

    __slots__ = ("ended", "events", "held", "keep", "name", "number", "pipe", "until")

    def __init__(self, name: bytes = b"", keep: Callable[[Feed, int], None] | None = None) -> None:
        self.name = name
        self.keep = keep
        self.number = 0
        self.events: list[tuple[int, bytes]] = []
        self.held = 0
        self.ended = False
        self.pipe: Pipe | None = None
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

    def part(self) -> None:
        """End the response; what is said from now on waits for the client to come back."""
        if self.pipe is not None:
            self.pipe.finish()
        self.pipe = None

    def attach(self, pipe: Pipe, after: int) -> None:
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


async def stream(pipe: Pipe, receive: Receive, send: Send, headers: Pairs, settings: Settings) -> None:
    """Send what is written to a pipe until its end, or until the client goes."""
    watcher = get_running_loop().create_task(leaving(receive, pipe.lose))
    try:
        await pipe.pump(send, headers, settings)
    finally:
        pipe.lose()
        watcher.cancel()
