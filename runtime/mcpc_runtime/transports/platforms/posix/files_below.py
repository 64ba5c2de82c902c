"""Files below a folder: each step of a path is opened relative to the previous one, and symbolic links are refused."""

from __future__ import annotations

import posix
from collections.abc import Callable, Sequence
from posix import O_CLOEXEC, O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY

__all__ = ["open_file_below"]

FOLDER_FLAGS = getattr(posix, "O_PATH", O_RDONLY) | O_DIRECTORY | O_CLOEXEC
FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC


def open_file_below(folder: str, parts: Sequence[str], judge: Callable[[posix.stat_result], None]) -> int:
    """Return a descriptor of the file of which `parts` is the path below a folder; raise OSError.

    `judge` raises OSError for a file that must not be opened: opening a device may have side effects.
    """
    *steps, name = parts
    above = posix.open(folder, FOLDER_FLAGS)
    try:
        for step in steps:
            below = posix.open(step, FOLDER_FLAGS | O_NOFOLLOW, dir_fd=above)
            posix.close(above)
            above = below
        judge(posix.stat(name, dir_fd=above, follow_symlinks=False))
        return posix.open(name, FILE_FLAGS, dir_fd=above)
    finally:
        posix.close(above)
