"""Lines over the process's standard streams, on private descriptors.

At start both streams move to descriptors nobody else knows: a handler that reads standard input meets its end, and one
that prints writes to standard error; only whole protocol lines ever reach the client.  Nothing is written that could
have to be waited for, once there is anything else to do: what the client does not take yet is kept.
"""

from __future__ import annotations

import posix

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from select import select
    from time import sleep

    from mcpc_runtime.patience import patient
else:
    patient = lazy("mcpc_runtime.patience:patient")
    select = lazy("select:select")
    sleep = lazy("time:sleep")

READ_SIZE = 1 << 16
FITS = 1 << 16
"""What a fresh pipe takes without being read from: up to this, writing cannot block."""
HIGH_WATER = 4 << 20
"""With more than this not yet taken by the client, nothing more is read from it."""


PASSING = (4, 11, 12, 105)
"""EINTR, EAGAIN, ENOMEM, ENOBUFS: what may be otherwise in a moment."""
TRIES = 100
MOMENT = 0.01


class Closed(Exception):  # noqa: N818 - an event, not an error
    """The client no longer reads."""


class Broken(Exception):  # noqa: N818 - an event, not an error
    """The system does not let us read or write any more; the message says why."""


class Channel:
    """The client's end of standard input and output.  `lines` are complete when they are handed out."""

    __slots__ = ("_chunks", "_failures", "_limit", "_overflow", "_pending", "_put", "_size", "descriptor", "ended",
                 "output", "unsent", "written")  # fmt: skip

    def __init__(self, limit: int) -> None:
        self.descriptor = posix.dup(0)
        self.output = posix.dup(1)
        shield()
        self.ended = False
        self.unsent = 0
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._overflow = False
        self._failures = 0
        self._pending: list[bytes] = []
        self.written = 0
        self._put: Callable[[int, memoryview], int] | None = None

    @property
    def full(self) -> bool:
        """Whether the client is so far behind that it is not to be read from."""
        return self.unsent > HIGH_WATER

    def read(self) -> list[bytes | None]:
        """Wait for input and return the lines it completes; None stands for a line over the limit.

        A line is kept as the pieces it came in, so that memory is what was sent, not what a buffer grew to.
        """
        try:
            data = posix.read(self.descriptor, READ_SIZE)
        except BlockingIOError:  # a client may share its end of the pipe with something that does not block
            select((self.descriptor,), (), ())
            return []
        except ConnectionResetError:  # a socket whose other end went without reading what we wrote
            data = b""
        except OSError as problem:
            self._bear("read", problem)
            return []
        self._failures = 0
        if not data:
            self.ended = True
            return self._complete(b"") if self._chunks or self._overflow else []
        *complete, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for piece in complete:
            lines += self._complete(piece)
        self._keep(rest)
        return lines

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._overflow = True
            self._chunks.clear()
        elif piece:
            self._chunks.append(piece)

    def _complete(self, piece: bytes) -> list[bytes | None]:
        if self._size:
            self._keep(piece)
            line, overflow = b"".join(self._chunks), self._overflow
            self._chunks.clear()
            self._size, self._overflow = 0, False
        else:
            line, overflow = piece, len(piece) > self._limit
        if overflow:
            return [None]
        return [line] if line.strip() else []

    def write(self, data: bytes) -> None:
        """Keep `data` to be written by the next `flush`."""
        self._pending.append(data)
        self.unsent += len(data)

    def flush(self) -> bool:
        """Write what the client takes now; say whether that was all.  Raise Closed if the client has gone."""
        if not self._pending:
            return True
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._pending.clear()
        if self._put is None and self.written + len(data) > FITS:
            self._patiently()
        put, view = self._put or posix.write, memoryview(data)
        try:
            while view:
                view = view[put(self.output, view) :]
        except BlockingIOError:
            self._pending.append(bytes(view))
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None
        except OSError as problem:
            self._pending.append(bytes(view))
            self._bear("written to", problem)
        else:
            self._failures = 0
        self.written += len(data) - len(view)
        self.unsent = len(view)
        return not view

    def _bear(self, what: str, problem: OSError) -> None:
        """Wait a moment for what may pass; raise Broken if it does not."""
        self._failures += 1
        if problem.errno not in PASSING or self._failures > TRIES:
            raise Broken(f"the client cannot be {what}: {problem.strerror}") from None
        sleep(MOMENT)

    def _patiently(self) -> None:
        """Write from now on in a way that never blocks, whatever the client does."""
        self._put, self.output = patient(self.output)


def shield() -> None:
    """Put an empty input and standard error where handlers expect the standard streams."""
    null = posix.open("/dev/null", posix.O_RDWR)
    try:
        posix.dup2(null, 0)
        posix.dup2(2, 1)
    finally:
        if null > 2:
            posix.close(null)
