"""Pipes between this process and another: named pipes whose end in this process is overlapped, theirs an ordinary one.

At one of our ends at most one operation is under way: a read that fills a buffer before it is asked for, or a write of
what was accepted.  So our ends behave as descriptors that do not block; that an operation has ended is readiness.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import nt
from _overlapped import INVALID_HANDLE_VALUE, CreateIoCompletionPort, Overlapped
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from msvcrt import get_osfhandle, open_osfhandle
from select import select
from time import monotonic

from mcpc_runtime.transports.platforms.windows import system
from mcpc_runtime.transports.platforms.windows.system import Port

__all__ = ["adopt"]


READ_SIZE = 1 << 16
RECALL_LIMIT = 1 << 21
"""Bytes: more than a pipe contains, a write under way included, so that one read has all of it."""
WRITE_SIZE = 1 << 20
ROOM = 1 << 16
# PIPE_REJECT_REMOTE_CLIENTS, PIPE_ACCESS_INBOUND and PIPE_ACCESS_OUTBOUND of CreateNamedPipeW.
REJECT_REMOTE_CLIENTS = 8
INBOUND, OUTBOUND = 1, 2
OPERATION = 1
"""The completion key of operations at pipes; the reactor looks at the state of their ends, not at their addresses."""

unfinished: list[Outgoing] = []
"""Closed ends at which a write is still under way: what was accepted is written before the pipe is closed."""
names = [0]


class Incoming:
    """Our end of a pipe that we read from."""

    __slots__ = ("_ahead", "_at_end", "_buffer", "_handle", "_is_attached")

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._buffer = b""
        self._at_end = False
        self._ahead: Overlapped | None = None
        self._is_attached = False

    def attach(self, reactor: Port) -> None:
        """Tell a reactor's port of each operation that ends."""
        if not self._is_attached:
            self._is_attached = True
            CreateIoCompletionPort(self._handle, reactor.port, OPERATION, 0)

    def begin(self) -> None:
        """Read ahead, unless that is under way, or something was read that is not taken yet."""
        if self._ahead is None and not self._buffer and not self._at_end:
            # Without an event (0): the port tells of the end, or `pending` does.
            ahead = Overlapped(0)
            try:
                ahead.ReadFile(self._handle, READ_SIZE)
            except OSError:
                self._at_end = True
            else:
                self._ahead = ahead

    def is_ready(self, is_wanted: bool) -> bool:
        """Tell whether there is something to read, or the end; `is_wanted`: not only the end."""
        ahead = self._ahead
        if ahead is not None and not ahead.pending:
            self._ahead = None
            try:
                self._buffer = bytes(ahead.getresult())
            except OSError:
                self._buffer = b""
            self._at_end = not self._buffer
        return self._at_end or (is_wanted and bool(self._buffer))

    def read(self, size: int) -> bytes:
        """Return what is there, b"" at the end."""
        self.begin()
        if not self.is_ready(True):
            raise BlockingIOError
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        self.begin()
        return data

    def write(self, data: memoryview) -> int:
        """Refuse: this end is to read from."""
        raise OSError(9, "this end of the pipe is to read from")

    def close(self) -> None:
        """Close the end; what was not read is lost."""
        if self._ahead is not None:
            finish(self._ahead)
            self._ahead = None
        _winapi.CloseHandle(self._handle)


class Outgoing:
    """Our end of a pipe that we write to."""

    __slots__ = ("_ahead", "_handle", "_is_attached")

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._ahead: Overlapped | None = None
        self._is_attached = False

    def attach(self, reactor: Port) -> None:
        """Tell a reactor's port of each operation that ends."""
        if not self._is_attached:
            self._is_attached = True
            CreateIoCompletionPort(self._handle, reactor.port, OPERATION, 0)

    def begin(self) -> None:
        """Do nothing: whatever there is to write is under way."""

    def is_ready(self, is_wanted: bool) -> bool:
        """Tell whether something more may be written."""
        if self._ahead is not None and not self._ahead.pending:
            self._ahead = None
        return self._ahead is None and is_wanted

    def read(self, size: int) -> bytes:
        """Refuse: this end is to write to."""
        raise OSError(9, "this end of the pipe is to write to")

    def write(self, data: memoryview) -> int:
        """Accept data, at most WRITE_SIZE bytes."""
        if not self.is_ready(True):
            raise BlockingIOError
        # A copy, because the system reads it after this call has returned.
        piece = bytes(data[:WRITE_SIZE])
        ahead = Overlapped(0)
        ahead.WriteFile(self._handle, piece)  # raises BrokenPipeError
        self._ahead = ahead
        return len(piece)

    def close(self) -> None:
        """Close the end, once what was accepted is written, or is not read any more."""
        if self.is_ready(True):
            _winapi.CloseHandle(self._handle)
        else:
            unfinished.append(self)


