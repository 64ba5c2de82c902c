"""The stdio transport: lines over the process's standard streams, on private descriptors.

At start both streams move to private descriptors: a handler that reads standard input gets end of file, and one that
prints writes to standard error; only whole protocol lines reach the client. No write blocks while there is other work:
data that the client does not accept yet is stored.

The end of the parent process ends the input, too: a client that is killed may leave its end of the pipe open in another
process. Where the system has descriptors of processes, or events of their ends (macOS), waiting for it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from select import select
from time import sleep
from typing import Any, Protocol

from mcpc_runtime.transports.platforms import PIPE_CAPACITY, system
from mcpc_runtime.transports.platforms.allocation import return_large_blocks
from mcpc_runtime.transports.platforms.files import open_null
from mcpc_runtime.transports.platforms.pipes import open_nonblocking

READ_SIZE = 1 << 16
FIRST_READ_SIZE = 1 << 12
"""How much is read at once until the server has to wait: the buffer is filled with zeros first."""
NO_WAIT: int = getattr(system, "RWF_NOWAIT", 0)
LARGE = 1 << 20
"""The size of a message from which its memory is returned to the system."""
WITHOUT, PARENT = b"MCPC_WITHOUT", b"parent"
UNKNOWN = -1
MAX_DESCRIPTOR = 1023
"""The highest descriptor that `select` accepts."""
queues: list[object] = []
"""The event queues of macOS: one that is not referred to is closed."""
HIGH_WATER = 4 << 20
"""With more unsent data than this, nothing more is read from the client."""


TRANSIENT_ERRNOS = (4, 12, 105)
"""EINTR, ENOMEM, ENOBUFS: errors that may pass."""
MAX_RETRIES = 100
RETRY_SECONDS = 0.01


class Pieces(Protocol):
    """What is read while it is written."""

    def pieces(self) -> Iterator[bytes]:
        """Read it."""
        ...


class Channel:
    """The client's end of standard input and output. `lines` are always complete."""

    __slots__ = (
        "_chunks",
        "_failures",
        "_has_large",
        "_limit",
        "_overflow",
        "_parent",
        "_parent_end",
        "_pending",
        "_size",
        "_write_some",
        "bytes_written",
        "descriptor",
        "ended",
        "output",
        "unsent",
    )  # fmt: skip

    def __init__(self, limit: int) -> None:
        self.descriptor = system.dup(0)
        self.output = system.dup(1)
        redirect_standard_streams()
        self.ended = False
        self.unsent = 0
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._overflow = False
        self._failures = 0
        self._has_large = False
        # Asked at the start: later the number may be that of a process that adopted this one.
        self._parent = system.getppid()
        self._parent_end: int | None = None if self._parent > 1 else UNKNOWN
        self._pending: list[bytes | memoryview | Iterator[bytes]] = []
        self.bytes_written = 0
        self._write_some: Callable[[int, memoryview], int] | None = None

    @property
    def full(self) -> bool:
        """Whether the client has so much unread output that its input is not read."""
        return self.unsent > HIGH_WATER

    def read(self) -> list[bytes | None]:
        """Wait for input and return the lines it completes; None stands for a line over the limit.

        An incomplete line is stored as the pieces that were read, so that memory use is the size of the input.
        """
        try:
            data = self._read_some()
        except BlockingIOError:  # a client may share its end of the pipe with something that does not block
            select((self.descriptor,), (), ())
            return []
        except ConnectionResetError:  # a socket whose other end closed without reading all output
            data = b""
        except OSError as problem:
            self._wait_after("read", problem)
            return []
        self._failures = 0
        if not data:
            self.ended = True
            # The last line may lack its line break.
            return self._complete(b"") if self._chunks or self._overflow else []
        *complete, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        # Only a line that was begun earlier, or a huge read, needs its length counted piece by piece.
        if self._size or len(data) > self._limit:
            for piece in complete:
                lines += self._complete(piece)
        else:
            # Blank lines are no messages.
            lines += filter(bytes.strip, complete)  # type: ignore[arg-type]
        if rest:
            self._store(rest)
        return lines

    def _read_some(self) -> bytes:
        """Return what the client sent; empty at the end of the input, and if the parent has ended and nothing is there.

        The parent is watched, and `select` imported, when there is nothing to do first.
        """
        if self._parent_end is None:
            try:
                return read_available(self.descriptor)
            except OSError:  # nothing is there, or the system does not tell
                pass
        parent = self.watch_parent()
        if parent != UNKNOWN and self.descriptor <= MAX_DESCRIPTOR:
            ready, _, _ = select((self.descriptor, parent), (), ())
            # What was sent before the parent ended is read first.
            if self.descriptor not in ready:
                return b""
        return system.read(self.descriptor, READ_SIZE)

    def watch_parent(self) -> int:
        """Return a descriptor that is readable when the parent process has ended, or UNKNOWN."""
        if self._parent_end is None:
            self._parent_end = watch_parent(self._parent)
        return self._parent_end

    def _store(self, piece: bytes) -> None:
        if self._size < LARGE <= self._size + len(piece) and not self._has_large:
            self._has_large = True
            return_large_blocks()
        self._size += len(piece)
        if self._size > self._limit:
            self._overflow = True
            self._chunks.clear()
        elif piece:
            self._chunks.append(piece)

    def _complete(self, piece: bytes) -> list[bytes | None]:
        if self._size:
            self._store(piece)
            line, overflow = b"".join(self._chunks), self._overflow
            self._chunks.clear()
            self._size, self._overflow = 0, False
        else:
            line, overflow = piece, len(piece) > self._limit
        if overflow:
            return [None]
        return [line] if line.strip() else []

    def write(self, data: bytes) -> None:
        """Queue `data` for the next `flush`."""
        self._pending.append(data)
        self.unsent += len(data)

    def write_later(self, page: Pieces) -> None:
        """Queue what is read while it is written."""
        self._pending.append(page.pieces())
        self.unsent += 1  # until it was read, and more for what was read

    def flush(self) -> bool:
        """Write what the client accepts now; return whether it was all. BrokenPipeError: the client has gone."""
        while self._pending:
            # A view, so that what a partial write has left is not copied.
            self._pending.insert(0, memoryview(self._next()))
            if not self._write_first():
                return False
        return True

    def _write_first(self) -> bool:
        """Write of the first bytes what the client accepts now; return whether it was all."""
        view: Any = self._pending[0]
        if self._write_some is None and self.bytes_written + len(view) > PIPE_CAPACITY:
            self._make_nonblocking()  # until then, writing cannot block
        write_some = self._write_some or system.write
        try:
            while view:
                written = write_some(self.output, view)
                self.bytes_written += written
                self.unsent -= written
                self._pending[0] = view = view[written:]
        except BlockingIOError:
            return False
        except (BrokenPipeError, ConnectionResetError):
            raise BrokenPipeError from None
        except OSError as problem:
            self._wait_after("written to", problem)
            return False
        self._failures = 0
        del self._pending[0]
        return True

    def _next(self) -> bytes | memoryview:
        """Return what is written next: all bytes that wait, or a piece of what is read while it is written."""
        pending = self._pending
        first = pending[0]
        if not isinstance(first, bytes | memoryview):
            try:
                piece = next(first, b"")
            except ImportError as problem:  # the file of the server was changed
                raise OSError(str(problem)) from None
            if not piece:
                del pending[0]
            # At the end, what `write_later` had counted in advance is subtracted.
            self.unsent += len(piece) or -1
            return piece
        count = 1
        while count < len(pending) and isinstance(pending[count], bytes):
            count += 1
        data = first if count == 1 else b"".join(pending[:count])  # type: ignore[arg-type]
        del pending[:count]
        return data

    def _wait_after(self, action: str, problem: OSError) -> None:
        """Wait a moment after a transient error; raise OSError with a message if it persists."""
        self._failures += 1
        if problem.errno not in TRANSIENT_ERRNOS or self._failures > MAX_RETRIES:
            raise OSError(f"the client cannot be {action}: {problem.strerror}") from None
        sleep(RETRY_SECONDS)

    def _make_nonblocking(self) -> None:
        """Make all further writes non-blocking."""
        self._write_some, self.output = open_nonblocking(self.output)


