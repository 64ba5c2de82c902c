"""The adapter for POSIX systems: terminals and shells, files with modes, named pipes, sessions that a signal ends."""

from __future__ import annotations

import os
import select
import shlex
import signal
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def quoted_word(word: str) -> str:
    """Return a word as a shell reads it."""
    return shlex.quote(word)


def signal_main_thread(number: int) -> None:
    """Send a signal to the main thread; what it waits for is interrupted."""
    ident = threading.main_thread().ident
    if ident is not None:
        signal.pthread_kill(ident, number)


def start_of_file(path: str) -> str:
    """Return the command that starts a built file at a path, absolute or below the working folder."""
    # A shell searches PATH for a name without a slash.
    return shlex.quote(path if path.startswith(("/", "../")) else f"./{path}")


def use_utf8() -> None:
    """Leave the streams as they are: their encoding is that of the user's locale."""


def write_within(descriptor: int, piece: bytes, seconds: float) -> bool:
    """Write a few bytes if that is possible within so many seconds; return whether they were taken."""
    try:
        if not select.select([], [descriptor], [], seconds)[1]:
            return False
        while piece:
            piece = piece[os.write(descriptor, piece) :]
    except OSError:
        return False
    return True


READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open a file which exists, and neither follow a link nor wait for the other end of a pipe."""


def cache_home() -> Path:
    """Return the folder below which programs of this user keep their caches."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())


def file_state(path: str) -> list[int]:
    """Return numbers of a file that differ when it was changed; none if what is there is not a file itself."""
    status = os.lstat(path)
    is_file = stat.S_ISREG(status.st_mode)
    # A program can set the time of modification, but not that of the change of status.
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino] if is_file else []


def permissions(status: os.stat_result, *, is_program: bool) -> int:
    """Return the permission bits of a file."""
    return stat.S_IMODE(status.st_mode)


def replace_file(new: Path, target: Path) -> None:
    """Give a new file the name of another one, although that is in use."""
    new.replace(target)


def status_of_entry(entry: os.DirEntry[str], *, follow: bool) -> os.stat_result:
    """Return the status of a folder's entry."""
    return entry.stat(follow_symlinks=follow)


def open_log_pipe(path: Path) -> IO[bytes]:
    """Make a path that others append to, and return the stream of what they append."""
    os.mkfifo(path, 0o600)
    # Also open for writing, so that there is no end of file between two writers.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CLOEXEC), "rb", buffering=0)


GROUP_OPTIONS: dict[str, Any] = {"start_new_session": True}
"""Options of Popen for a program that gets a group."""
NEEDED_VARIABLES: tuple[str, ...] = ()
"""Variables without which no program runs."""
USER_VARIABLES = ("HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME")
"""Variables that name the user's folders."""


class ProgramGroup:
    """A program that was started with GROUP_OPTIONS, and what it started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._leader = process.pid

    def end(self) -> None:
        """End all of it at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._leader, signal.SIGKILL)

    def close(self) -> None:
        """Forget the group: its program has ended."""
