"""The server's file as it was when it was opened: nothing is served from a file that was written to since.

A file that takes the name of another one does no harm, for the descriptor stays with the first.  One that is written to
in place has other bytes at the places that are known: whatever reads from it compares its size and its time of change
afterwards, and raises ChangedError.  What was read before stays right.
"""

from __future__ import annotations

import posix
import zipimport

TYPE_CHECKING = False
if TYPE_CHECKING:
    State = tuple[int, int, int]
    """A file's inode, size, and time of its last change."""

CHANGED = "the server's file was changed while the server ran; restart the server"


class FileChangedError(ImportError):
    """The file has other bytes than when it was opened."""

    def __init__(self) -> None:
        super().__init__(CHANGED)


watched: dict[str, State] = {}
"""What is known of each archive."""


def state(file: str | int) -> State:
    """Return what says whether a file, given by its path or a descriptor, was written to."""
    found = posix.stat(file)
    return found.st_ino, found.st_size, found.st_mtime_ns


def watch(archive: str, known: State | None = None) -> State:
    """Have whatever imports from an archive see whether it is what it was; `known`: what it was when a server began."""
    if not watched:
        guard_imports()
    found = watched[archive] = known or state(archive)
    return found


def is_changed(archive: str) -> bool:
    """Tell whether an archive was written to, or is not there any more."""
    try:
        return archive in watched and state(archive) != watched[archive]
    except OSError:
        return True


def refuse_changed(archive: str) -> None:
    """Raise ChangedError if an archive was written to."""
    if is_changed(archive):
        raise FileChangedError


def given(archive: str, number: int) -> tuple[str, dict[int, int]]:
    """Return where a program that is started finds an archive, and which descriptor it is to have for that.

    `number`: what the program is to call it.  Nobody but this process may look at this process's own descriptors.
    """
    own = f"/proc/{posix.getpid()}/fd/"
    if archive.startswith(own):
        return f"/proc/self/fd/{number}", {number: int(archive.removeprefix(own))}
    return archive, {}


def guard_imports() -> None:
    """Have the interpreter's importer of archives give nothing of one that was written to."""
    read = zipimport._get_data  # type: ignore[attr-defined]

    def read_unchanged(archive: str, entry: object) -> bytes:
        try:
            data: bytes = read(archive, entry)
        finally:
            refuse_changed(archive)
        return data

    zipimport._get_data = read_unchanged  # type: ignore[attr-defined]
