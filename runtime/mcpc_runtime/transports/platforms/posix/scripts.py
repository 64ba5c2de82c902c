"""Programs by their first bytes, and paths, which every script reads as the server writes them.

FIFOs: what programs append to one is read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from posix import O_CLOEXEC, O_NONBLOCK, O_RDWR, mkfifo, open

from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.transports.platforms.posix.reactor import READABLE

__all__ = [
    "LIST_SEPARATOR",
    "begins_as_program",
    "forget_stream",
    "is_absolute",
    "joined_paths",
    "local_path",
    "open_stream",
    "path_writer",
    "watch_stream",
]

WritePath = Callable[[str], str]


LIST_SEPARATOR = ":"
"""What is between the paths of a variable that lists some."""
# A script, ELF, and Mach-O: for one processor of 64 bits, and for several processors.
PROGRAM_MAGIC = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""The first bytes of files that the system can execute."""


def begins_as_program(path: str, head: bytes) -> bool:
    """Tell whether the system can execute a file with these first bytes."""
    return head.startswith(PROGRAM_MAGIC)


def is_absolute(path: str) -> bool:
    """Tell whether a path begins at the root."""
    return path.startswith("/")


def local_path(text: str) -> str:
    """Return a path that a script or a client has written, as the server writes it."""
    return text


def path_writer(head: bytes) -> WritePath:
    """Return the function that writes a path as a script with these first bytes reads it."""
    return local_path


def joined_paths(paths: Iterable[str], write_path: WritePath) -> str:
    """Return paths as a list for the scripts that `write_path` is for."""
    return LIST_SEPARATOR.join(map(write_path, paths))


# POSIX leaves it undefined to open a FIFO so; Linux defines it (fifo(7)), and macOS allows it.
FLAGS = O_RDWR | O_NONBLOCK | O_CLOEXEC
"""Opened for writing too, a stream is never at its end, and opening it never blocks."""


def open_stream(path: bytes) -> int:
    """Create a stream, and return the descriptor from which it is read; raise OSError."""
    mkfifo(path, 0o600)
    return open(path, FLAGS)


def watch_stream(reactor: ReactorInterface, stream: int, ready: Callable[[], None]) -> None:
    """Call `ready` when there is something to read, until the stream is forgotten."""
    reactor.watch(stream, READABLE, ready)


def forget_stream(reactor: ReactorInterface, stream: int) -> None:
    """Stop watching a stream."""
    reactor.forget(stream)
