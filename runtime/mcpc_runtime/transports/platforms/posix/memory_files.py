"""Files in memory."""

from __future__ import annotations

import posix
import sys
from errno import ENOSYS

__all__ = ["new_memory_file"]


def new_memory_file() -> int:
    """Return a descriptor of an empty file in memory; raise OSError if there is no room, or no such files."""
    if sys.platform == "linux":
        return posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
    raise OSError(ENOSYS, "this system has no files in memory")
