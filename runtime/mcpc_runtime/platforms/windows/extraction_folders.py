"""Folders below which the author's files may be extracted: below the user's own profile, whose rights they inherit."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from errno import EACCES

from mcpc_runtime.platforms.windows import system
from mcpc_runtime.platforms.windows.private_files import UnusableFolderError, check_unshared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["candidate_folders", "check_folder"]

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
