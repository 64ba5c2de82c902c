"""The driver of a server over standard input and output: one session over one channel.

Until a handler is called it blocks on its input and imports nothing more; from then on it waits in the reactor.
All pending work is stored in the driver, never in a thread's frames, because another thread may take over while a
handler runs inline.  Every method is called with the lock held; the lock is free while the driver waits for input and
while a handler runs inline.
"""

from __future__ import annotations

import gc
from _thread import LockType, allocate_lock
from collections.abc import Callable

from mcpc_runtime.concurrency import leader_followers
from mcpc_runtime.interfaces import ClientChannel
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import SendResponse, SendStored
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.subscriptions import close_listening
from mcpc_runtime.server.backpressure import Backpressure
from mcpc_runtime.server.driver import Driver, log_failure, receive_or_fail
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.transports.stdio import UNKNOWN

MAX_FAILURES = 100
"""After so many failed turns of the reactor in sequence the server ends."""
BROKEN = 74
"""The exit status where standard input or output failed (EX_IOERR)."""
GRACE_SECONDS = 2.0
"""How long accepted calls may run after the client closed its end."""
LAST_SECONDS = 1.0
"""How long the client may read the remaining answers after that."""


class StdioDriver(Driver):
    """One session over one channel."""

    lock: LockType

    def __init__(self, image: Image, session: Session, channel: ClientChannel, limit: int) -> None:
        super().__init__(image, allocate_lock())
        self.session = session
        session.reads_later = True
        self.channel = channel
        self.limit = limit
        self.lines: list[bytes | None] = []
        self.over = False
        self.status = self.failures = 0
        self.leave: Callable[[int], object] | None = None
        """Ends the process from a thread that is not the first one; without it, `run` returns in the first."""
        self.ended = allocate_lock()
        self.reactor: Reactor | None = None
        self._backpressure: Backpressure | None = None
        self._after_list = image.hooks("after_list")

    @property
    def full(self) -> bool:
        """Whether so much output waits for the client that messages which are not required are dropped."""
        return self.channel.full

    @property
    def clients(self) -> tuple[Session, ...]:
        """The one session."""
        return (self.session,)

    def run(self) -> None:
        """Serve until the client closes its end and its requests are answered, or until it does not read any more."""
        # A lock as an event: the thread that serves to the end releases it.
        self.ended.acquire()
        self.lock.acquire()
        try:
            self._read()
            self.run_queued()
            gc.freeze()  # collect garbage from now on, but not among the objects of the start (see `__main__.py`)
            gc.enable()
            self._drive()
        except leader_followers.LeadershipLost:  # another thread serves; this one was in a slow inline handler
            self.ended.acquire()
        finally:
            if self.dispatcher is not None:
                self.dispatcher.close()

    def serve_in_this_thread(self) -> None:
        """Continue to serve in this thread, while the previous one is in an inline handler."""
        self.lock.acquire()
        dispatcher = self.prepare()
        try:
            dispatcher.adopt()
            self.run_queued()
            self._drive()
        except leader_followers.LeadershipLost:
            raise
        except BaseException as problem:  # noqa: BLE001 - no other thread serves, so this one must end the server
            log_failure(problem)
            self._break(problem)
        if self.leave is not None:
            dispatcher.close()
            self.leave(self.status)
        self.ended.release()

    def _drive(self) -> None:
        """Serve until all is done; LeadershipLost passes through, with the lock released."""
        while not self.over:
            dispatcher = self.dispatcher
            if self.channel.ended and not self.channel.unsent and (dispatcher is None or not dispatcher.busy):
                break
            if self.reactor is None:
                self._read()
            else:
                self._turn(self.reactor)
            self.run_queued()
        # Subscriptions of the stateless era are open requests: each has to be answered before the end.
        if self.session.listening and not self.over:
            self.post_effects(close_listening(self.session, True))
            self.run_queued()

    def _turn(self, reactor: Reactor) -> None:
        """Wait for input or a timer; an error in a callback is logged, and too many in sequence end the server."""
        try:
            reactor.turn(self.lock if self.shared else None)
            self.failures = 0
        except Exception as problem:  # noqa: BLE001 - an error in one callback must not end the server
            self._survive(problem)
            self.failures += 1
            if self.failures > MAX_FAILURES:
                self._break(problem)

    def run_queued(self) -> None:
        """Perform all queued effects, callbacks and lines, and write the answers to the client."""
        try:
            super().run_queued()
            while self.lines:
                self._receive(self.lines.pop())
                super().run_queued()
            # The answers to all lines that were read at once are written at once.
            if not self.channel.flush():
                self._wait_for_client()
        except BrokenPipeError:  # the client has gone
            self.over = True
        except OSError as problem:
            self._break(problem)

    def _break(self, problem: BaseException) -> None:
        """End the server, because its input or output failed."""
        self.over, self.status = True, BROKEN
        log_line(str(problem))

    def _wake(self) -> None:
        if self.reactor is not None:
            self.reactor.wake()

    def _read(self) -> None:
        """Queue the lines that the client sent."""
        try:
            # Reversed, because `run_queued` takes lines from the end, which is cheap.
            self.lines[:0] = reversed(self.channel.read())
        except OSError as problem:
            self._break(problem)
        if self.channel.ended:
            self._end_of_input()

    def _end_with_parent(self) -> None:
        """Read no more: the client has ended, though another process may keep its end of the pipe open."""
        self.channel.ended = True
        self._end_of_input()

    def _end_of_input(self) -> None:
        if self.reactor is not None:
            self.reactor.forget(self.channel.descriptor)
            self.reactor.forget(self.channel.watch_parent())
            self.reactor.after(GRACE_SECONDS, self._stop_all)

    def _stop_all(self) -> None:
        if self.dispatcher is not None:
            self.dispatcher.stop_all()
        if self.reactor is not None:
            self.reactor.after(LAST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self.over = True

    def _receive(self, line: bytes | None) -> None:
        """Queue the effects of one line; None stands for a line over the limit."""
        session = self.session
        if line is None:
            # `[]` stands for the line that was not read: a request whose id is unknown.
            self.post_effects(receive_or_fail(session, b"[]", lambda _: session.refuse_oversize(self.limit)))
        else:
            self.post_effects(receive_or_fail(session, line, session.receive))

    def _send(self, effect: SendResponse) -> None:
        if isinstance(effect, SendStored):
            self.channel.write_later(effect.page)
        else:
            self.channel.write(effect.data)
        if self._after_list and effect.request is not None and effect.request.method == "tools/list":
            # For the first list only.
            rows, self._after_list = self._after_list, ()
            call_rows(rows, self, effect.request)

    def watch(self) -> Reactor:
        """Return the reactor, in which the driver waits from now on."""
        if self.reactor is None:
            self.reactor = Reactor()
            if self.channel.ended:
                self._end_of_input()
            else:
                self.reactor.watch(self.channel.descriptor, 1, self._read)
                parent = self.channel.watch_parent()
                if parent != UNKNOWN:
                    self.reactor.watch(parent, 1, self._end_with_parent)
        return self.reactor

    def _wait_for_client(self) -> None:
        """Wait until the client reads its answers."""
        if self._backpressure is None:
            self._backpressure = Backpressure(self.watch(), self.channel, self._read, self._give_up)
        self._backpressure.wait()
