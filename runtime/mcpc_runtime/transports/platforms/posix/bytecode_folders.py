"""Folders for cached bytecode: made where they are missing, each below one that no other user can replace.

It is run after `bytecode_cache` and in its place (`mcpc_runtime.artifact.bytecode_compilation`), and uses its names.
"""

import posix as system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.bytecode_cache import FLAGS, FOLDER, is_private, is_unshared


def join(folder: bytes, name: str) -> bytes:
    """Return the path of a file in a folder."""
    return folder + b"/" + name.encode()


def make_folder(folder: bytes) -> bool:
    """Make a folder if it is missing; return whether only this user can write to it, and no other can replace it."""
    make_missing(folder)
    descriptor = system.open(folder, system.O_RDONLY | FLAGS)
    try:
        return is_private(descriptor, FOLDER) and is_unshared(descriptor, folder)
    finally:
        system.close(descriptor)


def make_missing(folder: bytes) -> None:
    """Make a folder and those above it that are missing."""
    try:
        system.lstat(folder)
        return
    except FileNotFoundError:
        above = folder.rpartition(b"/")[0] or b"/"
    make_missing(above)
    # A link above is allowed (no O_NOFOLLOW): where there is /proc, `is_unshared` judges the folder that it leads to.
    descriptor = system.open(above, system.O_RDONLY | system.O_CLOEXEC)
    try:
        if not is_unshared(descriptor, above):
            raise PermissionError(13, "Permission denied", above)
    finally:
        system.close(descriptor)
    try:
        system.mkdir(folder, 0o700)
    except FileExistsError:  # another start has made it
        return
