"""Lines over the process's standard streams, on private descriptors.

At start both streams move to descriptors nobody else knows: a handler that reads standard input meets its end, and one
that prints writes to standard error; only whole protocol lines ever reach the client.
"""

from __future__ import annotations

import posix

from mcpc_runtime.protocol.rows import resolve

READ_SIZE = 1 << 16


class Closed(Exception):  # noqa: N818 - an event, not an error
    """The client no longer reads."""


class Channel:
    """The client's end of standard input and output.  `lines` are complete when they are handed out."""

    __slots__ = ("_chunks", "_limit", "_overflow", "_size", "descriptor", "ended", "output")

    def __init__(self, limit: int) -> None:
        self.descriptor = posix.dup(0)
        self.output = posix.dup(1)
        shield()
        self.ended = False
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._overflow = False

    def read(self) -> list[bytes | None]:
        """Wait for input and return the lines it completes; None stands for a line over the limit.

        A line is kept as the pieces it came in, so that memory is what was sent, not what a buffer grew to.
        """
        try:
            data = posix.read(self.descriptor, READ_SIZE)
        except BlockingIOError:  # a client may share its end of the pipe with something that does not block
            wait(self.descriptor, writing=False)
            return []
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
        """Write the whole of `data`; raise Closed if the client has gone."""
        view = memoryview(data)
        while view:
            try:
                view = view[posix.write(self.output, view) :]
            except BlockingIOError:
                wait(self.output, writing=True)
            except (BrokenPipeError, ConnectionResetError):
                raise Closed from None


def wait(descriptor: int, *, writing: bool) -> None:
    """Wait until a descriptor that does not block is ready."""
    select = resolve("select:select")
    select(() if writing else (descriptor,), (descriptor,) if writing else (), ())


def shield() -> None:
    """Put an empty input and standard error where handlers expect the standard streams."""
    null = posix.open("/dev/null", posix.O_RDWR)
    try:
        posix.dup2(null, 0)
        posix.dup2(2, 1)
    finally:
        if null > 2:
            posix.close(null)
