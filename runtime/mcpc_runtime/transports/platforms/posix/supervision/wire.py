"""Messages with descriptors over a Unix stream socket, for both ends of the supervisor's connection.

Nothing here waits.  What the other end has no room for is queued, with duplicates of its descriptors, and sent by
`flush`.  A frame: four bytes of length, one byte with the number of descriptors, then the message (`marshal`: both ends
are the same Python).  The descriptors of a frame are sent with its first byte.
"""

from __future__ import annotations

import _socket
import marshal
import posix
import sys
from collections.abc import Sequence
from typing import Any

Message = tuple[Any, ...]


HEAD = 5
READ_SIZE = 1 << 16
MAX_DESCRIPTORS = 64
SPACE = _socket.CMSG_SPACE(4 * MAX_DESCRIPTORS)
CLOSED_ON_EXEC = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
MISSING = -1
"""Stands for a descriptor that could not be received (EMFILE)."""


class DescriptorSocket:
    """One end of the socket.  Memory: O(bytes that the other end has not read yet)."""

    __slots__ = ("_arrived", "_incoming", "_outgoing", "_socket", "descriptor")

    def __init__(self, socket: _socket.socket) -> None:
        socket.setblocking(False)
        self._socket = socket
        self.descriptor = socket.fileno()
        self._incoming = bytearray()
        self._arrived: list[int] = []
        self._outgoing: list[tuple[bytes, list[int]]] = []

    @property
    def pending(self) -> bool:
        """Whether messages are still to be sent."""
        return bool(self._outgoing)

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send a message; raise OSError, with nothing sent or queued, if its descriptors cannot be duplicated."""
        body = marshal.dumps(message)
        frame = len(body).to_bytes(4, "little") + bytes((len(descriptors),)) + body
        sent = 0 if self._outgoing else self._push(frame, descriptors)
        if sent < len(frame):
            # With the first byte the kernel holds the descriptors; until then duplicates do: the caller closes its own.
            self._outgoing.append((frame[sent:], [] if sent else duplicates(descriptors)))

    def flush(self) -> None:
        """Send queued messages, as far as there is room."""
        while self._outgoing:
            data, descriptors = self._outgoing[0]
            sent = self._push(data, descriptors)
            if not sent:
                return
            close_all(descriptors)
            self._outgoing[0] = data[sent:], []
            if sent == len(data):
                del self._outgoing[0]

    def _push(self, data: bytes, descriptors: Sequence[int]) -> int:
        rights = b"".join(number.to_bytes(4, sys.byteorder) for number in descriptors)
        ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if rights else []
        try:
            return self._socket.sendmsg([data], ancillary)
        except BlockingIOError:
            return 0
        except ConnectionError:
            return len(data)  # the reader sees the end

    def receive(self) -> list[tuple[Message, list[int]]] | None:
        """Return the complete messages with their descriptors; None at the end of the stream."""
        try:
            data, ancillary, flags, _ = self._socket.recvmsg(READ_SIZE, SPACE, CLOSED_ON_EXEC)
        except BlockingIOError:
            return []
        except ConnectionError:
            return None
        for _, _, rights in ancillary:
            starts = range(0, len(rights) - len(rights) % 4, 4)
            self._arrived += [int.from_bytes(rights[at : at + 4], sys.byteorder) for at in starts]
        # macOS has no MSG_CMSG_CLOEXEC; the receiver has one thread, which starts nothing in between.
        if not CLOSED_ON_EXEC:
            for number in self._arrived:
                posix.set_inheritable(number, False)
        self._incoming += data
        return self._complete(flags & _socket.MSG_CTRUNC != 0) if data else None

    def _complete(self, cut: bool) -> list[tuple[Message, list[int]]]:
        """Remove and return the complete frames; `cut`: descriptors of the last frame could not be received."""
        frames = []
        at = expected = 0
        while len(self._incoming) - at >= HEAD:
            length, count = int.from_bytes(self._incoming[at : at + 4], "little"), self._incoming[at + 4]
            expected += count
            # The kernel passes descriptors in order as long as there is room, so that the last ones are missing.
            if cut:
                self._arrived += [MISSING] * (expected - len(self._arrived))
            if len(self._incoming) - at - HEAD < length:
                break
            frames.append((at + HEAD, at + HEAD + length, count))
            at += HEAD + length
        messages = [(marshal.loads(self._incoming[start:end]), self._take(count)) for start, end, count in frames]
        del self._incoming[:at]
        return messages

    def _take(self, count: int) -> list[int]:
        taken, self._arrived = self._arrived[:count], self._arrived[count:]
        return taken

    def finish(self) -> None:
        """Shut down the sending side."""
        try:
            self._socket.shutdown(_socket.SHUT_WR)
        except OSError:
            return

    def close(self) -> None:
        """Close the socket and all queued descriptors."""
        self._socket.close()
        close_all(self._arrived)
        for _, descriptors in self._outgoing:
            close_all(descriptors)
        self._outgoing.clear()
        self._arrived.clear()


def duplicates(descriptors: Sequence[int]) -> list[int]:
    """Return duplicates of these descriptors; raise OSError, with none left open, if one fails."""
    copies: list[int] = []
    try:
        for number in descriptors:
            copies.append(posix.dup(number))
    except OSError:
        close_all(copies)
        raise
    return copies


def close_all(descriptors: Sequence[int]) -> None:
    """Close these descriptors; errors are ignored."""
    for number in descriptors:
        if number != MISSING:
            try:
                posix.close(number)
            except OSError:
                continue
