"""The system's calls by their POSIX names, as far as Windows can keep what these promise.

Descriptors of the C runtime are used as they are.  A number from FIRST_END on is an object of `ends`, which keeps the
same promises by other means: `read` and `write` never block, and raise BlockingIOError instead.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
from _thread import allocate_lock
from collections.abc import Callable
from errno import EINVAL
from nt import (
    O_APPEND,
    O_CREAT,
    O_EXCL,
    O_RDONLY,
    O_RDWR,
    O_TRUNC,
    O_WRONLY,
    R_OK,
    W_OK,
    X_OK,
    access,
    chmod,
    cpu_count,
    dup,
    dup2,
    fstat,
    ftruncate,
    getcwd,
    getpid,
    isatty,
    listdir,
    lseek,
    lstat,
    mkdir,
    putenv,
    readlink,
    replace,
    rmdir,
    scandir,
    set_inheritable,
    stat,
    stat_result,
    unlink,
    urandom,
)
from typing import Any, NoReturn, Protocol


class Port(Protocol):
    """A reactor, as its ends see it."""

    port: int

    def wake(self) -> None:
        """Wake the waiting thread."""


class End(Protocol):
    """One end of something that never blocks."""

    def read(self, size: int) -> bytes:
        """Return what is there."""

    def write(self, data: memoryview) -> int:
        """Accept what there is room for."""

    def close(self) -> None:
        """Let go of it."""


__all__ = [
    "O_APPEND", "O_CLOEXEC", "O_CREAT", "O_DIRECTORY", "O_EXCL", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_RDONLY",
    "O_RDWR", "O_TRUNC", "O_WRONLY", "R_OK", "W_OK", "X_OK", "_exit", "access", "add_end", "before_exit", "chmod",
    "close", "cpu_count", "dup", "dup2", "ends", "environ", "fchmod", "fstat", "ftruncate", "getcwd", "getpid",
    "getppid",
    "isatty", "listdir", "lseek", "lstat", "mkdir", "open", "pread", "putenv", "read", "readlink", "register_at_fork",
    "rename", "replace", "rmdir", "scandir", "set_inheritable", "stat", "stat_result", "unlink", "urandom", "write",
]  # fmt: skip

O_CLOEXEC = nt.O_NOINHERIT
O_NOFOLLOW = O_NONBLOCK = O_DIRECTORY = O_NOCTTY = 0
NULL = "/dev/null"
FIRST_END = 1 << 20
"""The C runtime has 8192 descriptors."""

environ: dict[bytes, bytes] = {
    name.upper().encode("utf-8", "surrogatepass"): value.encode("utf-8", "surrogatepass")
    for name, value in nt.environ.items()
}
"""Names are in capitals: case does not tell two variables apart here."""
ends: dict[int, Any] = {}
before_exit: list[Callable[[], object]] = []
"""What is called before the process ends: a thread may still be writing."""
last_end = [FIRST_END]
position = allocate_lock()


def add_end(end: End) -> int:
    """Return a number for an end."""
    # Numbers are not used again, so that a late call cannot reach another end.
    last_end[0] += 1
    ends[last_end[0]] = end
    return last_end[0]


def open(path: str, flags: int, mode: int = 0o777) -> int:
    """Open a file: its bytes as they are, and for this process alone."""
    return nt.open("NUL" if path == NULL else path, flags | nt.O_BINARY | nt.O_NOINHERIT, mode)


def read(descriptor: int, size: int) -> bytes:
    """Read from a descriptor or an end."""
    end = ends.get(descriptor)
    return nt.read(descriptor, size) if end is None else end.read(size)


def write(descriptor: int, data: bytes | memoryview) -> int:
    """Write to a descriptor or an end; a pipe whose other end is closed is EINVAL to the C runtime."""
    end = ends.get(descriptor)
    if end is not None:
        return int(end.write(data))
    try:
        return nt.write(descriptor, data)
    except OSError as problem:
        if problem.errno == EINVAL:
            raise BrokenPipeError(problem.errno, problem.strerror) from None
        raise


def close(descriptor: int) -> None:
    """Close a descriptor or an end."""
    end = ends.pop(descriptor, None)
    if end is None:
        nt.close(descriptor)
    else:
        end.close()


def getppid() -> int:
    """Return 0, no process: the number of a parent that has ended may be another one's."""
    return 0


def pread(descriptor: int, length: int, offset: int) -> bytes:
    """Read at a position; a descriptor has one position, so one thread at a time does this."""
    with position:
        nt.lseek(descriptor, offset, 0)
        pieces = []
        while length > 0 and (piece := nt.read(descriptor, length)):
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)


def rename(source: str, target: str) -> None:
    """Give a file another name, in place of the file that has it."""
    nt.replace(source, target)


def fchmod(descriptor: int, mode: int) -> None:
    """Do nothing: a file has the access rights of its folder."""


def register_at_fork(**_callbacks: object) -> None:
    """Do nothing: there is no fork."""


def _exit(status: int) -> NoReturn:  # type: ignore[misc]
    """End the process once what was accepted has been written, or its reader was given time."""
    for finish in before_exit:
        finish()
    nt._exit(status)  # type: ignore[attr-defined]
