"""A folder that only we can write to, and parcels in it: each under the digest of what is in it, verified before use.

What is refused: a folder of somebody else, one that others may write to, a symlink where a folder of ours is expected,
a file system from which nothing may be run.  Verified means read and digested, once a process, step by step from the
folder's descriptor, which is what modules are loaded from: who can put another folder in its place gains nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time

from mcpc_runtime.ownership import UnusableError, make_missing, make_own, refuse_others, refuse_shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Files = Mapping[str, str]
    """The digest of each file by its path."""
    Read = Callable[[str], bytes]
    """Returns what the archive has of a file."""

VARIABLE = "MCPC_RUNTIME_CACHE"
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
UNFINISHED, GIVEN_UP_SECONDS = ".new-", 3600
TRIES = 10
PAUSE_SECONDS = 0.02
"""Between two tries, times the tries before: several processes may replace a damaged folder at once."""


def roots() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the places to try: a folder that must be there, and the folders of ours below it."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        yield os.path.split(os.path.abspath(chosen))[0], (os.path.basename(os.path.abspath(chosen)),)
        return
    given = os.environ.get("XDG_CACHE_HOME", "")
    cache = given if os.path.isabs(given) else os.path.expanduser("~/.cache")
    if os.path.isabs(cache):  # a user of whom the system knows nothing has no home
        yield cache, ("mcpc", "native")
    yield os.environ.get("TMPDIR") or "/tmp", (f"mcpc-{os.geteuid()}", "native")


def private(base: str, names: tuple[str, ...]) -> str:
    """Return a folder that only we can write to, made if need be; raise UnusableError if there cannot be one."""
    path = os.path.realpath(base)
    try:
        make_missing(path)
        refuse_shared(path)
        for name in names:
            path = os.path.join(path, name)
            make_own(path)
        if os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0):
            raise UnusableError(f"{path} is on a file system from which nothing may be run")
    except OSError as problem:
        raise UnusableError(f"{problem.filename or path}: {problem.strerror}") from None
    return path


def name_of(files: Files) -> str:
    """Return the name of the folder in which these files lie: the digest of their digests."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def folder(root: str, files: Files, read: Read) -> str:
    """Return the folder below `root` in which these files lie, verified; what is not as it must be is replaced.

    Where there is /proc the path is that of a descriptor, so that what was verified is what is loaded.
    """
    path = os.path.join(root, name_of(files))
    for before in range(TRIES):
        time.sleep(PAUSE_SECONDS * max(before - 1, 0))
        try:
            descriptor = verified(path, files)
            if descriptor >= 0:
                return held(path, descriptor)
            put(path, files, read)
        except OSError as problem:
            raise UnusableError(f"{problem.filename or path}: {problem.strerror}") from None
    raise UnusableError(f"{path} does not stay as it is written")


def is_whole(path: str, files: Files) -> bool:
    """Tell whether every file is there, ours alone, and has its digest; they are read for that."""
    descriptor = verified(path, files)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def verified(path: str, files: Files) -> int:
    """Return a descriptor of the folder if all in it is whole, else -1: what takes its name later is another folder."""
    opened: dict[str, int] = {}
    try:
        for name, digest in files.items():
            above = opened_folder(path, os.path.dirname(name), opened)
            if not has_digest(above, os.path.basename(name), digest):
                return -1
        return os.dup(opened[""])
    except (OSError, KeyError, UnusableError):
        return -1
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def opened_folder(path: str, below: str, opened: dict[str, int]) -> int:
    """Return a descriptor of a folder below `path`, reached step by step through folders that are ours alone."""
    if below not in opened:
        if below:
            above, name = opened_folder(path, os.path.dirname(below), opened), os.path.basename(below)
            opened[below] = os.open(name, FOLDER, dir_fd=above)
        else:
            opened[below] = os.open(path, FOLDER)
        refuse_others(os.path.join(path, below), os.fstat(opened[below]))
    return opened[below]


def has_digest(above: int, name: str, digest: str) -> bool:
    """Tell whether a file is a file, ours alone, and has a digest."""
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above), "rb") as file:
        found = os.fstat(file.fileno())
        refuse_others(name, found)
        return stat.S_ISREG(found.st_mode) and hashlib.file_digest(file, "sha256").hexdigest() == digest


def held(path: str, descriptor: int) -> str:
    """Return a path that leads to a verified folder whatever becomes of its name, if the system has such paths."""
    place = f"/proc/{os.getpid()}/fd/{descriptor}"
    if os.path.isdir(place):
        return place
    os.close(descriptor)
    return path


def put(path: str, files: Files, read: Read) -> None:
    """Write the files into a folder beside `path`, and give it that name, unless somebody else was faster."""
    sweep(os.path.dirname(path))
    made = f"{os.path.dirname(path)}/{UNFINISHED}{os.getpid()}-{os.urandom(8).hex()}"
    os.mkdir(made, 0o700)
    try:
        for name in files:
            write(os.path.join(made, name), read(name))
        try:
            os.rename(made, path)
        except OSError:
            if not is_whole(path, files):
                exchange(path, made)
    finally:
        remove(made)
        remove(f"{made}.old")


def exchange(path: str, made: str) -> None:
    """Put a folder in the place of what is there, whatever that is; what somebody else put there will be verified."""
    try:
        os.rename(path, f"{made}.old")
        os.rename(made, path)
    except OSError:
        if os.path.lexists(path):
            return
        raise


def write(place: str, data: bytes) -> None:
    """Write a new file."""
    make_missing(os.path.dirname(place))
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def sweep(root: str) -> None:
    """Remove what a process left behind that was ended while it wrote."""
    for name in os.listdir(root):
        place = os.path.join(root, name)
        if name.startswith(UNFINISHED) and is_older(place, GIVEN_UP_SECONDS):
            remove(place)


def is_older(path: str, seconds: float) -> bool:
    """Tell whether something is there, and has not been touched for so long."""
    try:
        return os.lstat(path).st_mtime < time.time() - seconds
    except OSError:
        return False


def remove(path: str) -> None:
    """Remove a folder and all in it, or what else is there; what cannot be removed stays."""
    if os.path.isdir(path) and not os.path.islink(path):
        for below, folders, names in os.walk(path, topdown=False):
            for name in (*names, *folders):
                remove_one(os.path.join(below, name))
    remove_one(path)


def remove_one(path: str) -> None:
    """Remove a file, a symlink or an empty folder."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        return


def in_memory(data: bytes, name: str) -> str:
    """Return the path of a file that is nowhere but in memory; raise UnusableError where there is no such thing."""
    if not hasattr(os, "memfd_create"):
        raise UnusableError("this system has no files in memory")
    descriptor = os.memfd_create(name)
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(data)
    return f"/proc/self/fd/{descriptor}"
