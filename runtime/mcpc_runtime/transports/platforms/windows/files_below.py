"""Files below a folder: links in a path are refused, and the place of what was opened is compared with the folder's.

A path cannot be opened step by step here, so a step may be replaced meanwhile; the comparison finds that out.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import nt
from collections.abc import Callable, Sequence
from ctypes import wintypes
from errno import ELOOP, ENOENT
from msvcrt import get_osfhandle

from mcpc_runtime.transports.platforms.rollback import Rollback
from mcpc_runtime.transports.platforms.windows import system

__all__ = ["open_file_below"]

SPECIAL = frozenset('\\/:*?"<>|')
"""Characters of no file's name: a colon begins the name of another stream of a file, or follows that of a drive."""
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
