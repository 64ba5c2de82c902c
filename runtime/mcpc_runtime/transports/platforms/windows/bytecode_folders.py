"""Folders for cached bytecode: made where they are missing, each below the user's own profile.

It is run after `bytecode_cache` and in its place (`mcpc_runtime.artifact.bytecode_compilation`), and uses its names.
"""

import sys

assert sys.platform == "win32"

import nt as system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.windows.bytecode_cache import is_unshared


def join(folder: str, name: str) -> str:
    """Return the path of a file in a folder."""
    return folder + "\\" + name


def make_folder(folder: str) -> bool:
    """Make a folder if it is missing; return whether it is the user's own."""
    make_missing(folder)
    return is_unshared(folder)


def make_missing(folder: str) -> None:
    """Make a folder and those above it that are missing."""
    try:
        system.lstat(folder)
        return
    except FileNotFoundError:
        above = folder.rpartition("\\")[0]
        if not above:
            raise
    make_missing(above)
    if not is_unshared(above):
        raise PermissionError(13, "Permission denied", above)
    try:
        system.mkdir(folder, 0o700)
    except FileExistsError:  # another start has made it
        return
