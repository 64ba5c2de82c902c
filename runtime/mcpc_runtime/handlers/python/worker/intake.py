"""How calls come in: one at a time, and one that was not taken yet can still be taken back by the server.

A call is eight bytes with its number, then the rest in marshal's form, which only ever comes from the server.

Datagrams: each call is one; a large one is a file in memory that came with the number.  Stream: length, number, rest;
there the server sends a call only when the one before was begun, so every call that is taken is said to be.
"""

from __future__ import annotations

import _socket
import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DATAGRAM_LIMIT = 1 << 16
NUMBER_BYTES = 8
DESCRIPTOR_BYTES = 4
READ_SIZE = 1 << 20


class DatagramReceiver:
    """Calls from a socket that keeps them apart."""

    def __init__(self, descriptor: int) -> None:
        self._socket = _socket.socket(fileno=descriptor)
        self._room = _socket.CMSG_SPACE(DESCRIPTOR_BYTES)

    def take(self) -> tuple[int, bytes] | None:
        """Wait for a call; None at the end."""
        data, passed, _, _ = self._socket.recvmsg(NUMBER_BYTES + DATAGRAM_LIMIT, self._room, _socket.MSG_CMSG_CLOEXEC)
        if not data:
            return None
        number = int.from_bytes(data[:NUMBER_BYTES], "little")
        if passed:
            return number, whole(int.from_bytes(passed[0][2][:DESCRIPTOR_BYTES], "little"))
        return number, data[NUMBER_BYTES:]


class StreamReceiver:
    """Calls from a stream; `begun` is told the number of each."""

    def __init__(self, descriptor: int, begun: Callable[[int], None]) -> None:
        self._descriptor = descriptor
        self._begun = begun

    def take(self) -> tuple[int, bytes] | None:
        """Wait for a call; None at the end."""
        head = exactly(self._descriptor, 4 + NUMBER_BYTES)
        if head is None:
            return None
        number = int.from_bytes(head[4:], "little")
        body = exactly(self._descriptor, int.from_bytes(head[:4], "little"))
        if body is None:
            return None
        self._begun(number)
        return number, body


def exactly(descriptor: int, size: int) -> bytes | None:
    """Return so many bytes, None if there are no more."""
    parts = []
    while size:
        part = posix.read(descriptor, min(size, READ_SIZE))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def whole(descriptor: int) -> bytes:
    """Return what is in a file, and close it."""
    try:
        posix.lseek(descriptor, 0, 0)
        return exactly(descriptor, posix.fstat(descriptor).st_size) or b""
    finally:
        posix.close(descriptor)
