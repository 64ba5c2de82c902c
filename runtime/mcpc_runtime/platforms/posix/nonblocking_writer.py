"""Writing to a stream that others may share, without ever being blocked by it and without changing it for them.

Whether a descriptor blocks belongs to what it was opened as, which the client and our own children may share.  So a
pipe is opened once more, for us alone; anything else is asked whether it has room, and given no more than it then has.
"""

from __future__ import annotations

import posix
from select import POLLOUT, poll

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Put = Callable[[int, memoryview], int]

FIFO = 0o010000
KIND = 0o170000
ROOM = 4096
"""What fits wherever there is room at all: PIPE_BUF of a pipe, a fraction of a socket's buffer."""


def patient(descriptor: int) -> tuple[Put, int]:
    """Return what writes to `descriptor` raising BlockingIOError where it is full, and the descriptor for that."""
    if posix.fstat(descriptor).st_mode & KIND == FIFO:
        try:
            own = posix.open(f"/proc/self/fd/{descriptor}", posix.O_WRONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
        except OSError:  # no /proc, or nobody reads any more, which the first write will tell
            return asking(descriptor), descriptor
        posix.close(descriptor)
        return posix.write, own
    return asking(descriptor), descriptor


def asking(descriptor: int) -> Put:
    """Return what writes only as much as there is room for."""
    room = poll()
    room.register(descriptor, POLLOUT)

    def put(descriptor: int, view: memoryview) -> int:
        if not room.poll(0):
            raise BlockingIOError
        return posix.write(descriptor, view[:ROOM])

    return put
