"""Waiting for pipes, threads, processes and timers at once: a completion port, by which ends are ready as for `poll`.

One thread at a time turns the reactor; it releases the lock that it is given only while it waits.

Reading from a stream that blocks, such as standard input: a thread reads it, one piece ahead.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
from _heapq import heappop, heappush
from _overlapped import (
    INVALID_HANDLE_VALUE,
    CreateIoCompletionPort,
    GetQueuedCompletionStatus,
    Overlapped,
    PostQueuedCompletionStatus,
    RegisterWaitWithQueue,
    UnregisterWait,
)
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from time import monotonic
from typing import Any

from mcpc_runtime.transports.platforms.windows import system
from mcpc_runtime.transports.platforms.windows.pipes import close_finished, unfinished
from mcpc_runtime.transports.platforms.windows.system import Port

Packet = tuple[int, int, int, int]
"""Of what has happened: error, bytes, key and address."""


READABLE, WRITABLE = 1, 4
FOREVER = 0xFFFFFFFF
BELL = 1
"""Stands in the place of an operation's address: another thread has changed something, or has something for us."""


class Reactor:
    """A completion port.  A callback is called whenever its end is ready, until it is forgotten.

    A turn costs O(ends watched); a timer O(log timers).  `clock` says when a timer is due.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, 0, 0, 1)
        self._watched: dict[int, tuple[Any, int, Callable[[], None]]] = {}
        self._exits: dict[int, tuple[Overlapped, int, Callable[[], None]]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._is_rung = False

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end; with no events, only at its end."""
        end = system.ends.get(descriptor)
        if end is None:  # a descriptor of the C runtime: no call says when it is ready
            end = system.ends[descriptor] = BlockingReader(descriptor)
        end.attach(self)
        self._watched[descriptor] = (end, events, callback)
        end.begin()
        self.wake()

    def forget(self, descriptor: int) -> None:
        """Stop watching; a descriptor that is not watched is ignored."""
        self._watched.pop(descriptor, None)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._number += 1
        heappush(self._timers, (self.clock() + seconds, self._number, callback))
        self.wake()

    def when_ended(self, process: int, callback: Callable[[], None]) -> None:
        """Call `callback` when a process has ended, which its handle tells."""
        # Only its address is used, by which a packet says which process has ended; so it is kept until then.
        mark = Overlapped(0)
        wait = RegisterWaitWithQueue(process, self.port, mark.address, FOREVER)
        self._exits[mark.address] = (mark, wait, callback)

    def turn(self, lock: LockType | None = None) -> None:
        """Wait until something is ready or due, and call its callback; `lock` is released while waiting."""
        timeout = FOREVER
        if self._timers:
            timeout = max(0, int((self._timers[0][0] - self.clock()) * 1000) + 1)
        # An operation whose packet was taken in an earlier turn posts no other one.
        if self.is_ready():
            timeout = 0
        if lock is not None:
            lock.release()
        try:
            packet = self.wait(timeout)
        finally:
            if lock is not None:
                lock.acquire()
        self.settle(packet)
        while self._timers and self._timers[0][0] <= self.clock():
            heappop(self._timers)[2]()

    def is_ready(self) -> bool:
        """Tell whether a watched end is ready."""
        return any(end.is_ready(events != 0) for end, events, _ in self._watched.values())

    def call(self, callback: Callable[[], None]) -> None:
        """Call a callback."""
        callback()

    def wait(self, timeout: int) -> Packet | None:
        """Return what happens next, or None after `timeout` milliseconds."""
        return GetQueuedCompletionStatus(self.port, timeout)

    def settle(self, packet: Packet | None) -> None:
        """Call what waits for what has happened."""
        while packet is not None:
            _, _, key, address = packet
            if key == 0 and address == BELL:
                self._is_rung = False
            elif key == 0 and address in self._exits:
                _, wait, callback = self._exits.pop(address)
                release_wait(wait)
                self.call(callback)
            packet = self.wait(0)
        if unfinished:
            close_finished()
        for descriptor, row in list(self._watched.items()):
            # A callback may have forgotten another end, or watched it anew.
            if self._watched.get(descriptor) is row and row[0].is_ready(row[1] != 0):
                self.call(row[2])

    def expect(self) -> None:
        """Do nothing: waking up is left to the system."""

    def wake(self) -> None:
        """Wake the waiting thread: another thread has changed what it waits for, or has work for it."""
        # One packet is enough for all rings until it is taken.
        if not self._is_rung:
            self._is_rung = True
            PostQueuedCompletionStatus(self.port, 0, 0, BELL)


def release_wait(wait: int) -> None:
    """Unregister a wait; the system reports an error if its callback has not returned yet, but does it."""
    try:
        UnregisterWait(wait)
    except OSError:
        return


def watch_end(reactor: Reactor, descriptor: int, is_wanted: Callable[[], bool], callback: Callable[[], None]) -> None:
    """Call `callback` once when the other end of `descriptor` has closed, unless `is_wanted()` is false then."""

    def take() -> None:
        reactor.forget(descriptor)
        if is_wanted():
            callback()

    reactor.watch(descriptor, 0, take)


SIZE = 1 << 16


class BlockingReader:
    """What a thread has read from a descriptor: at most one piece, and at the end b"" for ever."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._piece: bytes | None = None
        self._wanted = allocate_lock()
        self._wanted.acquire()
        self._is_reading = False
        self._reactor: Port | None = None

    def attach(self, reactor: Port) -> None:
        """Start the thread, which wakes this reactor."""
        if self._reactor is None:
            self._reactor = reactor
            start_new_thread(self._serve, ())

    def begin(self) -> None:
        """Have a piece read, unless one is there."""
        if self._piece is None and not self._is_reading:
            self._is_reading = True
            self._wanted.release()

    def _serve(self) -> None:
        while True:
            self._wanted.acquire()
            try:
                piece = nt.read(self._descriptor, SIZE)
            except OSError:
                piece = b""
            # In this order: `begin` must not ask for another piece while this one is not visible yet.
            self._piece = piece
            self._is_reading = False
            if self._reactor is not None:
                self._reactor.wake()
            if not piece:
                return

    def is_ready(self, is_wanted: bool) -> bool:
        """Tell whether a piece was read, or the end; `is_wanted`: not only the end."""
        return self._piece == b"" or (is_wanted and self._piece is not None)

    def read(self, size: int) -> bytes:
        """Return what was read; it is never more than callers ask for."""
        piece = self._piece
        if piece is None:
            raise BlockingIOError
        if piece:
            self._piece = piece[size:] or None
            self.begin()
        return piece[:size]

    def write(self, data: memoryview) -> int:
        """Refuse: this is to read from."""
        raise OSError(9, "this stream is to read from")

    def close(self) -> None:
        """Close the descriptor, unless the thread waits for it: then it stays until the process ends."""
        if not self._is_reading:
            nt.close(self._descriptor)
