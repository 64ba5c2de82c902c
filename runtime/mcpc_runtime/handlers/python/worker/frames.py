"""The frames between the server and a worker: calls in one direction, replies in the other; both ends of each.

A call is eight bytes with its number, then its body in marshal's format, which comes from the server only.  The server
can take back a call that the worker has not received.  Datagrams: each call is one; the body of a large call is a file
in memory that is passed with the number; the server keeps a duplicate of the worker's end, so what can be read there
was not begun.  Stream: length, number, body; it contains at most one call, because the server sends a call only after
the worker has acknowledged that it began the previous one.

A reply is four bytes of length, then a JSON object: `{"call": 7, "value": …}`, or `error`, `raised`, `refused` or
`note` instead of `value`; `{"begun": 7}`; `{"ready": true}`; `{"alive": true}`.
"""

from __future__ import annotations

import _socket
from _thread import allocate_lock
from collections.abc import Callable
from errno import EMFILE, EMSGSIZE, ENFILE, ENOBUFS, ENOMEM, ETOOMANYREFS

from mcpc_runtime.handlers.output_capture import memory_file
from mcpc_runtime.transports.platforms import system, system_features
from mcpc_runtime.transports.platforms.cleanup import OpenDescriptors
from mcpc_runtime.transports.platforms.pipes import close, recallable, recalled

DATAGRAM_LIMIT = 1 << 16
LENGTH_BYTES = 4
NUMBER_BYTES = 8
DESCRIPTOR_BYTES = 4
READ_SIZE = 1 << 20
FRAME_LIMIT = 64 << 20
CLOSED_ON_EXEC = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
"""A flag of Linux, which alone has datagrams that preserve boundaries and files in memory."""
# ETOOMANYREFS: too many descriptors are under way in sockets.
NO_ROOM = (EMFILE, ENFILE, ENOBUFS, ENOMEM, ETOOMANYREFS)
SENT, FULL, RETRY = range(3)
"""The outcome of `put`: sent; retry when there is room; retry after a while."""


class DatagramSender:
    """The server's end of the calls: datagrams; the body of a large one is a file in memory, passed with its number."""

    kind = "datagrams"

    def __init__(self) -> None:
        self._ours, self._theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._ours.setblocking(False)
        self.descriptor = self._ours.fileno()
        self.worker_end = self._theirs.fileno()

    def put(self, number: int, body: bytes) -> int:
        """Send a call."""
        head = number.to_bytes(NUMBER_BYTES, "little")
        try:
            if len(body) <= DATAGRAM_LIMIT:
                system.write(self.descriptor, head + body)
                return SENT
        except BlockingIOError:
            return FULL
        except OSError as problem:
            # The system's limit of a datagram may be lower than DATAGRAM_LIMIT.
            if problem.errno != EMSGSIZE:
                return retry_later(problem)
        return self._put_large(head, body)

    def _put_large(self, head: bytes, body: bytes) -> int:
        try:
            with OpenDescriptors(always=True) as opened:
                file = memory_file(body, opened).to_bytes(DESCRIPTOR_BYTES, "little")
                self._ours.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, file)])
        except BlockingIOError:
            return FULL
        except OSError as problem:
            return retry_later(problem)
        return SENT

    def flush(self) -> None:
        """Do nothing: a datagram is sent as a whole."""

    def begun(self, number: int) -> None:
        """Do nothing: a call that was begun is no longer in the socket."""

    def has_unbegun_call(self) -> bool:
        """Whether there is a call that the worker has not begun."""
        try:
            return bool(self._theirs.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT))
        except OSError:
            return False

    def take_back(self) -> list[tuple[int, bytes]]:
        """Take back every call that the worker has not begun."""
        calls: list[tuple[int, bytes]] = []
        # This end blocks, as the worker needs it: without the flag, reading would wait for a call.
        flags = _socket.MSG_DONTWAIT | CLOSED_ON_EXEC
        room = _socket.CMSG_SPACE(DESCRIPTOR_BYTES)
        while True:
            try:
                # At a duplicate of the worker's end, so that each call is read either there or here.
                data, passed, _, _ = self._theirs.recvmsg(NUMBER_BYTES + DATAGRAM_LIMIT, room, flags)
            except OSError:
                return calls
            number, body = int.from_bytes(data[:NUMBER_BYTES], "little"), data[NUMBER_BYTES:]
            calls.append((number, read_file_and_close(int.from_bytes(passed[0][2][:4], "little")) if passed else body))

    def unbegun_calls(self) -> list[tuple[int, bytes]]:
        """Return the calls that a worker did not begin before it ended."""
        return self.take_back()

    def close(self) -> None:
        """Close both ends."""
        self._ours.close()
        self._theirs.close()


