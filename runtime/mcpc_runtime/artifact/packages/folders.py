"""The private cache folder of extracted native packages: each is named by its digest, and verified before use.

Refused are: a folder of another user, one that others may write to, a symbolic link in place of a private folder, and a
file system mounted with noexec.  To verify, all files are read and digested, once per process, relative to the folder's
descriptor; modules are loaded through this descriptor, so replacing the folder afterwards has no effect.  A process
that extracts a folder keeps the descriptor of what it wrote, whose digests it verified before writing.

Several threads extract and verify: what takes the time, in C, does not hold the interpreter's lock.
"""

from __future__ import annotations

import _imp
import hashlib
import os
import stat
import threading
import time
from _collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from mcpc_runtime.transports.platforms.cleanup import Rollback
from mcpc_runtime.transports.platforms.files import (
    UnusableFolderError,
    check_private,
    check_unshared,
    make_private_folder,
    make_private_folders,
)

Files = Mapping[str, str]
"""The digest of each file by its path."""
Read = Callable[[str], bytes]
"""Returns the content of a file in the archive."""


CACHE_VARIABLE = "MCPC_RUNTIME_CACHE"
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Windows lacks it, and has `profile_folders.py`, which uses a part of this module."""
FOLDER_FLAGS = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
UNFINISHED_PREFIX, ABANDONED_SECONDS = ".new-", 3600
MAX_TRIES = 10
PAUSE_SECONDS = 0.02
"""Delay between tries, times the number of earlier tries: several processes may replace a damaged folder at once."""


class DamagedFileError(Exception):
    """A file of an extracted folder differs from the build."""


def cache_roots() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the locations to try: an existing base folder, and the names of the private folders below it."""
    configured_folder = os.environ.get(CACHE_VARIABLE)
    if configured_folder:
        yield (
            os.path.split(os.path.abspath(configured_folder))[0],
            (os.path.basename(os.path.abspath(configured_folder)),),
        )
        return
    configured = os.environ.get("XDG_CACHE_HOME", "")
    cache = configured if os.path.isabs(configured) else os.path.expanduser("~/.cache")
    if os.path.isabs(cache):  # a user who is unknown to the system has no home folder
        yield cache, ("mcpc", "native")
    # All users may write there, so that the name has the user in it.
    yield os.environ.get("TMPDIR") or "/tmp", (f"mcpc-{os.geteuid()}", "native")


def make_trusted_folder(base: str, names: tuple[str, ...]) -> str:
    """Return a folder that only this user can write to, created if missing; raise UnusableFolderError."""
    path = os.path.realpath(base)
    try:
        make_private_folders(path)
        check_unshared(path)
        for name in names:
            path = os.path.join(path, name)
            make_private_folder(path)
        if hasattr(os, "statvfs") and os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0):
            raise UnusableFolderError(f"{path} is on a file system mounted with noexec")
    except OSError as problem:
        raise UnusableFolderError(f"{problem.filename or path}: {problem.strerror}") from None
    return path


def digest_name(files: Files) -> str:
    """Return the name of the folder for these files: the digest of their digests."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def extract_folder(root: str, files: Files, read: Read) -> str:
    """Return the verified folder of these files below `root`; a missing or damaged folder is replaced.

    If /proc is available, the path is that of a descriptor, so that modules are loaded from the verified folder.
    """
    path = os.path.join(root, digest_name(files))
    for before in range(MAX_TRIES):
        # The first two tries come at once: one that writes, and one that verifies.
        time.sleep(PAUSE_SECONDS * max(before - 1, 0))
        try:
            descriptor = open_verified(path, files)
            if descriptor >= 0:
                return descriptor_path(path, descriptor)
            descriptor = write_folder(path, files, read)
            if descriptor >= 0:
                return descriptor_path(path, descriptor)
        except OSError as problem:
            raise UnusableFolderError(f"{problem.filename or path}: {problem.strerror}") from None
    raise UnusableFolderError(f"{path} does not keep what is written to it")


def is_intact(path: str, files: Files) -> bool:
    """Tell whether every file exists, is private, and has its digest; all are read."""
    descriptor = open_verified(path, files)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def open_verified(path: str, files: Files) -> int:
    """Return a descriptor of the folder if all its files are intact, else -1."""
    opened: dict[str, int] = {}

    def verify(name: str) -> None:
        if not has_digest(opened[os.path.dirname(name)], os.path.basename(name), files[name]):
            raise DamagedFileError

    try:
        for name in files:
            open_folder(path, os.path.dirname(name), opened)
        for_each(files, verify)
        # A copy, because all that were opened are closed below.
        return os.dup(opened[""])
    except (OSError, KeyError, UnusableFolderError, DamagedFileError):
        return -1
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def open_folder(path: str, below: str, opened: dict[str, int]) -> int:
    """Return a descriptor of a folder below `path`, opened step by step through private folders."""
    if below not in opened:
        if below:
            above, name = open_folder(path, os.path.dirname(below), opened), os.path.basename(below)
            opened[below] = os.open(name, FOLDER_FLAGS, dir_fd=above)
        else:
            opened[below] = os.open(path, FOLDER_FLAGS)
        check_private(os.path.join(path, below), os.fstat(opened[below]))
    return opened[below]


def has_digest(above: int, name: str, digest: str) -> bool:
    """Tell whether a file is regular, private, and has a digest."""
    # O_NONBLOCK, because opening a FIFO in place of the file would wait for a writer.
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above), "rb") as file:
        status = os.fstat(file.fileno())
        check_private(name, status)
        return stat.S_ISREG(status.st_mode) and hashlib.file_digest(file, "sha256").hexdigest() == digest


def descriptor_path(path: str, descriptor: int) -> str:
    """Return a path of a verified folder through its descriptor, if the system has such paths, else `path`."""
    held_path = f"/proc/{os.getpid()}/fd/{descriptor}"
    if os.path.isdir(held_path):
        return held_path
    os.close(descriptor)
    return path


def write_folder(path: str, files: Files, read: Read) -> int:
    """Write the files into a folder beside `path`, and rename it; return its descriptor, or -1: verify `path`.

    `read` verifies what it returns.
    """
    remove_abandoned(os.path.dirname(path))
    new = f"{os.path.dirname(path)}/{UNFINISHED_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
    os.mkdir(new, 0o700)
    try:
        descriptor = os.open(new, FOLDER_FLAGS)
        with Rollback(lambda: os.close(descriptor)):
            for folder in sorted({os.path.dirname(name) for name in files}):
                make_private_folders(os.path.join(new, folder))
            for_each(files, lambda name: write_file(os.path.join(new, name), read(name)))
            is_new = put_folder(path, new, files)
        if is_new:
            return descriptor
        os.close(descriptor)
        return -1
    finally:
        remove_tree(new)
        remove_tree(f"{new}.old")


def put_folder(path: str, new: str, files: Files) -> bool:
    """Rename a new folder to `path`, unless there is an intact one; return whether no other process will replace it.

    Processes do this one after another: none replaces what it did not find damaged.
    """
    above = os.open(os.path.dirname(path), FOLDER_FLAGS)
    try:
        is_locked = lock(above)
        try:
            os.rename(new, path)
        except OSError:
            if not is_intact(path, files):
                replace_folder(path, new)
            return False
        return is_locked
    finally:
        os.close(above)


def lock(descriptor: int) -> bool:
    """Lock a file or folder until its descriptor is closed; False if the file system has no locks."""
    import fcntl  # noqa: PLC0415 - the compiler imports this module on Windows, too, which lacks it

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def replace_folder(path: str, new: str) -> None:
    """Replace whatever is at `path` by a folder; what another process puts there will be verified."""
    try:
        os.rename(path, f"{new}.old")
        os.rename(new, path)
    except OSError:
        if os.path.lexists(path):
            return
        raise


def write_file(path: str, data: bytes) -> None:
    """Write a new file in a folder that exists."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) or 0 :]


