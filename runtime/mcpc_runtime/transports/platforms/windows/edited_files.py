"""Replace files of other programs: access is inherited from the folder, and another program may have a file open."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import msvcrt
import os
import stat
import time

__all__ = ["keep_attributes", "lock_descriptor", "refusal_of_file", "replace_file"]

ATTEMPTS, PAUSE_SECONDS = 20, 0.1
"""How often a file is renamed that a program, such as a virus scanner, has open for a moment."""


def lock_descriptor(descriptor: int) -> bool:
    """Take the lock of an open file if no other process has it; tell whether it did.  It ends with the descriptor."""
    try:
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