class Bell:
    """Both ends of a pipe within this process, by which a thread wakes another."""

    def __init__(self) -> None:
        self._is_rung = False
        self._reactor: Port | None = None

    def attach(self, reactor: Port) -> None:
        """Have a reactor woken by each ring."""
        self._reactor = reactor

    def begin(self) -> None:
        """Do nothing: it rings by itself."""

    def is_ready(self, is_wanted: bool) -> bool:
        """Tell whether it was rung."""
        return self._is_rung and is_wanted

    def read(self, size: int) -> bytes:
        """Return what was written, however often, as one byte."""
        if not self._is_rung:
            raise BlockingIOError
        self._is_rung = False
        return b"!"

    def write(self, data: memoryview) -> int:
        """Ring."""
        self._is_rung = True
        if self._reactor is not None:
            self._reactor.wake()
        return len(data)

    def close(self) -> None:
        """Do nothing: nothing is held."""


def finish(operation: Overlapped) -> None:
    """Cancel an operation, and wait until the system has let go of its memory."""
    operation.cancel()
    try:
        operation.getresult(True)
    except OSError:
        return


def close_finished() -> None:
    """Close the ends whose last write has ended."""
    for end in unfinished[:]:
        if end.is_ready(True):
            unfinished.remove(end)
            end.close()


def incoming() -> tuple[int, int]:
    """Return a pipe to read from: our end, which does not block, and the end to write to."""
    ours, theirs = make_pipe(INBOUND, _winapi.GENERIC_WRITE)
    return system.add_end(Incoming(ours)), theirs


def outgoing() -> tuple[int, int]:
    """Return a pipe to write to: our end, which does not block, and the end to read from."""
    ours, theirs = make_pipe(OUTBOUND, _winapi.GENERIC_READ)
    return system.add_end(Outgoing(ours)), theirs


def recallable() -> tuple[int, int]:
    """Return a pipe as `outgoing` does, from which data that was not read can be taken back.

    Both ends are overlapped: at an ordinary one an operation would wait until that of another process has ended.
    """
    ours, theirs = make_pipe(OUTBOUND, _winapi.GENERIC_READ, _winapi.FILE_FLAG_OVERLAPPED)
    return system.add_end(Outgoing(ours)), theirs


def recalled(theirs: int) -> bytes:
    """Remove and return what is in a recallable pipe, by the end to read from, whether or not another reader waits."""
    operation = Overlapped(INVALID_HANDLE_VALUE)  # an event is created for it
    try:
        # Behind another reader this one would wait; cancelled at once, it returns what was there, or nothing.
        operation.ReadFile(get_osfhandle(theirs), RECALL_LIMIT)
        operation.cancel()
        return bytes(operation.getresult(True))
    except OSError:
        return b""


def socket_is_ready(descriptor: int, to_write: bool, seconds: float) -> bool:
    """Wait until a socket can be read from, or written to; False if it cannot in this time."""
    places = [descriptor]
    # A connection that failed is exceptional there, and neither readable nor writable.
    return any(select((), places, places, seconds) if to_write else select(places, (), places, seconds))


def wake_pipe() -> tuple[int, int]:
    """Return a pipe by which a thread wakes another: the end to read from, and the end to write to; neither blocks."""
    bell = Bell()
    return system.add_end(bell), system.add_end(bell)


def make_pipe(access: int, their_access: int, their_flags: int = 0) -> tuple[int, int]:
    """Return the handle of our end, and the descriptor of theirs; its name is a secret, and is used only here."""
    names[0] += 1
    name = rf"\\.\pipe\mcpc-{nt.getpid()}-{names[0]}-{nt.urandom(16).hex()}"
    # If another program has made a pipe of this name to catch the child's end, making it fails.
    access |= _winapi.FILE_FLAG_FIRST_PIPE_INSTANCE | _winapi.FILE_FLAG_OVERLAPPED
    ours = _winapi.CreateNamedPipe(name, access, REJECT_REMOTE_CLIENTS, 1, ROOM, ROOM, 0, 0)
    opened = [ours]
    try:
        theirs = _winapi.CreateFile(name, their_access, 0, 0, _winapi.OPEN_EXISTING, their_flags, 0)
        opened.append(theirs)
        _winapi.ConnectNamedPipe(ours, overlapped=True).GetOverlappedResult(True)
        return ours, open_osfhandle(theirs, nt.O_NOINHERIT)
    except BaseException:
        for handle in opened:
            _winapi.CloseHandle(handle)
        raise


