"""Reading from a stream that blocks, such as standard input: a thread reads it, one piece ahead."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
from _thread import allocate_lock, start_new_thread

from mcpc_runtime.transports.platforms.windows.system import Port

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
