"""Folders below which the author's files may be extracted: no other user can replace one, and programs run there."""

from __future__ import annotations

import posix
from collections.abc import Iterator
from errno import EACCES

from mcpc_runtime.transports.platforms.posix import system_features

WRITABLE_BY_OTHERS, STICKY = 0o022, 0o1000
PRIVATE_MODE = 0o700


def candidate_folders() -> Iterator[str]:
    """Yield the folders to try: of this login session, for temporary files, and the shared /tmp."""
    for variable in (b"XDG_RUNTIME_DIR", b"TMPDIR"):
        variable_value = str(posix.environ.get(variable, b""), "utf-8", "surrogateescape")
        if variable_value.startswith("/"):
            yield variable_value.rstrip("/")
    yield "/tmp"


def check_folder(folder: str) -> None:
    """Raise OSError if other users could replace a folder in it, or if programs cannot be run from it."""
    path = resolve_symlinks(folder)
    while True:
        status = posix.stat(path)
        label = "it" if path == folder else path
        if status.st_uid not in (0, posix.geteuid()):
            raise OSError(EACCES, f"{label} is owned by another user")
        if status.st_mode & WRITABLE_BY_OTHERS and not status.st_mode & STICKY:
            raise OSError(EACCES, f"{label} is writable by other users")
        if path == "/":
            break
        path = path.rpartition("/")[0] or "/"
    if posix.statvfs(folder).f_flag & getattr(posix, "ST_NOEXEC", 0):
        raise OSError(EACCES, "its file system is mounted with noexec")


def make_folder(folder: str) -> str:
    """Make a new folder below another, and return its path; raise OSError.  The supervisor removes it in any case."""
    path = f"{folder}/mcpc-{posix.urandom(12).hex()}"
    posix.mkdir(path, PRIVATE_MODE)
    return path


def resolve_symlinks(folder: str) -> str:
    """Return a folder's path without symlinks; unchanged where the system does not provide it."""
    descriptor = posix.open(folder, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC)
    try:
        return posix.readlink(f"/proc/self/fd/{descriptor}") if system_features.has("proc") else folder
    finally:
        posix.close(descriptor)
