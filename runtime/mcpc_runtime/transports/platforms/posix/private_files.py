"""Folders and files that other users can neither change nor replace."""

from __future__ import annotations

import os
import stat
from grp import getgrgid
from pwd import getpwuid

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
    is_roots = status.st_uid == 0 and stat.S_ISREG(status.st_mode) and not status.st_mode & 0o137
    return is_roots and bool(folder) and os.path.dirname(path) == folder


def state_folder() -> str:
    """Return the folder below which programs of this user keep their state, or an empty text."""
    home = os.environ.get("HOME", "")
    return os.environ.get("XDG_STATE_HOME", "") or (os.path.join(home, ".local", "state") if home else "")