def remove_abandoned(root: str) -> None:
    """Remove unfinished folders of processes that were ended while they wrote."""
    for name in os.listdir(root):
        path = os.path.join(root, name)
        if name.startswith(UNFINISHED_PREFIX) and is_older(path, ABANDONED_SECONDS):
            remove_tree(path)


def is_older(path: str, seconds: float) -> bool:
    """Tell whether a path exists, and was last modified more than `seconds` ago."""
    try:
        return os.lstat(path).st_mtime < time.time() - seconds
    except OSError:
        return False


def remove_tree(path: str) -> None:
    """Remove a folder with its content, or a file; what cannot be removed stays."""
    if os.path.isdir(path) and not os.path.islink(path):
        for below, folders, names in os.walk(path, topdown=False):
            for name in (*names, *folders):
                remove_entry(os.path.join(below, name))
    remove_entry(path)


def remove_entry(path: str) -> None:
    """Remove a file, a symlink or an empty folder."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        return


def write_memory_file(data: bytes, name: str) -> str:
    """Return the path of a file in memory; raise UnusableFolderError if the system has no such files."""
    if not hasattr(os, "memfd_create"):
        raise UnusableFolderError("this system does not support files in memory")
    descriptor = os.memfd_create(name)
    # Left open while the process lives: the path leads through the descriptor.
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(data)
    return f"/proc/self/fd/{descriptor}"


MAX_THREADS = 4


def for_each(items: Iterable[str], function: Callable[[str], None]) -> None:
    """Call a function with each item, in this thread and in one for each other processor; raise its first exception.

    All calls have ended when this returns.
    """
    waiting = deque(items)
    problems: list[BaseException] = []
    depth = release_import_lock()
    try:
        count = min(processors(), len(waiting)) - 1
        threads = [*start_threads(count, lambda: call_waiting(waiting, function, problems))]
        try:
            call_waiting(waiting, function, problems)
        finally:
            waiting.clear()
            for thread in threads:
                thread.join()
    finally:
        for _ in range(depth):
            _imp.acquire_lock()
    if problems:
        raise problems[0]


def release_import_lock() -> int:
    """Give the import lock back, and return how often this thread had it.

    Python has it while it asks a finder.  A finder of packages extracts them, and a thread of the extraction that
    imports a module would wait for the lock as long as the finder waits for the thread.
    """
    depth = 0
    while True:
        try:
            _imp.release_lock()
        except RuntimeError:  # this thread does not have it
            return depth
        depth += 1


def call_waiting(waiting: deque[str], function: Callable[[str], None], problems: list[BaseException]) -> None:
    """Call a function with items until there are none, or there is a problem."""
    while not problems:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        try:
            function(item)
        except BaseException as problem:  # noqa: BLE001 - it is raised in the thread that waits
            problems.append(problem)


def start_threads(number: int, function: Callable[[], None]) -> Iterator[threading.Thread]:
    """Start threads, fewer if the system allows no more."""
    for _ in range(number):
        thread = threading.Thread(target=function, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return
        yield thread


def processors() -> int:
    """Return how many processors this process may use, at most MAX_THREADS."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MAX_THREADS)
