"""The folder of one call: nobody else's, made when the call begins, gone after its end; what it has is not trusted.

Its law: what a tool put in place of a file is never followed: what is read is a regular file, and no more of it than
there is a limit for.
"""

from __future__ import annotations

import posix
from _stat import S_IMODE, S_ISREG
from errno import EEXIST

from mcpc_runtime.supervision.folders import attempt, remove_tree

CALLS = ".mcpc/calls"
MOST_SPARE = 16
"""So many folders of calls that are over wait for the next ones: to remove one may take milliseconds."""
PRIVATE = 0o700
SAID_LIMIT = 1 << 20
FRESH = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC
READING = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_NOCTTY | posix.O_CLOEXEC
STREAM = posix.O_RDWR | posix.O_NONBLOCK | posix.O_CLOEXEC
"""A stream that we may write to ourselves is never at its end, and nobody who opens it has to wait."""


class CallFolder:
    """One.  `stream` is the descriptor of what the tool writes its progress and its log to."""

    __slots__ = ("_place", "key", "stream")

    def __init__(self, above: str, key: str) -> None:
        self._place = f"{above}/{key}".encode("utf-8", "surrogateescape")
        self.key = key.encode()
        self.stream = -1

    @property
    def place(self) -> str:
        """Its path."""
        return str(self._place, "utf-8", "surrogateescape")

    def make(self, spare: str = "") -> None:
        """Make it, or of one that is left of another call; raise OSError, with nothing left, if that cannot be.

        It has a name of its own in any case: what still runs of another call does not find it.
        """
        if not (spare and renamed(spare, self.place)):
            posix.mkdir(self._place, PRIVATE)
        try:
            posix.mkfifo(self.path("stream"), 0o600)
            self.stream = posix.open(self.path("stream"), STREAM)
            for name in ("error", "resources"):
                posix.close(posix.open(self.path(name), FRESH, 0o600))
        except OSError:
            self.remove()
            raise

    def path(self, name: str) -> bytes:
        """Return the path of a file in it."""
        return b"%b/%b" % (self._place, name.encode())

    def write(self, name: str, data: bytes) -> bytes:
        """Write a file, whole before it is seen; return its path."""
        unseen = self.path(f"{name}.new")
        attempt(posix.unlink, unseen)  # type: ignore[arg-type]
        file = posix.open(unseen, FRESH, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[posix.write(file, view) :]
        finally:
            posix.close(file)
        posix.rename(unseen, self.path(name))
        return self.path(name)

    def read(self, name: str, limit: int = SAID_LIMIT) -> bytes:
        """Return what a file has, up to a limit; nothing if it is none."""
        try:
            file = posix.open(self.path(name), READING)
        except OSError:
            return b""
        try:
            found = posix.fstat(file)
            return posix.read(file, limit) if S_ISREG(found.st_mode) and found.st_size else b""
        except OSError:
            return b""
        finally:
            posix.close(file)

    def take(self, name: str) -> bytes:
        """Return what a file has, and remove it."""
        data = self.read(name)
        attempt(posix.unlink, self.path(name))  # type: ignore[arg-type]
        return data

    def close(self) -> None:
        """Hear no more of it."""
        if self.stream >= 0:
            posix.close(self.stream)
            self.stream = -1

    def empty(self) -> None:
        """Remove what is in it; raise OSError if that, or it, cannot be had."""
        self.close()
        for entry in list(posix.scandir(self._place)):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(str(entry.path, "utf-8", "surrogateescape"))
            else:
                posix.unlink(entry.path)

    def remove(self) -> None:
        """Remove it, and whatever is in it."""
        self.close()
        remove_tree(self.place)


class Folders:
    """The folders of one server's calls, below its unpacked files."""

    def __init__(self) -> None:
        self._number = 0
        self._spare: list[str] = []

    def take(self, home: str) -> CallFolder:
        """Return a folder for a call; raise OSError if there can be none."""
        self._number += 1
        folder = CallFolder(folder_of_calls(home), f"w{self._number}")
        folder.make(self._spare.pop() if self._spare else "")
        return folder

    def give_back(self, folder: CallFolder) -> None:
        """Take the folder of a call that has ended, with everything that it ran."""
        try:
            folder.empty()
        except OSError:
            folder.remove()
            return
        if len(self._spare) < MOST_SPARE:
            self._spare.append(folder.place)
        else:
            folder.remove()


def renamed(old: str, new: str) -> bool:
    """Give a folder another name; tell whether it was there, and is one that only we may enter."""
    try:
        posix.rename(old, new)
        return S_IMODE(posix.stat(new, follow_symlinks=False).st_mode) == PRIVATE
    except OSError:
        return False


def folder_of_calls(home: str) -> str:
    """Return the folder in which calls have theirs; raise OSError if there can be none."""
    place = f"{home}/{CALLS}"
    for path in (f"{home}/.mcpc", place):
        try:
            posix.mkdir(path, PRIVATE)
        except OSError as problem:
            if problem.errno != EEXIST:
                raise
    return place


def cancel(files: CallFolder) -> None:
    """Let a script see that nobody waits for it."""
    try:
        files.write("cancelled", b"")
    except OSError:  # it is ended anyway
        return
