"""Files and folders: replaced ones, those that only this user can change, those below a folder, and those in memory."""

from __future__ import annotations

import fcntl
import os
import posix
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from errno import EACCES, ENOSYS
from grp import getgrgid
from posix import O_CLOEXEC, O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY
from pwd import getpwuid

from mcpc_runtime.transports.platforms.posix import system_features

__all__ = [
    "keep_attributes",
    "lock_descriptor",
    "new_memory_file",
    "open_file_below",
    "refusal_of_file",
    "replace_file",
]


def lock_descriptor(descriptor: int) -> bool:
    """Take the lock of an open file if no other process has it; tell whether it did.  It ends with the descriptor."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def refusal_of_file(status: os.stat_result) -> str:
    """Return why a file is not changed, or an empty text."""
    if status.st_uid != os.geteuid():
        return "it is owned by another user"
    return "" if status.st_mode & stat.S_IWUSR else "it is read-only"


def keep_attributes(descriptor: int, status: os.stat_result) -> None:
    """Give a new file the mode and the group of another one."""
    # Only a group that this user is in can be chosen (chown(2)); it clears set-user-ID bits, so the mode comes second.
    with suppress(PermissionError):
        os.fchown(descriptor, -1, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def replace_file(new: str, target: str) -> None:
    """Give a new file the name of another one, so that a crash leaves one of both."""
    os.replace(new, target)
    # The new name is on the disk only when its folder is, which syncing the file does not do (fsync(2)).
    descriptor = os.open(os.path.dirname(target), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems cannot do that with folders
    finally:
        os.close(descriptor)


GROUP_OR_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UnusableFolderError(Exception):
    """A folder cannot be used; the message says which, and why."""


def make_private_folders(path: str) -> None:
    """Make a folder and its missing parents, each with mode 0700 (`os.makedirs` leaves parents to the umask)."""
    if not os.path.isdir(path):
        make_private_folders(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise NotADirectoryError(20, "Not a directory", path) from None


def check_unshared(path: str) -> None:
    """Raise UnusableFolderError if other users could replace a folder or one above it."""
    while True:
        status = os.lstat(path)
        if path != "/" and status.st_uid not in (0, os.geteuid()):
            raise UnusableFolderError(f"{path} is owned by another user")
        writable = stat.S_IWOTH if status.st_mode & stat.S_IWGRP and is_own_group(status.st_gid) else GROUP_OR_OTHERS
        if status.st_mode & writable and not status.st_mode & stat.S_ISVTX:
            raise UnusableFolderError(f"{path} is writable by other users")
        if path == "/":
            return
        path = os.path.dirname(path)


def is_own_group(number: int) -> bool:
    """Tell whether a group is private to this user: it has the user's name, and no other member."""
    try:
        user = getpwuid(os.geteuid()).pw_name
        group = getgrgid(number)
    except (KeyError, ImportError):
        return False
    return bool(group.gr_name == user and set(group.gr_mem) <= {user})


def check_private(path: str, status: os.stat_result) -> None:
    """Raise UnusableFolderError if a file is owned by another user or writable by others."""
    if status.st_uid != os.geteuid():
        raise UnusableFolderError(f"{path} is owned by another user")
    if status.st_mode & GROUP_OR_OTHERS:
        raise UnusableFolderError(f"{path} is writable by other users")


def make_private_folder(path: str) -> None:
    """Make a folder; raise UnusableFolderError if an existing one is not private to this user."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            kind = "a symlink" if stat.S_ISLNK(status.st_mode) else "not a folder"
            raise UnusableFolderError(f"{path} is {kind}") from None
        check_private(path, status)


def is_own_file(status: os.stat_result) -> bool:
    """Tell whether a file belongs to this user."""
    return status.st_uid == os.geteuid()


def access_of_others(status: os.stat_result) -> int:
    """Return the bits of a file's mode that give other users access."""
    return status.st_mode & 0o077


def is_credential(path: str, status: os.stat_result) -> bool:
    """Tell whether a file is a credential of systemd: it belongs to root, and an access list has this user alone."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY", "").rstrip("/")
    # With an access list, the bits of the group are the list's mask (acl(5)), so its right to read is not refused.
    is_roots = status.st_uid == 0 and stat.S_ISREG(status.st_mode) and not status.st_mode & 0o137
    return is_roots and bool(folder) and os.path.dirname(path) == folder


def state_folder() -> str:
    """Return the folder below which programs of this user keep their state, or an empty text."""
    home = os.environ.get("HOME", "")
    return os.environ.get("XDG_STATE_HOME", "") or (os.path.join(home, ".local", "state") if home else "")


# O_PATH needs the right to search a folder, not to read it.
FOLDER_FLAGS = getattr(posix, "O_PATH", O_RDONLY) | O_DIRECTORY | O_CLOEXEC
# O_NONBLOCK: a FIFO does not wait for a writer; O_NOCTTY: a terminal does not become the controlling one.
FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC


def open_file_below(folder: str, parts: Sequence[str], judge: Callable[[posix.stat_result], None]) -> int:
    """Return a descriptor of the file of which `parts` is the path below a folder; raise OSError.

    `judge` raises OSError for a file that must not be opened: opening a device may have side effects.
    """
    *steps, name = parts
    above = posix.open(folder, FOLDER_FLAGS)
    try:
        for step in steps:
            # Each step starts from the folder above, so one that is replaced by a link meanwhile leads nowhere else.
            below = posix.open(step, FOLDER_FLAGS | O_NOFOLLOW, dir_fd=above)
            posix.close(above)
            above = below
        judge(posix.stat(name, dir_fd=above, follow_symlinks=False))
        return posix.open(name, FILE_FLAGS, dir_fd=above)
    finally:
        posix.close(above)


def new_memory_file() -> int:
    """Return a descriptor of an empty file in memory; raise OSError if there is no room, or no such files."""
    if sys.platform == "linux":
        return posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
    raise OSError(ENOSYS, "this system has no files in memory")


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


def open_null() -> int:
    """Return a descriptor of the null device; without one, of a pipe that has no writer, which is empty, too."""
    try:
        return posix.open("/dev/null", posix.O_RDWR)
    except FileNotFoundError:
        empty, writer = posix.pipe()
        posix.close(writer)
        return empty