def read_available(descriptor: int) -> bytes:
    """Return what can be read without waiting; raise OSError if nothing is there, or the system does not tell."""
    if not NO_WAIT:
        raise BlockingIOError
    # With the offset -1 `preadv` reads where the file is, as pipes need it; unlike `read` it takes flags.
    buffer = bytearray(FIRST_READ_SIZE)
    return bytes(buffer[: system.preadv(descriptor, [buffer], -1, NO_WAIT)])


def watch_parent(parent: int) -> int:
    """Return a descriptor that is readable when the parent of the start has ended; UNKNOWN if nothing tells that.

    A parent of number 1 stands for a launcher that has left the server on purpose, 0 for one outside of the container.
    """
    if parent <= 1 or PARENT in system.environ.get(WITHOUT, b"").split(b","):
        return UNKNOWN
    try:
        descriptor = system.pidfd_open(parent) if hasattr(system, "pidfd_open") else watch_exit(parent)
        if system.getppid() != parent:  # another process may have its number now
            raise ProcessLookupError
    except ProcessLookupError:
        descriptor, writing = system.pipe()  # what has no writer is readable
        system.close(writing)
    except (AttributeError, OSError):
        return UNKNOWN
    return descriptor if descriptor <= MAX_DESCRIPTOR else UNKNOWN


def watch_exit(process: int) -> int:
    """Return the descriptor of an event queue with the exit of a process; raise AttributeError if there is no queue."""
    module: Any = __import__("select")  # what it has depends on the system
    queue = module.kqueue()
    queue.control([module.kevent(process, module.KQ_FILTER_PROC, module.KQ_EV_ADD, module.KQ_NOTE_EXIT)], 0)
    queues.append(queue)
    return int(queue.fileno())


def redirect_standard_streams() -> None:
    """Replace the standard streams for handlers: empty input, and output to standard error."""
    try:
        null = system.open("/dev/null", system.O_RDWR)  # not open_null: this is part of every start
    except FileNotFoundError:
        null = open_null()
    try:
        system.dup2(null, 0)
        system.dup2(2, 1)
    # A process that was started without standard streams has opened it as one of them.
    finally:
        if null > 2:
            system.close(null)
