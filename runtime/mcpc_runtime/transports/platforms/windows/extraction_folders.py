"""Folders below which the author's files may be extracted: below the user's own profile, whose rights they inherit.

Nothing removes the folder of a server that was killed, so the next one does.  Beside each folder is a lock, which the
server has open, and which the system removes with the server: a folder without a lock is left over.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import nt
from collections.abc import Iterator
from errno import EACCES

from mcpc_runtime.transports.platforms.temporary_folders import remove_tree
from mcpc_runtime.transports.platforms.windows import system
from mcpc_runtime.transports.platforms.windows.private_files import UnusableFolderError, check_unshared

__all__ = ["candidate_folders", "check_folder", "make_folder"]

PREFIX, RANDOM_BYTES, LOCK = "mcpc-", 12, ".lock"
DIGITS = frozenset("0123456789abcdef")
MAX_ENTRIES = 10_000
"""How many entries of a folder for temporary files are looked at."""
MAX_REMOVED = 16
"""How many left-over folders one start removes."""
PRIVATE_MODE = 0o700
CREATE_NEW, DELETE_ON_CLOSE = 1, 0x04000000
VARIABLES = (b"TEMP", b"TMP", b"LOCALAPPDATA")


def candidate_folders() -> Iterator[str]:
    """Yield the folders to try: for temporary files, and for this user's data on this machine."""
    for variable in VARIABLES:
        folder = system.environ.get(variable, b"").decode("utf-8", "surrogatepass")
        if folder[1:3] in (":\\", ":/"):
            yield folder.rstrip("\\/")


def check_folder(folder: str) -> None:
    """Raise OSError if other users could replace a folder in it."""
    system.stat(folder)
    try:
        check_unshared(folder)
    except UnusableFolderError as problem:
        raise OSError(EACCES, str(problem)) from None


def make_folder(folder: str) -> str:
    """Make a new folder below another, and return its path; raise OSError.  Those left over are removed."""
    for path in left_over(folder)[:MAX_REMOVED]:
        remove_tree(path)
    path = f"{folder}/{PREFIX}{nt.urandom(RANDOM_BYTES).hex()}"
    # No other process may open it: that is how one finds out that it is in use.
    _winapi.CreateFile(path + LOCK, _winapi.GENERIC_WRITE, 0, 0, CREATE_NEW, DELETE_ON_CLOSE, 0)
    nt.mkdir(path, PRIVATE_MODE)
    return path


def left_over(folder: str) -> list[str]:
    """Return the folders of servers that have ended without removing them."""
    found = []
    with nt.scandir(folder) as entries:
        for _, entry in zip(range(MAX_ENTRIES), entries, strict=False):
            digits = entry.name.removeprefix(PREFIX)
            is_named_so = len(digits) == 2 * RANDOM_BYTES and entry.name != digits and DIGITS.issuperset(digits)
            if is_named_so and entry.is_dir(follow_symlinks=False) and not is_locked(f"{folder}/{entry.name}{LOCK}"):
                found.append(f"{folder}/{entry.name}")
    return found


def is_locked(path: str) -> bool:
    """Tell whether a lock is open; one that is not, as after a loss of power, is removed."""
    try:
        nt.unlink(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
