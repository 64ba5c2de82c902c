"""The server's end of `intake.py`: calls are put in, and those that were not taken can be taken back.

With datagrams the server keeps a duplicate of the end that the worker reads from, so what lies there is what was not
begun.  A stream has no such thing: one call lies there at most, and the worker says when it begins it.
"""

from __future__ import annotations

import _socket
import posix
from errno import EMFILE, EMSGSIZE, ENFILE, ENOBUFS, ENOMEM, ETOOMANYREFS

from mcpc_runtime.handlers.output_capture import memory_file
from mcpc_runtime.handlers.python.worker.intake import DATAGRAM_LIMIT, DESCRIPTOR_BYTES, NUMBER_BYTES, whole
from mcpc_runtime.platforms.posix import system_features as ways
from mcpc_runtime.platforms.posix.reactor import close
from mcpc_runtime.platforms.rollback import OpenDescriptors

NO_ROOM = (EMFILE, ENFILE, ENOBUFS, ENOMEM, ETOOMANYREFS)
SENT, FULL, LATER = range(3)
"""What became of a call: sent; to be tried when there is room; to be tried in a while."""


class DatagramSender:
    """Each call is a datagram; a large one is a file in memory that goes with its number."""

    way = "datagrams"

    def __init__(self) -> None:
        self._ours, self._theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._ours.setblocking(False)
        self.descriptor = self._ours.fileno()
        self.intake = self._theirs.fileno()

    def handed_over(self) -> None:
        """Keep the duplicate."""

    def put(self, number: int, body: bytes) -> int:
        """Send a call."""
        head = number.to_bytes(NUMBER_BYTES, "little")
        try:
            if len(body) <= DATAGRAM_LIMIT:
                posix.write(self.descriptor, head + body)
                return SENT
        except BlockingIOError:
            return FULL
        except OSError as problem:
            if problem.errno != EMSGSIZE:
                return later(problem)
        return self._put_large(head, body)

    def _put_large(self, head: bytes, body: bytes) -> int:
        try:
            with OpenDescriptors(always=True) as opened:
                file = memory_file(body, opened).to_bytes(DESCRIPTOR_BYTES, "little")
                self._ours.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, file)])
        except BlockingIOError:
            return FULL
        except OSError as problem:
            return later(problem)
        return SENT

    def flush(self) -> None:
        """Do nothing: a datagram is sent or it is not."""

    def begun(self, number: int) -> None:
        """Do nothing: what was begun is not here any more."""

    def is_waiting(self) -> bool:
        """Whether there is a call that the worker has not begun."""
        try:
            return bool(self._theirs.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT))
        except OSError:
            return False

    def take_back(self) -> list[tuple[int, bytes]]:
        """Take back every call that the worker has not begun."""
        found: list[tuple[int, bytes]] = []
        flags = _socket.MSG_DONTWAIT | _socket.MSG_CMSG_CLOEXEC
        room = _socket.CMSG_SPACE(DESCRIPTOR_BYTES)
        while True:
            try:
                data, passed, _, _ = self._theirs.recvmsg(NUMBER_BYTES + DATAGRAM_LIMIT, room, flags)
            except OSError:
                return found
            number, body = int.from_bytes(data[:NUMBER_BYTES], "little"), data[NUMBER_BYTES:]
            found.append((number, whole(int.from_bytes(passed[0][2][:4], "little")) if passed else body))

    def rest(self) -> list[tuple[int, bytes]]:
        """Return what a worker that has ended did not begin."""
        return self.take_back()

    def close(self) -> None:
        """Close both ends."""
        self._ours.close()
        self._theirs.close()


class StreamSender:
    """A pipe, in which there is one call at most."""

    way = "stream"

    def __init__(self) -> None:
        self.intake, self.descriptor = posix.pipe()
        posix.set_blocking(self.descriptor, False)
        self._outgoing = memoryview(b"")
        self._call: tuple[int, bytes] | None = None

    def handed_over(self) -> None:
        """Close the worker's end."""
        close(self.intake)
        self.intake = -1

    def put(self, number: int, body: bytes) -> int:
        """Send a call, if none is there."""
        if self._call is not None:
            return FULL
        self._call = number, body
        head = len(body).to_bytes(4, "little") + number.to_bytes(NUMBER_BYTES, "little")
        self._outgoing = memoryview(head + body)
        self.flush()
        return SENT

    def flush(self) -> None:
        """Write what there is room for."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[posix.write(self.descriptor, self._outgoing) :]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing = memoryview(b"")  # it has ended, which somebody else will be told

    def begun(self, number: int) -> None:
        """Take note that the worker has begun a call."""
        if self._call is not None and self._call[0] == number and not self._outgoing:
            self._call = None

    def is_waiting(self) -> bool:
        """Whether there is a call that the worker has not begun."""
        return self._call is not None

    @property
    def is_writing(self) -> bool:
        """Whether a part of a call is still to be written."""
        return bool(self._outgoing)

    def take_back(self) -> list[tuple[int, bytes]]:
        """Take back nothing: nobody knows how much of the call is read."""
        return []

    def rest(self) -> list[tuple[int, bytes]]:
        """Return what a worker that has ended did not begin."""
        return [] if self._call is None else [self._call]

    def close(self) -> None:
        """Close what is open."""
        close(self.descriptor)
        if self.intake >= 0:
            close(self.intake)


def sending() -> DatagramSender | StreamSender:
    """Return the way that this system has."""
    return DatagramSender() if ways.has("seqpacket") and ways.has("memfd") else StreamSender()


def later(problem: OSError) -> int:
    """Return that there is no room; raise what is no lack of it."""
    if problem.errno not in NO_ROOM:
        raise problem
    return LATER
