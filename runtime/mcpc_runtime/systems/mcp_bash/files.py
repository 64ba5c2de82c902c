"""The private folder of one call: created when the call begins, removed after its end; its content is not trusted.

A link that a tool put in place of a file is never followed: only regular files are read, up to a limit.
"""

from __future__ import annotations

from _stat import S_ISREG
from errno import EEXIST

from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import access_of_others
from mcpc_runtime.transports.platforms.processes import remove_quietly, remove_tree
from mcpc_runtime.transports.platforms.scripts import open_stream

CALLS_FOLDER = ".mcpc/calls"
MAX_SPARE = 16
"""The number of emptied folders kept for later calls: removing one may take milliseconds."""
PRIVATE = 0o700
READ_LIMIT = 1 << 20
CREATE_FLAGS = system.O_WRONLY | system.O_CREAT | system.O_EXCL | system.O_NOFOLLOW | system.O_CLOEXEC
# If a tool has put a FIFO or a terminal there, opening it neither waits nor adopts it.
READ_FLAGS = system.O_RDONLY | system.O_NOFOLLOW | system.O_NONBLOCK | system.O_NOCTTY | system.O_CLOEXEC


class CallFolder:
    """The folder of a call.  `stream`: the descriptor from which the tool's progress and log are read."""

    __slots__ = ("_path", "key", "stream")

    def __init__(self, above: str, key: str) -> None:
        self._path = f"{above}/{key}".encode("utf-8", "surrogateescape")
        self.key = key.encode()
        self.stream = -1

    @property
    def location(self) -> str:
        """The path of the folder."""
        return str(self._path, "utf-8", "surrogateescape")

    def make(self, spare: str = "") -> None:
        """Create the folder, or rename an emptied one; raise OSError, with nothing left, if that fails.

        Its name is new for each call, so that processes of an earlier call do not find it.
        """
        if not (spare and rename_private(spare, self.location)):
            system.mkdir(self._path, PRIVATE)
        try:
            self.stream = open_stream(self.path("stream"))
            for name in ("error", "resources"):
                system.close(system.open(self.path(name), CREATE_FLAGS, 0o600))
        except OSError:
            self.remove()
            raise

    def path(self, name: str) -> bytes:
        """Return the path of a file in the folder."""
        return b"%b/%b" % (self._path, name.encode())

    def write(self, name: str, data: bytes) -> bytes:
        """Write a file atomically; return its path."""
        unseen = self.path(f"{name}.new")
        # The tool may have put a link or a file there, which O_EXCL would refuse.
        remove_quietly(system.unlink, unseen)
        file = system.open(unseen, CREATE_FLAGS, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[system.write(file, view) :]
        finally:
            system.close(file)
        system.rename(unseen, self.path(name))
        return self.path(name)

    def read(self, name: str, limit: int = READ_LIMIT) -> bytes:
        """Return the content of a regular file, up to a limit; nothing for anything else."""
        try:
            file = system.open(self.path(name), READ_FLAGS)
        except OSError:
            return b""
        try:
            status = system.fstat(file)
            return system.read(file, limit) if S_ISREG(status.st_mode) and status.st_size else b""
        except OSError:
            return b""
        finally:
            system.close(file)

    def take(self, name: str) -> bytes:
        """Return the content of a file, and remove it; one that is written meanwhile stays for the next time."""
        taken = f"{name}.taken"
        try:
            system.rename(self.path(name), self.path(taken))
        except OSError:
            return b""
        data = self.read(taken)
        remove_quietly(system.unlink, self.path(taken))
        return data

    def close(self) -> None:
        """Close the stream."""
        if self.stream >= 0:
            system.close(self.stream)
            self.stream = -1

    def empty(self) -> None:
        """Remove the content; raise OSError if that fails."""
        self.close()
        for entry in list(system.scandir(self._path)):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(str(entry.path, "utf-8", "surrogateescape"))
            else:
                system.unlink(entry.path)

    def remove(self) -> None:
        """Remove the folder with its content."""
        self.close()
        remove_tree(self.location)


class CallFolders:
    """The folders of a server's calls, below its extracted files."""

    def __init__(self) -> None:
        self._number = 0
        self._spare: list[str] = []

    def take(self, home: str) -> CallFolder:
        """Return a folder for a call; raise OSError if none can be created."""
        self._number += 1
        folder = CallFolder(make_calls_folder(home), f"w{self._number}")
        folder.make(self._spare.pop() if self._spare else "")
        return folder

    def give_back(self, folder: CallFolder) -> None:
        """Empty and keep the folder of a call that has ended, or remove it."""
        try:
            folder.empty()
        except OSError:
            folder.remove()
            return
        if len(self._spare) < MAX_SPARE:
            self._spare.append(folder.location)
        else:
            folder.remove()


def rename_private(old: str, new: str) -> bool:
    """Rename a folder; tell whether it existed, and is private."""
    try:
        system.rename(old, new)
        # The tool that had the folder may have changed its mode.
        return not access_of_others(system.stat(new, follow_symlinks=False))
    except OSError:
        return False


def make_calls_folder(home: str) -> str:
    """Return the parent of the calls' folders, created if missing; raise OSError if that fails."""
    folder = f"{home}/{CALLS_FOLDER}"
    for path in (f"{home}/.mcpc", folder):
        try:
            system.mkdir(path, PRIVATE)
        except OSError as problem:
            if problem.errno != EEXIST:
                raise
    return folder


def write_cancelled(files: CallFolder) -> None:
    """Write the file that tells a script that its call is cancelled."""
    try:
        files.write("cancelled", b"")
    except OSError:  # it is ended anyway
        return