def close(descriptor: int) -> None:
    """Close a descriptor or an end; an error is ignored."""
    try:
        system.close(descriptor)
    except OSError:
        return


class InheritedPipe:
    """An end whose reads and writes wait until they have ended."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def read(self, size: int) -> bytes:
        """Wait for data, and return it; b"" at the end."""
        try:
            # Overlapped in any case: the end of a recallable pipe can be read in no other way.
            operation, _ = _winapi.ReadFile(self._handle, size, overlapped=True)
            operation.GetOverlappedResult(True)
        except BrokenPipeError:
            return b""
        return bytes(operation.getbuffer() or b"")

    def write(self, data: memoryview) -> int:
        """Write data; raise BrokenPipeError if the other end is closed."""
        written, _ = _winapi.WriteFile(self._handle, data)
        return written

    def close(self) -> None:
        """Close the end."""
        _winapi.CloseHandle(self._handle)


def adopt(descriptor: int) -> int:
    """Return the number by which this process uses a descriptor that it was started with, and its children are not."""
    own = _winapi.GetCurrentProcess()
    handle = _winapi.DuplicateHandle(own, get_osfhandle(descriptor), own, 0, False, _winapi.DUPLICATE_SAME_ACCESS)
    nt.close(descriptor)
    return system.add_end(InheritedPipe(handle))


Put = Callable[[int, memoryview], int]


SIZE = 1 << 18
MOMENT = 0.002
"""Seconds that one may wait for the thread: what is read at all is mostly read at once."""
PATIENCE_SECONDS = 0.1
"""How long `write_patiently` waits for room before it drops the rest."""
LAST_SECONDS = 1.0
"""How long the process waits at its end for what was accepted."""


class ThreadWriter:
    """A descriptor and the thread that writes to it, one accepted piece at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._piece = memoryview(b"")
        self._todo = allocate_lock()
        # The lock is a signal: it is released when there is a piece to write.
        self._todo.acquire()
        self._idle = allocate_lock()
        """Held while a piece is being written."""
        self._problem: OSError | None = None
        self._reactor: Port | None = None
        start_new_thread(self._serve, ())

    def _serve(self) -> None:
        while True:
            self._todo.acquire()
            try:
                while self._piece:
                    self._piece = self._piece[system.write(self._descriptor, self._piece) :]
            except OSError as problem:
                self._problem = problem
            self._idle.release()
            if self._reactor is not None:
                self._reactor.wake()

    def write(self, view: memoryview) -> int:
        """Accept a piece; raise BlockingIOError while another is being written, or the error of that one."""
        if not self._idle.acquire(timeout=MOMENT):
            raise BlockingIOError
        if self._problem is not None:
            self._idle.release()
            raise self._problem
        self._piece = memoryview(bytes(view[:SIZE]))
        size = len(self._piece)
        self._todo.release()
        return size

    def finish(self) -> None:
        """Wait a while for what was accepted."""
        if self._idle.acquire(timeout=LAST_SECONDS):
            self._idle.release()

    def begin(self) -> None:
        """Do nothing: what was accepted is being written."""

    def attach(self, reactor: Port) -> None:
        """Wake a reactor when a piece was written."""
        self._reactor = reactor

    def is_ready(self, is_wanted: bool) -> bool:
        """Tell whether a piece would be accepted."""
        return is_wanted and not self._idle.locked()

    def read(self, size: int) -> bytes:
        """Refuse: this is to write to."""
        raise OSError(9, "this stream is to write to")

    def close(self) -> None:
        """Do nothing: the stream stays open until the process ends."""


writers: dict[int, ThreadWriter] = {}
"""Those of `write_patiently`."""


def open_writer(descriptor: int) -> ThreadWriter:
    """Return a writer for which the end of the process waits."""
    writer = ThreadWriter(descriptor)
    system.before_exit.append(writer.finish)
    return writer


def open_nonblocking(descriptor: int) -> tuple[Put, int]:
    """Return a function that writes, or raises BlockingIOError if the stream is full; and the number to pass it."""
    writer = open_writer(descriptor)
    return lambda _, view: writer.write(view), system.add_end(writer)


def write_patiently(descriptor: int, data: bytes) -> None:
    """Write data as far as there is room, or soon will be; drop the rest."""
    if descriptor not in writers:
        writers[descriptor] = open_writer(descriptor)
    rest, deadline = memoryview(data), monotonic() + PATIENCE_SECONDS
    while rest and monotonic() < deadline:
        try:
            rest = rest[writers[descriptor].write(rest) :]
        except BlockingIOError:
            continue  # `write` has waited for MOMENT
        except OSError:
            return
