"""A folder that only we can write to, and parcels in it: each under the digest of what is in it, verified before use.

What is refused: a folder of somebody else, one that others may write to, a symlink where a folder of ours is expected,
a file system from which nothing may be run.  Verified means read and digested, once a process; nobody else can change
a file after that, because nobody else can reach it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Files = Mapping[str, str]
    """The digest of each file by its path."""
    Read = Callable[[str], bytes]
    """Returns what the archive has of a file."""

VARIABLE = "MCPC_RUNTIME_CACHE"
OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNFINISHED, GIVEN_UP_SECONDS = ".new-", 3600
TRIES = 3


class UnusableError(Exception):
    """A folder cannot be used; the message says which, and why."""


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


def make_missing(path: str) -> None:
    """Make a folder and those above it, each for us alone (`os.makedirs` would leave those to the umask)."""
    if not os.path.isdir(path):
        make_missing(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise NotADirectoryError(20, "Not a directory", path) from None


def refuse_shared(path: str) -> None:
    """Refuse a folder if somebody else could put another one in its place, or in that of one above it."""
    while True:
        found = os.lstat(path)
        if path != "/" and found.st_uid not in (0, os.geteuid()):
            raise UnusableError(f"{path} belongs to another user")
        theirs = stat.S_IWOTH if found.st_gid == os.getegid() else OTHERS
        if found.st_mode & theirs and not found.st_mode & stat.S_ISVTX:
            raise UnusableError(f"{path} can be written to by others")
        if path == "/":
            return
        path = os.path.dirname(path)


def make_own(path: str) -> None:
    """Make a folder, or see to it that the one which is there is ours alone."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode):
            kind = "a symlink" if stat.S_ISLNK(found.st_mode) else "no folder"
            raise UnusableError(f"{path} is {kind}") from None
        refuse_others(path, found)


def refuse_others(path: str, found: os.stat_result) -> None:
    """Refuse what is not ours, or what others may write to."""
    if found.st_uid != os.geteuid():
        raise UnusableError(f"{path} belongs to another user")
    if found.st_mode & OTHERS:
        raise UnusableError(f"{path} can be written to by others")


def name_of(files: Files) -> str:
    """Return the name of the folder in which these files lie: the digest of their digests."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def folder(root: str, files: Files, read: Read) -> str:
    """Return the folder below `root` in which these files lie, verified; what is not as it must be is replaced."""
    path = os.path.join(root, name_of(files))
    for _ in range(TRIES):
        try:
            if is_whole(path, files):
                return path
            put(path, files, read)
        except OSError as problem:
            raise UnusableError(f"{problem.filename or path}: {problem.strerror}") from None
    raise UnusableError(f"{path} does not stay as it is written")


def is_whole(path: str, files: Files) -> bool:
    """Tell whether every file is there, ours alone, and has its digest; they are read for that."""
    for name, digest in files.items():
        place = os.path.join(path, name)
        try:
            if os.path.realpath(place) != place:
                return False
            with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                found = os.fstat(file.fileno())
                refuse_others(place, found)
                if not stat.S_ISREG(found.st_mode) or hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    return False
        except (OSError, UnusableError):
            return False
    return True


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
