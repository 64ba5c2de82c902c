"""Files: Windows has no FIFOs, so what programs append to a file is looked for at intervals, while a call runs."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
from collections.abc import Callable
from errno import EAGAIN, EBADF

from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.transports.platforms.windows import system
from mcpc_runtime.transports.platforms.windows.script_paths import (
    LIST_SEPARATOR,
    begins_as_program,
    is_absolute,
    joined_paths,
    local_path,
    path_writer,
)

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

INTERVAL_SECONDS = 0.025
FLAGS = system.O_RDONLY | system.O_CREAT | system.O_EXCL
FROM_HERE = 1
"""The third argument of `lseek`."""
watched: dict[int, object] = {}
"""What tells apart the streams that had a descriptor one after the other."""


class NoteFile:
    """A file that others append to; at its end, there is nothing to read yet."""

    __slots__ = ("_file",)

    def __init__(self, file: int) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        """Return what was appended; raise BlockingIOError if nothing was."""
        nt.lseek(self._file, 0, FROM_HERE)  # else the C runtime remembers that the file was at its end
        data = nt.read(self._file, size)
        if not data:
            raise BlockingIOError(EAGAIN, "nothing was appended")
        return data

    def write(self, data: memoryview) -> int:
        """Raise OSError: only programs write."""
        raise OSError(EBADF, "this end is for reading")

    def close(self) -> None:
        """Close the file."""
        nt.close(self._file)


def open_stream(path: bytes) -> int:
    """Create a stream, and return the descriptor from which it is read; raise OSError."""
    return system.add_end(NoteFile(system.open(path.decode("utf-8", "surrogateescape"), FLAGS, 0o600)))


def watch_stream(reactor: ReactorInterface, stream: int, ready: Callable[[], None]) -> None:
    """Call `ready`, which may find nothing, at each interval until the stream is forgotten."""
    # If the stream is watched again, the timers of the earlier watch find another mark and end.
    mark = watched[stream] = object()

    def look() -> None:
        if watched.get(stream) is mark:
            ready()
            reactor.after(INTERVAL_SECONDS, look)

    reactor.after(INTERVAL_SECONDS, look)


def forget_stream(reactor: ReactorInterface, stream: int) -> None:
    """Stop watching a stream."""
    watched.pop(stream, None)
