"""Replace files of other programs: a new file gets the mode and the owner of the one that it replaces."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress

__all__ = ["keep_attributes", "lock_descriptor", "refusal_of_file", "replace_file"]


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
    with suppress(PermissionError):
        os.fchown(descriptor, -1, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def replace_file(new: str, target: str) -> None:
    """Give a new file the name of another one, so that a crash leaves one of both."""
    os.replace(new, target)
    descriptor = os.open(os.path.dirname(target), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems cannot do that with folders
    finally:
        os.close(descriptor)
