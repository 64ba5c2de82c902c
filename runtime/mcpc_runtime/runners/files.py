"""Files below a folder that was declared: read by threads, so that a slow disk holds nobody but who asked for it.

Its law: what is opened lies below the folder.  Each step of a path is opened from the one before it, and none may be a
link: what is put in a path's place meanwhile can only lead to a file that is there anyway.  A file with a second name
is refused, since that may be one outside.  Only regular files are opened, and of none is more read than FILE_LIMIT.
"""

from __future__ import annotations

import posix
from _collections import deque  # type: ignore[import-not-found]
from _stat import S_ISREG
from _thread import start_new_thread
from errno import EAGAIN, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR

from mcpc_runtime.commands import Found
from mcpc_runtime.reactor import READABLE, hang_bell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Reading
    from mcpc_runtime.host import Host

FILE_LIMIT = 16 << 20
PIECE = 1 << 20
MOST_AT_ONCE = 4
"""So many files are read at once: a thread each."""
RETRY_SECONDS = 0.05
STEP = getattr(posix, "O_PATH", posix.O_RDONLY) | posix.O_DIRECTORY | posix.O_CLOEXEC
LAST = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_NOCTTY | posix.O_CLOEXEC
MISSING = (EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR)
"""How the system says that a path leads to no file; a link on the way is one of these, too."""


class RefusedError(OSError):
    """A file that is there, and is not read."""


class Job:
    """One file to read."""

    __slots__ = ("done", "found", "reading")

    def __init__(self, reading: Reading, done: Callable[[Found], None]) -> None:
        self.reading = reading
        self.done: Callable[[Found], None] | None = done
        self.found = Found()


class FileRunner:
    """Reads files, or brings what else has to be waited for: `read` is called in a thread.

    Memory: what is read at once, and what has been and was not taken.
    """

    def __init__(self, host: Host, read: Callable[[Any], Any] | None = None) -> None:
        self._host = host
        self._read_one = read or read_below
        self._waiting: deque[Job] = deque()
        self._ended: deque[Job] = deque()
        self._threads = 0
        self._bell: tuple[int, int] | None = None

    def start(self, reading: Any, done: Callable[[Found], None], note: Callable[[Any], None]) -> Job:
        """Read a file; raise OSError if there can be no thread for it now."""
        if self._bell is None:
            self._bell = hang_bell()
            self._host.reactor.watch(self._bell[0], READABLE, self._take)
        job = Job(reading, done)
        self._waiting.append(job)
        try:
            self._begin()
        except OSError:
            self._waiting.remove(job)
            raise
        return job

    def stop(self, job: Job) -> None:
        """Tell nobody what becomes of it."""
        job.done = None

    def close(self) -> None:
        """Leave threads where they are: the server ends."""
        if self._bell is not None:
            self._host.reactor.forget(self._bell[0])

    def _begin(self) -> None:
        """Start threads for what waits, as far as they may be."""
        while self._waiting and self._threads < MOST_AT_ONCE:
            job = self._waiting[0]
            if job.done is not None:
                try:
                    start_new_thread(self._read, (job,))
                except RuntimeError as problem:
                    if self._threads:
                        return  # the next that ends makes room
                    raise OSError(EAGAIN, str(problem)) from None
                self._threads += 1
            self._waiting.popleft()

    def _read(self, job: Job) -> None:
        """Read a file, in a thread of its own, and ring."""
        try:
            job.found = self._read_one(job.reading)
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is this file's, and the thread has to ring
            job.found = Found(problem=f"{type(problem).__name__}: {problem}")
        self._ended.append(job)
        if self._bell is not None:
            try:
                posix.write(self._bell[1], b"!")
            except OSError:  # it rings already
                return

    def _take(self) -> None:
        """Hand over what was read."""
        if self._bell is not None:
            posix.read(self._bell[0], 1024)
        while self._ended:
            job = self._ended.popleft()
            self._threads -= 1
            done, job.done = job.done, None
            if done is not None:
                done(job.found)
        self._go_on()

    def _go_on(self) -> None:
        """Start threads again, now or when there may be one."""
        try:
            self._begin()
        except OSError:
            self._host.reactor.after(RETRY_SECONDS, self._go_on)


def read_below(reading: Reading) -> Found:
    """Read a file below its folder."""
    return read(reading.folder, reading.path)


def read(folder: str, path: str) -> Found:
    """Return what a file below a folder has, or why not."""
    place = place_of(folder)
    if not place.startswith("/"):
        return Found(problem=f"the variable {folder[1:]} does not name a folder")
    try:
        file = open_below(place, path)
    except RefusedError as problem:
        return Found(problem=str(problem.strerror), missing=True)
    except OSError as problem:
        if problem.errno in MISSING:
            return Found(missing=True)
        return Found(problem=f"it cannot be opened: {problem.strerror}")
    try:
        return whole(file)
    except OSError as problem:
        return Found(problem=f"it cannot be read: {problem.strerror}")
    finally:
        posix.close(file)


def place_of(folder: str) -> str:
    """Return the path of a folder, nothing if the variable that has it is not set."""
    if not folder.startswith("$"):
        return folder
    return str(posix.environ.get(folder[1:].encode(), b""), "utf-8", "surrogateescape")


def open_below(folder: str, path: str) -> int:
    """Return a descriptor of a file below a folder; raise OSError, or RefusedError for what is not to be read."""
    *steps, name = path.split("/")
    if any(part in ("", ".", "..") for part in (*steps, name)):
        raise RefusedError(ENOENT, "its path leads out of its folder")
    above = posix.open(folder, STEP)
    try:
        for step in steps:
            below = posix.open(step, STEP | posix.O_NOFOLLOW, dir_fd=above)
            posix.close(above)
            above = below
        judge(posix.stat(name, dir_fd=above, follow_symlinks=False))  # a device may mind being opened
        file = posix.open(name, LAST, dir_fd=above)
    finally:
        posix.close(above)
    try:
        judge(posix.fstat(file))
    except BaseException:
        posix.close(file)
        raise
    return file


def judge(found: posix.stat_result) -> None:
    """Raise RefusedError for what is no regular file, or has a second name."""
    if not S_ISREG(found.st_mode):
        raise RefusedError(ENOENT, "it is no regular file")
    if found.st_nlink > 1:
        raise RefusedError(ENOENT, "it has a second name, which may be outside its folder")


def whole(file: int) -> Found:
    """Return what a file has; one that is too large, or grows beyond that while it is read, is not read on."""
    pieces: list[bytes] = []
    rest = FILE_LIMIT + 1 if posix.fstat(file).st_size <= FILE_LIMIT else 0
    while rest > 0:
        piece = posix.read(file, min(PIECE, rest))
        if not piece:
            return Found(b"".join(pieces))
        pieces.append(piece)
        rest -= len(piece)
    return Found(problem=f"it is larger than {FILE_LIMIT >> 20} MiB")
