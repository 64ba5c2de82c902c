"""The adapter for Windows: its console, files without modes, and files that are read as they grow.

Windows has no modes: a file is executable if it begins as a program does.  `mcpc.reading.is_executable` decides
in the same way on every system, and takes a mode for one sign more.
"""

from __future__ import annotations

import _thread
import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import Full, Queue

if sys.platform == "win32":
    from mcpc.sandbox.platforms.windows_programs import (  # noqa: F401 - the port takes them from here
        GROUP_OPTIONS,
        NEEDED_VARIABLES,
        USER_VARIABLES,
        ProgramGroup,
    )

ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGBREAK") if hasattr(signal, name))
MAX_PIECES, LEAST_SECONDS = 64, 0.01
"""What waits to be written, at most, and how long is waited for a place in any case."""


def quoted_word(word: str) -> str:
    """Return a word as programs read it."""
    return subprocess.list2cmdline([word])


def signal_main_thread(number: int) -> None:
    """Let the main thread handle a signal before its next step."""
    _thread.interrupt_main(signal.Signals(number))


def start_of_file(path: str) -> str:
    """Return the command that starts a built file: an archive by Python, a program as it is."""
    if not path.lower().endswith(".exe"):
        return f"python {quoted_word(path)}"
    return quoted_word(path if ":" in path or path.startswith(("\\", "..")) else f".\\{path}")


def use_utf8() -> None:
    """Write UTF-8 with plain line feeds to files and pipes, as on other systems; a console takes any text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", newline="\n")


class WritingThread:
    """Writes to a descriptor; a caller that hands it something waits a limited time only."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pieces: Queue[bytes] = Queue(MAX_PIECES)
        threading.Thread(target=self._write, daemon=True).start()

    def put(self, piece: bytes, seconds: float) -> bool:
        """Hand over a few bytes, and wait until all are written, both within so many seconds."""
        try:
            self._pieces.put(piece, timeout=max(seconds, LEAST_SECONDS))
        except Full:
            return False
        # `Queue.join` knows no time limit.
        with self._pieces.all_tasks_done:
            self._pieces.all_tasks_done.wait_for(lambda: not self._pieces.unfinished_tasks, seconds)
        return True

    def _write(self) -> None:
        while True:
            piece = self._pieces.get()
            with suppress(OSError):
                while piece:
                    piece = piece[os.write(self._descriptor, piece) :]
            self._pieces.task_done()


# One thread for each descriptor keeps the pieces in order.
writing_thread = cache(WritingThread)


def write_within(descriptor: int, piece: bytes, seconds: float) -> bool:
    """Write a few bytes if that is possible within so many seconds; return whether they were taken.

    Pipes and consoles do not tell whether they take something, so a thread writes.
    """
    return writing_thread(descriptor).put(piece, seconds)


READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
"""Flags that open a file as bytes; a link that replaced it is followed, since no flag refuses that."""
ATTEMPTS, PAUSE_SECONDS = 10, 0.1
"""How often renaming is tried: a program that inspects new files, such as a virus scanner, opens them for a moment."""
IN_USE = "a program uses it: end the server that was started from it, or write another file"


def cache_home() -> Path:
    """Return the folder below which programs of this user keep their caches."""
    return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser())


def file_state(path: str) -> list[int]:
    """Return no numbers: a program may set each time that Windows has of a file."""
    return []


def permissions(status: os.stat_result, *, is_program: bool) -> int:
    """Return the permission bits that a file has on a POSIX system if its executable bit says what it is."""
    return 0o755 if is_program else 0o644


def replace_file(new: Path, target: Path) -> None:
    """Give a new file the name of another one; raise OSError if a program has that one open."""
    for _ in range(ATTEMPTS - 1):
        try:
            new.replace(target)
        except PermissionError:
            time.sleep(PAUSE_SECONDS)
        else:
            return
    try:
        new.replace(target)
    except PermissionError as problem:
        reason = IN_USE if target.is_file() else problem.strerror
        raise OSError(problem.errno, reason, str(target)) from None


def status_of_entry(entry: os.DirEntry[str], *, follow: bool) -> os.stat_result:
    """Return the status of a folder's entry, asked for by its path: a listing has no device and no file number."""
    return os.stat(entry.path, follow_symlinks=follow)  # noqa: PTH116 - there may be many


POLL_SECONDS = 0.2


class GrowingFile(io.RawIOBase):
    """The stream of what is appended to a file; between reads the file is closed, so that it can be removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self, size: int = -1) -> bytes:
        """Wait until something is appended, and return it; nothing if the file was removed."""
        while True:
            try:
                with self._path.open("rb") as file:
                    file.seek(self._offset)
                    data = file.read(size)
            except FileNotFoundError:
                return b""
            if data:
                self._offset += len(data)
                return data
            time.sleep(POLL_SECONDS)


def open_log_pipe(path: Path) -> GrowingFile:
    """Make a path that others append to, and return the stream of what they append."""
    path.touch()
    return GrowingFile(path)
