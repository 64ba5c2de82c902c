"""Detect changes of the server's own file: nothing is served from a file that was written to since it was opened.

A file that replaces it under the same name does no harm: the descriptor stays with the first file.  A file that is
written to in place has other bytes at the known offsets: each reader compares its size and modification time after
reading, and raises FileChangedError.  What was read before remains valid.
"""

from __future__ import annotations

import zipimport
from collections.abc import Callable

from mcpc_runtime.transports.platforms import system

State = tuple[int, int, int]
"""A file's inode, size, and time of its last change."""
Read = Callable[[int, int], bytes]
"""Returns a range of an entry: offset and length."""


SEPARATOR: str = zipimport.path_sep  # type: ignore[attr-defined]
"""What the importer writes for "/" in the names of entries."""
OUTSIDE = "the server's file is damaged: it names a place outside of its entry {name}"
CHANGED = "the server's file was changed while the server ran; restart the server"


class FileChangedError(ImportError):
    """The file has other bytes than when it was opened."""

    def __init__(self) -> None:
        super().__init__(CHANGED)


watched: dict[str, State] = {}
"""The state of each archive when it was opened."""


def file_state(file: str | int) -> State:
    """Return the inode, size and modification time of a file, given by its path or a descriptor."""
    status = system.stat(file)
    return status.st_ino, status.st_size, status.st_mtime_ns


def watch_archive(archive: str, known: State | None = None) -> State:
    """Check an archive for changes at each import from it; `known`: its state when the server started."""
    if not watched:
        guard_imports()
    state = watched[archive] = known or file_state(archive)
    return state


def is_changed(archive: str) -> bool:
    """Tell whether an archive was written to, or is not there any more."""
    try:
        return archive in watched and file_state(archive) != watched[archive]
    except OSError:
        return True


def check_unchanged(archive: str) -> None:
    """Raise FileChangedError if an archive was written to."""
    if is_changed(archive):
        raise FileChangedError


def entry_reader(descriptor: int, known: State, loader: zipimport.zipimporter, name: str) -> Read:
    """Return a function that reads ranges of an entry: in place if it is uncompressed, else from a copy in memory.

    A file that was changed since it was `known` is not read, and nothing outside of the entry: ImportError.

    The position comes from the archive's own directory, not from the build, so a repacked archive still works.
    """
    # A row of the importer: path, method (0: stored), compressed size, size, offset of the local header, and more.
    files = getattr(loader, "_files", None) or zipimport._zip_directory_cache.get(loader.archive, {})  # type: ignore[attr-defined]
    _, method, size, _, header, *_ = files.get(name.replace("/", SEPARATOR), None) or (0, -1, 0, 0, 0)
    if method != 0:
        copy: bytes = loader.get_data(f"{loader.archive}/{name}")
        return lambda offset, length: copy[offset : offset + length]
    # A local header has 30 bytes, then a name and an extra field; their lengths are at 26 and 28 (APPNOTE.TXT, 4.3.7).
    local = system.pread(descriptor, 30, header)
    start = header + 30 + int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")

    def read(offset: int, length: int) -> bytes:
        if not 0 <= offset <= offset + length <= size:
            raise ImportError(OUTSIDE.format(name=name))
        data: bytes = system.pread(descriptor, length, start + offset)
        if file_state(descriptor) != known:
            raise FileChangedError
        return data

    return read


def archive_descriptor(archive: str, number: int) -> tuple[str, dict[int, int]]:
    """Return the path by which a new program opens an archive, and the descriptors to pass for that ({theirs: ours}).

    `number`: the descriptor's number in the program.  Other processes may not open this process's descriptors.
    """
    prefix = f"/proc/{system.getpid()}/fd/"
    if archive.startswith(prefix):
        return f"/proc/self/fd/{number}", {number: int(archive.removeprefix(prefix))}
    return archive, {}


def guard_imports() -> None:
    """Make the interpreter's zip importer refuse an archive that was written to."""
    read = zipimport._get_data  # type: ignore[attr-defined]

    def read_unchanged(archive: str, entry: object) -> bytes:
        try:
            data: bytes = read(archive, entry)
        # In any case: to the importer a changed file is only a damaged one, and this error says the cause.
        finally:
            check_unchanged(archive)
        return data

    zipimport._get_data = read_unchanged  # type: ignore[attr-defined]
