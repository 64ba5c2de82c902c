"""Write to a stream that may be read slowly or not at all: a separate thread waits for it, and no other does."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from time import monotonic

from mcpc_runtime.transports.platforms.windows import system
from mcpc_runtime.transports.platforms.windows.system import Port

Put = Callable[[int, memoryview], int]


SIZE = 1 << 18
MOMENT = 0.002
"""Seconds that one may wait for the thread: what is read at all is mostly read at once."""
PATIENCE_SECONDS = 0.1
"""How long `write_patiently` waits for room before it drops the rest."""
LAST_SECONDS = 1.0
"""How long the process waits at its end for what was accepted."""


class ThreadWriter:
    """A descriptor and the thread that writes to it, one accepted piece at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._piece = memoryview(b"")
        self._todo = allocate_lock()
        self._todo.acquire()
        self._idle = allocate_lock()
        """Held while a piece is being written."""
        self._problem: OSError | None = None
        self._reactor: Port | None = None
        start_new_thread(self._serve, ())

    def _serve(self) -> None:
        while True:
            self._todo.acquire()
            try:
                while self._piece:
                    self._piece = self._piece[system.write(self._descriptor, self._piece) :]
            except OSError as problem:
                self._problem = problem
            self._idle.release()
            if self._reactor is not None:
                self._reactor.wake()

    def write(self, view: memoryview) -> int:
        """Accept a piece; raise BlockingIOError while another is being written, or the error of that one."""
        if not self._idle.acquire(timeout=MOMENT):
            raise BlockingIOError
        if self._problem is not None:
            self._idle.release()
            raise self._problem
        self._piece = memoryview(bytes(view[:SIZE]))
        size = len(self._piece)
        self._todo.release()
        return size

    def finish(self) -> None:
        """Wait a while for what was accepted."""
        if self._idle.acquire(timeout=LAST_SECONDS):
            self._idle.release()

    def begin(self) -> None:
        """Do nothing: what was accepted is being written."""

    def attach(self, reactor: Port) -> None:
        """Wake a reactor when a piece was written."""
        self._reactor = reactor

    def is_ready(self, is_wanted: bool) -> bool:
        """Tell whether a piece would be accepted."""
        return is_wanted and not self._idle.locked()

    def read(self, size: int) -> bytes:
        """Refuse: this is to write to."""
        raise OSError(9, "this stream is to write to")

    def close(self) -> None:
        """Do nothing: the stream stays open until the process ends."""


writers: dict[int, ThreadWriter] = {}
"""Those of `write_patiently`."""


def open_writer(descriptor: int) -> ThreadWriter:
    """Return a writer for which the end of the process waits."""
    writer = ThreadWriter(descriptor)
    system.before_exit.append(writer.finish)
    return writer


def open_nonblocking(descriptor: int) -> tuple[Put, int]:
    """Return a function that writes, or raises BlockingIOError if the stream is full; and the number to pass it."""
    writer = open_writer(descriptor)
    return lambda _, view: writer.write(view), system.add_end(writer)


def write_patiently(descriptor: int, data: bytes) -> None:
    """Write data as far as there is room, or soon will be; drop the rest."""
    if descriptor not in writers:
        writers[descriptor] = open_writer(descriptor)
    rest, deadline = memoryview(data), monotonic() + PATIENCE_SECONDS
    while rest and monotonic() < deadline:
        try:
            rest = rest[writers[descriptor].write(rest) :]
        except BlockingIOError:
            continue
        except OSError:
            return
