"""Waiting for several descriptors at once; used from the moment the first handler runs.

One thread at a time turns the reactor, and lets go of the lock it is given only while it waits.
"""

from __future__ import annotations

import posix
from _heapq import heappop, heappush  # heapq itself is imported from source: slower
from select import POLLIN, POLLOUT, poll
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable

TRIES = 100
QUICK_SECONDS = 0.0001
MORE_PROCESSORS = (posix.cpu_count() or 1) > 1
READABLE = POLLIN
WRITABLE = POLLOUT


class Reactor:
    """A poll loop.  A callback is called whenever its descriptor is ready, until it is forgotten.

    A turn costs O(descriptors watched) in the kernel; a timer O(log timers).
    """

    def __init__(self) -> None:
        self._poll = poll()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._waiting = False
        self._quick = 0.0
        self._bell: tuple[int, int] | None = None

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end; with no events, only at its end."""
        self._poll.register(descriptor, events)
        self._callbacks[descriptor] = callback
        self.wake()

    def forget(self, descriptor: int) -> None:
        """Stop watching; a descriptor nobody watches is passed over."""
        if self._callbacks.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._number += 1
        heappush(self._timers, (monotonic() + seconds, self._number, callback))
        self.wake()

    def turn(self, lock: LockType | None = None) -> None:
        """Wait until something is ready or due, and call what waits for it; `lock` is free while waiting."""
        timeout = None
        if self._timers:
            timeout = max(0, int((self._timers[0][0] - monotonic()) * 1000) + 1)
        ready = self._look() if self._quick and lock is None else []
        if not ready:
            ready = self._poll.poll(timeout) if lock is None else self._wait(timeout, lock)
        for descriptor, _ in ready:
            callback = self._callbacks.get(descriptor)
            if callback is not None:
                callback()
        while self._timers and self._timers[0][0] <= monotonic():
            heappop(self._timers)[2]()

    def expect(self) -> None:
        """Look for what comes next for a moment before sleeping: to be woken costs more than most answers take."""
        if MORE_PROCESSORS:
            self._quick = monotonic() + QUICK_SECONDS

    def _look(self) -> list[tuple[int, int]]:
        until, self._quick = self._quick, 0.0
        while True:
            ready = self._poll.poll(0)
            if ready or monotonic() >= until:
                return ready

    def _wait(self, timeout: int | None, lock: LockType) -> list[tuple[int, int]]:
        if self._bell is None:
            self._bell = hang_bell()
            self.watch(self._bell[0], READABLE, self._answer)
        self._waiting = True
        lock.release()
        try:
            return self._poll.poll(timeout)
        finally:
            lock.acquire()
            self._waiting = False

    def wake(self) -> None:
        """Wake the thread that waits: another one has changed what it waits for, or has something for it to do."""
        if self._waiting and self._bell is not None:
            for _ in range(TRIES):
                try:
                    posix.write(self._bell[1], b"!")
                except OSError:  # it may ring already
                    continue
                return

    def _answer(self) -> None:
        if self._bell is not None:
            posix.read(self._bell[0], 1024)


def hang_bell() -> tuple[int, int]:
    """Return a pipe by which a thread can wake another."""
    ends = posix.pipe()
    for end in ends:
        posix.set_blocking(end, False)
    return ends


def close(descriptor: int) -> None:
    """Close a descriptor, whatever the kernel thinks of it."""
    try:
        posix.close(descriptor)
    except OSError:
        return
