"""Folders and files that other users cannot change: they are below the user's own profile, whose rights they inherit.

There are no user numbers and no modes here.  What is refused is a folder that stands for another one (a junction or a
symbolic link), and one outside the user's profile, where others may write.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import os
import stat

from mcpc_runtime.transports.platforms.windows import system

__all__ = [
    "UnusableFolderError",
    "access_of_others",
    "check_private",
    "check_unshared",
    "is_own_file",
    "make_private_folder",
    "make_private_folders",
    "state_folder",
]

PROFILE = (b"USERPROFILE", b"LOCALAPPDATA", b"APPDATA")


class UnusableFolderError(Exception):
    """A folder cannot be used; the message says which, and why."""


def make_private_folders(path: str) -> None:
    """Make a folder and its missing parents."""
    os.makedirs(path, 0o700, exist_ok=True)


def own_folders() -> list[str]:
    """Return the folders that only this user can change."""
    found = (system.environ.get(name, b"").decode("utf-8", "surrogatepass") for name in PROFILE)
    return [os.path.normcase(os.path.abspath(folder)) for folder in found if folder]


def check_unshared(path: str) -> None:
    """Raise UnusableFolderError if other users could replace a folder or one above it."""
    place = os.path.normcase(os.path.abspath(path))
    if not any(place == folder or place.startswith(folder + "\\") for folder in own_folders()):
        raise UnusableFolderError(f"{path} is not below your own folder, so others may write to it")
    if is_redirected(path):
        raise UnusableFolderError(f"{path} is a link to another folder")


def check_private(path: str, status: os.stat_result) -> None:
    """Raise UnusableFolderError if a file is not the user's own."""
    check_unshared(path)


def make_private_folder(path: str) -> None:
    """Make a folder; raise UnusableFolderError if an existing one is not private to this user."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise UnusableFolderError(f"{path} is not a folder") from None
        check_unshared(path)


def is_redirected(path: str) -> bool:
    """Tell whether a path is a symbolic link or a junction."""
    status = os.lstat(path)
    attributes = getattr(status, "st_file_attributes", 0)
    return stat.S_ISLNK(status.st_mode) or bool(attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT)


def is_own_file(status: os.stat_result) -> bool:
    """Return True: the access list of a file, which alone could tell, is not read."""
    return True


def access_of_others(status: os.stat_result) -> int:
    """Return 0: a file's mode does not describe the access of other users here."""
    return 0


def is_credential(path: str, status: os.stat_result) -> bool:
    """Return False: there is no systemd here."""
    return False


def state_folder() -> str:
    """Return the folder below which programs of this user keep their state on this machine, or an empty text."""
    return os.environ.get("LOCALAPPDATA", "")
