"""Runner of file reads: threads read files below a declared folder, so that a slow disk delays only its own calls.

Only files below the folder are opened.  Each step of a path is opened relative to the previous one, and symbolic links
are refused, so a path that is replaced meanwhile cannot lead outside.  Hard links are refused, since the other name may
be outside.  Only regular files are read, and at most FILE_LIMIT bytes of each.
"""

from __future__ import annotations

from _stat import S_ISREG
from collections.abc import Callable
from errno import EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR
from typing import Any

from mcpc_runtime.handlers.invocations import FileRead, FileResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.handlers.threads import ThreadJob, ThreadRunner
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.cleanup import Rollback
from mcpc_runtime.transports.platforms.files import open_file_below
from mcpc_runtime.transports.platforms.scripts import is_absolute, local_path

FILE_LIMIT = 16 << 20
CHUNK_SIZE = 1 << 20
MAX_THREADS = 4
"""The maximum number of files that are read at the same time, one thread each."""
MISSING_ERRORS = (EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR)
"""The system's errors for a path without a file; a symbolic link in the path is one of them."""


class FileRefusedError(OSError):
    """A file exists, but must not be read."""


class FileRunner(ThreadRunner):
    """Reads files, or calls another blocking function `read`, in threads."""

    def __init__(self, host: RunnerContext, read: Callable[[Any], Any] | None = None) -> None:
        super().__init__(host, MAX_THREADS)
        self._read_function = read or read_requested_file

    def perform(self, job: ThreadJob) -> Any:
        """Read the file of a job."""
        return self._read_function(job.request)

    def failed(self, job: ThreadJob, problem: Exception) -> Any:
        """Return what stands for a file whose reading failed."""
        return FileResult(problem=f"{type(problem).__name__}: {problem}")


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
        # Once more, of what was opened: the first look was at what the name meant before.
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
