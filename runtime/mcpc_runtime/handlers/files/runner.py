"""Runner of file reads: threads read files below a declared folder, so that a slow disk delays only its own calls.

Only files below the folder are opened.  Each step of a path is opened relative to the previous one, and symbolic links
are refused, so a path that is replaced meanwhile cannot lead outside.  Hard links are refused, since the other name may
be outside.  Only regular files are read, and at most FILE_LIMIT bytes of each.
"""

from __future__ import annotations

from _collections import deque
from _stat import S_ISREG
from _thread import start_new_thread
from collections.abc import Callable
from errno import EAGAIN, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR
from typing import Any

from mcpc_runtime.handlers.invocations import FileRead, FileResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.log import log_failure
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.cleanup import Rollback
from mcpc_runtime.transports.platforms.files import open_file_below
from mcpc_runtime.transports.platforms.pipes import wake_pipe
from mcpc_runtime.transports.platforms.reactor import READABLE
from mcpc_runtime.transports.platforms.scripts import is_absolute, local_path

FILE_LIMIT = 16 << 20
CHUNK_SIZE = 1 << 20
MAX_THREADS = 4
"""The maximum number of files that are read at the same time, one thread each."""
RETRY_SECONDS = 0.05
MISSING_ERRORS = (EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR)
"""The system's errors for a path without a file; a symbolic link in the path is one of them."""


class FileRefusedError(OSError):
    """A file exists, but must not be read."""


class FileJob:
    """One file to read; `done` becomes None when it is stopped or completed."""

    __slots__ = ("done", "request", "result")

    def __init__(self, request: FileRead, done: Callable[[FileResult], None]) -> None:
        self.request = request
        self.done: Callable[[FileResult], None] | None = done
        self.result = FileResult()


class FileRunner:
    """Reads files, or calls another blocking function `read`, in threads.

    Memory: the files that are being read, and results that are not delivered yet.
    """

    def __init__(self, host: RunnerContext, read: Callable[[Any], Any] | None = None) -> None:
        self._host = host
        self._read_function = read or read_requested_file
        self._waiting: deque[FileJob] = deque()
        self._ended: deque[FileJob] = deque()
        self._threads = 0
        self._bell: tuple[int, int] | None = None

    def start(self, request: Any, done: Callable[[FileResult], None], note: Notify) -> FileJob:
        """Read a file; raise OSError if no thread can be started now."""
        if self._bell is None:
            self._bell = wake_pipe()
            self._host.reactor.watch(self._bell[0], READABLE, self._deliver)
        job = FileJob(request, done)
        self._waiting.append(job)
        try:
            self._start_threads()
        except OSError:
            self._waiting.remove(job)
            raise
        return job

    def stop(self, job: FileJob) -> None:
        """Discard the result of a job."""
        job.done = None

    def close(self) -> None:
        """Stop listening for results; threads end with the server."""
        if self._bell is not None:
            self._host.reactor.forget(self._bell[0])

    def _start_threads(self) -> None:
        """Start threads for waiting jobs, up to MAX_THREADS."""
        while self._waiting and self._threads < MAX_THREADS:
            job = self._waiting[0]
            if job.done is not None:
                try:
                    start_new_thread(self._run, (job,))
                except RuntimeError as problem:
                    if self._threads:
                        return  # the next thread that ends makes room
                    raise OSError(EAGAIN, str(problem)) from None
                self._threads += 1
            self._waiting.popleft()

    def _run(self, job: FileJob) -> None:
        """Read a file in a separate thread, then wake the reactor."""
        try:
            job.result = self._read_function(job.request)
        except Exception as problem:  # noqa: BLE001 - any failure belongs to this file, and the thread must wake the reactor
            log_failure(problem)
            job.result = FileResult(problem=f"{type(problem).__name__}: {problem}")
        self._ended.append(job)
        if self._bell is not None:
            try:
                system.write(self._bell[1], b"!")
            except OSError:  # the reactor is already notified
                return

    def _deliver(self) -> None:
        """Deliver results."""
        if self._bell is not None:
            system.read(self._bell[0], 1024)
        while self._ended:
            job = self._ended.popleft()
            self._threads -= 1
            done, job.done = job.done, None
            if done is not None:
                done(job.result)
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start threads for waiting jobs; retry later if the system has no room."""
        try:
            self._start_threads()
        except OSError:
            self._host.reactor.after(RETRY_SECONDS, self._start_waiting)


def read_requested_file(request: FileRead) -> FileResult:
    """Read the file that a request names."""
    return read_file_below(request.folder, request.path)


def read_file_below(folder: str, path: str) -> FileResult:
    """Return the content of a file below a folder, or why it cannot be read."""
    base = folder_path(folder)
    if not is_absolute(base):
        return FileResult(problem=f"the environment variable {folder[1:]} does not name a folder")
    try:
        file = open_below(base, path)
    except FileRefusedError as problem:
        return FileResult(problem=str(problem.strerror), missing=True)
    except OSError as problem:
        if problem.errno in MISSING_ERRORS:
            return FileResult(missing=True)
        return FileResult(problem=f"cannot be opened: {problem.strerror}")
    try:
        return read_whole_file(file)
    except OSError as problem:
        return FileResult(problem=f"cannot be read: {problem.strerror}")
    finally:
        system.close(file)


def folder_path(folder: str) -> str:
    """Return the path of a folder; an empty string if it is in a variable that is not set."""
    if not folder.startswith("$"):
        return local_path(folder)
    return local_path(str(system.environ.get(folder[1:].encode(), b""), "utf-8", "surrogateescape"))


def open_below(folder: str, path: str) -> int:
    """Return a descriptor of a file below a folder; raise OSError, or FileRefusedError for a file not to be read."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise FileRefusedError(ENOENT, "its path leads out of its folder")
    file = open_file_below(folder, parts, refuse_irregular)
    with Rollback(lambda: system.close(file)):
        refuse_irregular(system.fstat(file))
    return file


def refuse_irregular(status: system.stat_result) -> None:
    """Raise FileRefusedError for a file that is not regular, or is a hard link."""
    if not S_ISREG(status.st_mode):
        raise FileRefusedError(ENOENT, "not a regular file")
    if status.st_nlink > 1:
        raise FileRefusedError(ENOENT, "hard links are not served")


def read_whole_file(file: int) -> FileResult:
    """Return the content of a file; stop with a problem if it is larger than FILE_LIMIT, or grows beyond it."""
    chunks: list[bytes] = []
    rest = FILE_LIMIT + 1 if system.fstat(file).st_size <= FILE_LIMIT else 0
    while rest > 0:
        chunk = system.read(file, min(CHUNK_SIZE, rest))
        if not chunk:
            return FileResult(b"".join(chunks))
        chunks.append(chunk)
        rest -= len(chunk)
    return FileResult(problem=f"larger than {FILE_LIMIT >> 20} MiB")
