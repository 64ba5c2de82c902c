"""Write to a stream that other processes may share, without blocking and without changing its mode for them.

O_NONBLOCK belongs to the open file description, which the client and our own children may share.  So a pipe and a
terminal are opened again, for this process alone; any other stream is polled for room, and receives what fits then.
"""

from __future__ import annotations

import posix
from collections.abc import Callable
from select import POLLOUT

from mcpc_runtime.transports.platforms.posix.polling import new_poll

Put = Callable[[int, memoryview], int]


CHARACTER_DEVICE = 0o020000
FIFO = 0o010000
FILE_TYPE = 0o170000
WRITE_SIZE = 4096
"""Bytes that fit wherever poll reports room: PIPE_BUF of a pipe, a fraction of a socket's buffer."""
PATIENCE_MS = 100
"""How long `write_patiently` waits for room before it drops the rest."""


def open_nonblocking(descriptor: int) -> tuple[Put, int]:
    """Return a function that writes, or raises BlockingIOError if the stream is full; and the descriptor to pass it."""
    try:
        name = reopening_name(descriptor)
        private = posix.open(name, posix.O_WRONLY | posix.O_NONBLOCK | posix.O_NOCTTY | posix.O_CLOEXEC) if name else -1
    except OSError:  # no /proc, another user's terminal, or the reader has closed, which the first write reports
        private = -1
    if private < 0:
        return polling_writer(descriptor), descriptor
    posix.close(descriptor)
    return posix.write, private


def reopening_name(descriptor: int) -> str:
    """Return the name by which a pipe or a terminal can be opened again; "" for any other stream."""
    kind = posix.fstat(descriptor).st_mode & FILE_TYPE
    if kind == FIFO:
        return f"/proc/self/fd/{descriptor}"
    if kind == CHARACTER_DEVICE and posix.isatty(descriptor):
        return posix.ttyname(descriptor)  # poll reports room in a terminal for a single byte, and a longer write waits
    return ""


def polling_writer(descriptor: int) -> Put:
    """Return a function that writes only as much as there is room for."""
    room = new_poll()
    room.register(descriptor, POLLOUT)

    def put(descriptor: int, view: memoryview) -> int:
        if not room.poll(0):
            raise BlockingIOError
        return posix.write(descriptor, view[:WRITE_SIZE])

    return put


def write_patiently(descriptor: int, data: bytes) -> None:
    """Write data as far as there is room, or soon will be; drop the rest."""
    room = new_poll()
    room.register(descriptor, POLLOUT)
    for start in range(0, len(data), WRITE_SIZE):
        if not any(event & POLLOUT for _, event in room.poll(PATIENCE_MS)):
            return
        try:
            posix.write(descriptor, data[start : start + WRITE_SIZE])
        except OSError:
            return