class StreamSender:
    """The server's end of the calls: a pipe that contains at most one call."""

    kind = "stream"

    def __init__(self) -> None:
        self.descriptor, self.worker_end = recallable()
        self._outgoing = memoryview(b"")
        self._call: tuple[int, bytes] | None = None

    def put(self, number: int, body: bytes) -> int:
        """Send a call, if the pipe contains none."""
        if self._call is not None:
            return FULL
        self._call = number, body
        head = len(body).to_bytes(LENGTH_BYTES, "little") + number.to_bytes(NUMBER_BYTES, "little")
        self._outgoing = memoryview(head + body)
        self.flush()
        return SENT

    def flush(self) -> None:
        """Write what there is room for."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[system.write(self.descriptor, self._outgoing) :]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing = memoryview(b"")  # the worker has ended, which is reported elsewhere

    def begun(self, number: int) -> None:
        """Record that the worker has begun a call."""
        if self._call is not None and self._call[0] == number and not self._outgoing:
            self._call = None

    def has_unbegun_call(self) -> bool:
        """Whether there is a call that the worker has not begun."""
        return self._call is not None

    @property
    def is_writing(self) -> bool:
        """Whether a part of a call is still to be written."""
        return bool(self._outgoing)

    def take_back(self) -> list[tuple[int, bytes]]:
        """Take back the call, unless the worker has read some of it; then what it has not read is sent again."""
        if self._call is None:
            return []
        unread = recalled(self.worker_end) + self._outgoing
        if len(unread) < LENGTH_BYTES + NUMBER_BYTES + len(self._call[1]):
            self._outgoing = memoryview(unread)
            self.flush()
            return []
        self._outgoing = memoryview(b"")
        return self.unbegun_calls()

    def unbegun_calls(self) -> list[tuple[int, bytes]]:
        """Return the calls that a worker did not begin before it ended."""
        call, self._call = self._call, None
        return [] if call is None else [call]

    def close(self) -> None:
        """Close both ends."""
        close(self.worker_end)
        close(self.descriptor)


class DatagramReceiver:
    """The worker's end of the calls: a socket that preserves message boundaries."""

    def __init__(self, descriptor: int) -> None:
        self._socket = _socket.socket(fileno=descriptor)
        self._room = _socket.CMSG_SPACE(DESCRIPTOR_BYTES)

    def take(self) -> tuple[int, bytes] | None:
        """Wait for a call; None at the end."""
        data, passed, _, _ = self._socket.recvmsg(NUMBER_BYTES + DATAGRAM_LIMIT, self._room, CLOSED_ON_EXEC)
        if not data:
            return None
        number = int.from_bytes(data[:NUMBER_BYTES], "little")
        if passed:
            return number, read_file_and_close(int.from_bytes(passed[0][2][:DESCRIPTOR_BYTES], "little"))
        return number, data[NUMBER_BYTES:]


class StreamReceiver:
    """The worker's end of the calls: a stream; `begun` is called with the number of each."""

    def __init__(self, descriptor: int, begun: Callable[[int], None]) -> None:
        self._descriptor = descriptor
        self._begun = begun

    def take(self) -> tuple[int, bytes] | None:
        """Wait for a call; None at the end."""
        head = read_exactly(self._descriptor, LENGTH_BYTES + NUMBER_BYTES)
        if head is None:
            return None
        number = int.from_bytes(head[LENGTH_BYTES:], "little")
        body = read_exactly(self._descriptor, int.from_bytes(head[:LENGTH_BYTES], "little"))
        if body is None:
            return None
        self._begun(number)
        return number, body


class ReplyWriter:
    """The worker's end of the replies.  If the server has ended, frames are dropped; the receiver ends the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = allocate_lock()

    def send(self, frame: bytes, ended: list[bool] | None = None, last: bool = False) -> None:
        """Write a frame as a whole; one of a call only if its last one was not written yet (`ended[0]`)."""
        with self._lock:
            if ended is not None:
                if ended[0]:
                    return
                ended[0] = last
            data = memoryview(len(frame).to_bytes(4, "little") + frame)
            try:
                while data:
                    data = data[system.write(self._descriptor, data) :]
            except BrokenPipeError:
                return


def make_sender() -> DatagramSender | StreamSender:
    """Return a sender of the best kind that this system supports."""
    return DatagramSender() if system_features.has("seqpacket") and system_features.has("memfd") else StreamSender()


def retry_later(problem: OSError) -> int:
    """Return RETRY if resources are lacking; raise any other error."""
    if problem.errno not in NO_ROOM:
        raise problem
    return RETRY


def read_exactly(descriptor: int, size: int) -> bytes | None:
    """Return exactly `size` bytes, None if the stream ends before."""
    parts = []
    while size:
        part = system.read(descriptor, min(size, READ_SIZE))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_file_and_close(descriptor: int) -> bytes:
    """Return the contents of a file, and close it."""
    try:
        return read_exactly(descriptor, system.fstat(descriptor).st_size) or b""
    finally:
        system.close(descriptor)


def take_frames(buffer: bytearray) -> list[bytes] | None:
    """Remove and return the complete frames of `buffer`; None if the first exceeds the limit."""
    frames: list[bytes] = []
    at = 0
    while len(buffer) - at >= 4:
        length = int.from_bytes(buffer[at : at + 4], "little")
        # The complete frames before it are handled first: at the next call this one is at the beginning.
        if length > FRAME_LIMIT and not frames:
            return None
        end = at + 4 + length
        if len(buffer) < end:
            break
        frames.append(bytes(memoryview(buffer)[at + 4 : end]))  # one copy of a large body
        at = end
    del buffer[:at]
    return frames
