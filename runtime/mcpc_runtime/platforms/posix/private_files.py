"""Folders and files that nobody else can change, or put something else in the place of."""

from __future__ import annotations

import os
import stat

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from grp import getgrgid
    from pwd import getpwuid
else:
    getgrgid = lazy("grp:getgrgid")
    getpwuid = lazy("pwd:getpwuid")

OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UnusableFolderError(Exception):
    """A folder cannot be used; the message says which, and why."""


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
            raise UnusableFolderError(f"{path} is owned by another user")
        theirs = stat.S_IWOTH if found.st_mode & stat.S_IWGRP and is_own_group(found.st_gid) else OTHERS
        if found.st_mode & theirs and not found.st_mode & stat.S_ISVTX:
            raise UnusableFolderError(f"{path} is writable by other users")
        if path == "/":
            return
        path = os.path.dirname(path)


def is_own_group(number: int) -> bool:
    """Tell whether a group is this user's alone: it has the user's name, and no other member."""
    try:
        user = getpwuid(os.geteuid()).pw_name
        group = getgrgid(number)
    except (KeyError, ImportError):
        return False
    return bool(group.gr_name == user and set(group.gr_mem) <= {user})


def refuse_others(path: str, found: os.stat_result) -> None:
    """Refuse what is not ours, or what others may write to."""
    if found.st_uid != os.geteuid():
        raise UnusableFolderError(f"{path} is owned by another user")
    if found.st_mode & OTHERS:
        raise UnusableFolderError(f"{path} is writable by other users")


def make_own(path: str) -> None:
    """Make a folder, or see to it that the one which is there is ours alone."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode):
            kind = "a symlink" if stat.S_ISLNK(found.st_mode) else "not a folder"
            raise UnusableFolderError(f"{path} is {kind}") from None
        refuse_others(path, found)
