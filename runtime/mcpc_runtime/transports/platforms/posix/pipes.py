"""Pipes between this process and another, or between two threads, and a writer that never blocks.

Wait for descriptors by `poll`, or by `select` for terminals where `poll` refuses devices (macOS, poll(2), BUGS).
"""

from __future__ import annotations

import _socket
import posix
from collections.abc import Callable
from select import POLLIN, POLLOUT, poll, select

from mcpc_runtime.transports.platforms.posix import system_features

__all__ = ["adopt"]


class DevicePoll:
    """A poll object that accepts devices.  While it has one, all descriptors are below FD_SETSIZE (1024)."""

    __slots__ = ("_devices", "_others", "_poll")

    def __init__(self) -> None:
        self._poll = poll()
        self._devices: dict[int, int] = {}
        self._others: dict[int, int] = {}

    def register(self, descriptor: int, events: int) -> None:
        """Wait for these events, in place of earlier ones."""
        if posix.fstat(descriptor).st_mode & FILE_TYPE == CHARACTER_DEVICE:
            self._devices[descriptor] = events
        else:
            self._poll.register(descriptor, events)
            self._others[descriptor] = events

    def unregister(self, descriptor: int) -> None:
        """Stop waiting for a descriptor."""
        if self._devices.pop(descriptor, None) is None:
            del self._others[descriptor]
            self._poll.unregister(descriptor)

    def poll(self, timeout: int | None = None) -> list[tuple[int, int]]:
        """Wait so many milliseconds; return descriptors with their events."""
        if not self._devices:
            return self._poll.poll(timeout)
        wanted = {**self._others, **self._devices}
        # `select` takes two lists of descriptors in place of a mask for each, and reports an end as readiness.
        readers = [number for number, events in wanted.items() if events & POLLIN]
        writers = [number for number, events in wanted.items() if events & POLLOUT]
        readable, writable, _ = select(readers, writers, (), None if timeout is None else timeout / 1000)
        ready = dict.fromkeys(readable, POLLIN)
        for number in writable:
            ready[number] = ready.get(number, 0) | POLLOUT
        return list(ready.items())


def new_poll() -> poll | DevicePoll:
    """Return a poll object that accepts every descriptor."""
    return poll() if system_features.has("devicepoll") else DevicePoll()


def socket_is_ready(descriptor: int, to_write: bool, seconds: float) -> bool:
    """Wait until a socket can be read from, or written to; False if it cannot in this time."""
    waiting = poll()
    waiting.register(descriptor, POLLOUT if to_write else POLLIN)
    return bool(waiting.poll(seconds * 1000))


RECALL_LIMIT = 1 << 21
"""Bytes: more than such a pipe contains, so that one read has all of it."""


def incoming() -> tuple[int, int]:
    """Return a pipe to read from: our end, which does not block, and the end to write to.

    Raise OSError, with nothing left open, if there is no room.
    """
    ours, theirs = posix.pipe()
    unblock(ours, theirs)
    return ours, theirs


def outgoing() -> tuple[int, int]:
    """Return a pipe to write to: our end, which does not block, and the end to read from.

    Raise OSError, with nothing left open, if there is no room.
    """
    theirs, ours = posix.pipe()
    unblock(ours, theirs)
    return ours, theirs


def recallable() -> tuple[int, int]:
    """Return a pipe as `outgoing` does, from which data that was not read can be taken back; it is a socket."""
    ours, theirs = (end.detach() for end in _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM))
    unblock(ours, theirs)
    return ours, theirs


def recalled(theirs: int) -> bytes:
    """Remove and return what is in a recallable pipe, by the end to read from, whether or not another reader waits."""
    # The object only borrows the descriptor, which `detach` keeps open.
    end = _socket.socket(fileno=theirs)
    try:
        # O_NONBLOCK would hold for the other reader as well, which shares the open file; this flag is of one call.
        return end.recv(RECALL_LIMIT, _socket.MSG_DONTWAIT)
    except BlockingIOError:
        return b""
    finally:
        end.detach()


def wake_pipe() -> tuple[int, int]:
    """Return a pipe by which a thread wakes another: the end to read from, and the end to write to; neither blocks."""
    reading, writing = incoming()
    unblock(writing, reading)
    return reading, writing


def unblock(descriptor: int, other: int) -> None:
    """Make one end of a pipe non-blocking; close both ends if that fails."""
    try:
        posix.set_blocking(descriptor, False)
    except OSError:
        close(descriptor)
        close(other)
        raise


def close(descriptor: int) -> None:
    """Close a descriptor; an error is ignored."""
    try:
        posix.close(descriptor)
    except OSError:
        return


def adopt(descriptor: int) -> int:
    """Return the number by which this process uses a descriptor that it was started with, and its children are not."""
    posix.set_inheritable(descriptor, False)
    return descriptor


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
        # O_NONBLOCK belongs to an open file, which programs share; opened again, it is this process's own.
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
