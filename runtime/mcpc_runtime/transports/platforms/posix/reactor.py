"""Event loop over `poll` for descriptors and timers; used from the first handler on.

One thread at a time turns the reactor; it releases the lock that it is given only while it waits.
"""

from __future__ import annotations

import posix
from _heapq import heappop, heappush
from _thread import LockType
from collections.abc import Callable
from select import POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT
from time import monotonic

from mcpc_runtime.transports.platforms.posix.pipes import new_poll, wake_pipe

WAKE_TRIES = 100
# While another processor works on the answer; with one processor, spinning would delay the answer.
SPIN_SECONDS = 0.0001
HAS_MORE_PROCESSORS = (posix.cpu_count() or 1) > 1
READABLE = POLLIN
WRITABLE = POLLOUT


class Reactor:
    """A poll loop.  A callback is called whenever its descriptor is ready, until it is forgotten.

    A turn costs O(descriptors watched) in the kernel; a timer O(log timers).  `clock` says when a timer is due.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._poll = new_poll()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._waiting = False
        self._spin_until = 0.0
        self._wake_pipe: tuple[int, int] | None = None

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end; with no events, only at its end."""
        self._poll.register(descriptor, events)
        self._callbacks[descriptor] = callback
        self.wake()

    def forget(self, descriptor: int) -> None:
        """Stop watching; a descriptor that is not watched is ignored."""
        if self._callbacks.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._number += 1
        # The number keeps timers that are due together in their order, and callbacks from being compared.
        heappush(self._timers, (self.clock() + seconds, self._number, callback))
        self.wake()

    def turn(self, lock: LockType | None = None) -> None:
        """Wait until a descriptor is ready or a timer due, and call its callback; `lock` is released while waiting."""
        timeout = None
        if self._timers:
            # Rounded up to whole milliseconds: else `poll` would return before the timer is due, again and again.
            timeout = max(0, int((self._timers[0][0] - self.clock()) * 1000) + 1)
        # Not with a lock: another thread that wants it would wait for nothing.
        ready = self._spin() if self._spin_until and lock is None else []
        if not ready:
            ready = self._poll.poll(timeout) if lock is None else self._wait(timeout, lock)
        for descriptor, _ in ready:
            # An earlier callback of this turn may have forgotten it.
            callback = self._callbacks.get(descriptor)
            if callback is not None:
                callback()
        while self._timers and self._timers[0][0] <= self.clock():
            heappop(self._timers)[2]()

    def expect(self) -> None:
        """Spin for a moment in the next turn before sleeping: waking up costs more than most answers take."""
        if HAS_MORE_PROCESSORS:
            self._spin_until = monotonic() + SPIN_SECONDS

    def _spin(self) -> list[tuple[int, int]]:
        until, self._spin_until = self._spin_until, 0.0
        while True:
            ready = self._poll.poll(0)
            if ready or monotonic() >= until:
                return ready

    def _wait(self, timeout: int | None, lock: LockType) -> list[tuple[int, int]]:
        if self._wake_pipe is None:
            self._wake_pipe = wake_pipe()
            self.watch(self._wake_pipe[0], READABLE, self._drain)
        self._waiting = True
        lock.release()
        try:
            return self._poll.poll(timeout)
        finally:
            lock.acquire()
            self._waiting = False

    def wake(self) -> None:
        """Wake the waiting thread: another thread has changed what it waits for, or has work for it."""
        if self._waiting and self._wake_pipe is not None:
            for _ in range(WAKE_TRIES):
                try:
                    posix.write(self._wake_pipe[1], b"!")
                except OSError:  # the pipe may be full already
                    continue
                return

    def _drain(self) -> None:
        if self._wake_pipe is not None:
            posix.read(self._wake_pipe[0], 1024)


# For systems whose `poll` reports no end unless input is asked for, and unread input would then wake every turn.
CHECK_SECONDS = 0.5
ENDS = POLLHUP | POLLERR | POLLNVAL
watched: set[int] = set()
"""The descriptors that a timer checks."""


def watch_end(reactor: Reactor, descriptor: int, is_wanted: Callable[[], bool], callback: Callable[[], None]) -> None:
    """Call `callback` once when the other end of `descriptor` has closed, unless `is_wanted()` is false then."""

    def check() -> None:
        if not is_wanted():
            watched.discard(descriptor)
        elif has_ended(descriptor):
            watched.discard(descriptor)
            callback()
        else:
            reactor.after(CHECK_SECONDS, check)

    reactor.forget(descriptor)
    if descriptor not in watched:
        watched.add(descriptor)
        reactor.after(CHECK_SECONDS, check)


def has_ended(descriptor: int) -> bool:
    """Tell whether the other end is closed, even if unread input remains."""
    poller = new_poll()
    poller.register(descriptor, POLLIN)
    return any(events & ENDS for _, events in poller.poll(0))
