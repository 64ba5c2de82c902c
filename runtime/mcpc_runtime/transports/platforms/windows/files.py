"""Files and folders: access is inherited from the folder, and another program may have a file open."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import ctypes
import msvcrt
import nt
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from ctypes import wintypes
from errno import EACCES, ELOOP, ENOENT
from msvcrt import get_osfhandle

from mcpc_runtime.transports.platforms.cleanup import Rollback, remove_tree
from mcpc_runtime.transports.platforms.windows import system

__all__ = [
    "UnusableFolderError",
    "access_of_others",
    "candidate_folders",
    "check_folder",
    "check_private",
    "check_unshared",
    "is_own_file",
    "keep_attributes",
    "lock_descriptor",
    "make_folder",
    "make_private_folder",
    "make_private_folders",
    "new_memory_file",
    "open_file_below",
    "open_null",
    "refusal_of_file",
    "replace_file",
    "state_folder",
]


ATTEMPTS, PAUSE_SECONDS = 20, 0.1
"""How often a file is renamed that a program, such as a virus scanner, has open for a moment."""


def lock_descriptor(descriptor: int) -> bool:
    """Take the lock of an open file if no other process has it; tell whether it did.  It ends with the descriptor."""
    try:
        # One byte at the current position, which may lie beyond the end of the file.
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def refusal_of_file(status: os.stat_result) -> str:
    """Return why a file is not changed, or an empty text."""
    return "" if status.st_mode & stat.S_IWRITE else "it is read-only"


def keep_attributes(descriptor: int, status: os.stat_result) -> None:
    """Do nothing: a new file has the access list of its folder."""


def replace_file(new: str, target: str) -> None:
    """Give a new file the name of another one."""
    for _ in range(ATTEMPTS - 1):
        try:
            os.replace(new, target)
        except PermissionError:
            time.sleep(PAUSE_SECONDS)
            continue
        return
    os.replace(new, target)


PROFILE = (b"USERPROFILE", b"LOCALAPPDATA", b"APPDATA")


class UnusableFolderError(Exception):
    """A folder cannot be used; the message says which, and why."""


def make_private_folders(path: str) -> None:
    """Make a folder and its missing parents."""
    os.makedirs(path, 0o700, exist_ok=True)


def own_folders() -> list[str]:
    """Return the folders that only this user can change."""
    folders = (system.environ.get(name, b"").decode("utf-8", "surrogatepass") for name in PROFILE)
    return [os.path.normcase(os.path.abspath(folder)) for folder in folders if folder]


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


SPECIAL = frozenset('\\/:*?"<>|')
"""Characters of no file's name: a colon begins the name of another stream of a file, or follows that of a drive."""
# Windows drops these, so that two names would be one file.
IGNORED_AT_END = (".", " ")
MAX_PATH_LENGTH = 1 << 15
kernel = ctypes.WinDLL("kernel32", use_last_error=True)
final_path = kernel.GetFinalPathNameByHandleW
final_path.argtypes = (wintypes.HANDLE, wintypes.LPWSTR, wintypes.DWORD, wintypes.DWORD)


def open_file_below(folder: str, parts: Sequence[str], judge: Callable[[nt.stat_result], None]) -> int:
    """Return a descriptor of the file of which `parts` is the path below a folder; raise OSError.

    `judge` raises OSError for a file that must not be opened: opening a device may have side effects.
    """
    if any(SPECIAL.intersection(part) or part.endswith(IGNORED_AT_END) for part in parts):
        raise FileNotFoundError(ENOENT, "no such file")
    place = folder.rstrip("\\/")
    status = nt.stat(folder)
    for part in parts:
        place = f"{place}\\{part}"
        status = nt.lstat(place)
        if status.st_reparse_tag:
            raise OSError(ELOOP, "a link is in its path")
    judge(status)
    file = system.open(place, nt.O_RDONLY)
    with Rollback(lambda: nt.close(file)):
        # A folder may have become a junction after it was looked at: only the opened file tells where it is.
        check_place(file, folder, parts)
    return file


def check_place(file: int, folder: str, parts: Sequence[str]) -> None:
    """Raise OSError if an opened file is not where its path says."""
    text = ctypes.create_unicode_buffer(MAX_PATH_LENGTH)
    length = final_path(get_osfhandle(file), text, MAX_PATH_LENGTH, 0)
    if not 0 < length < MAX_PATH_LENGTH:
        raise ctypes.WinError(ctypes.get_last_error())
    expected = "\\".join((nt._getfinalpathname(folder).rstrip("\\"), *parts))  # type: ignore[attr-defined]
    if text.value.lower() != expected.lower():
        raise OSError(ELOOP, "its path leads out of its folder")


# The C runtime removes it when it is closed (O_TEMPORARY), and writes it to the disk only for lack of memory.
FLAGS = nt.O_RDWR | nt.O_CREAT | nt.O_EXCL | nt.O_TEMPORARY | nt.O_SHORT_LIVED


def new_memory_file() -> int:
    """Return a descriptor of an empty file, whose name is not used again; raise OSError if there is no room."""
    folder = (system.environ.get(b"TEMP") or system.environ.get(b"TMP") or b".").decode("utf-8", "surrogatepass")
    return system.open(f"{folder}\\mcpc-{nt.urandom(16).hex()}.tmp", FLAGS)


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
    # It comes before the folder, which another start would take for a left-over one.
    _winapi.CreateFile(path + LOCK, _winapi.GENERIC_WRITE, 0, 0, CREATE_NEW, DELETE_ON_CLOSE, 0)
    nt.mkdir(path, PRIVATE_MODE)
    return path


def left_over(folder: str) -> list[str]:
    """Return the folders of servers that have ended without removing them."""
    leftovers = []
    with nt.scandir(folder) as entries:
        for _, entry in zip(range(MAX_ENTRIES), entries, strict=False):
            digits = entry.name.removeprefix(PREFIX)
            is_named_so = len(digits) == 2 * RANDOM_BYTES and entry.name != digits and DIGITS.issuperset(digits)
            if is_named_so and entry.is_dir(follow_symlinks=False) and not is_locked(f"{folder}/{entry.name}{LOCK}"):
                leftovers.append(f"{folder}/{entry.name}")
    return leftovers


def is_locked(path: str) -> bool:
    """Tell whether a lock is open; one that is not, as after a loss of power, is removed."""
    try:
        nt.unlink(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def open_null() -> int:
    """Return a descriptor of the null device."""
    return system.open(system.NULL, system.O_RDWR)
