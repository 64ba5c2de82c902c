"""Temporary files that Windows keeps in memory if it can, and removes with their last handle, however closed."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt

from mcpc_runtime.transports.platforms.windows import system

__all__ = ["new_memory_file"]

FLAGS = nt.O_RDWR | nt.O_CREAT | nt.O_EXCL | nt.O_TEMPORARY | nt.O_SHORT_LIVED


def new_memory_file() -> int:
    """Return a descriptor of an empty file, whose name is not used again; raise OSError if there is no room."""
    folder = (system.environ.get(b"TEMP") or system.environ.get(b"TMP") or b".").decode("utf-8", "surrogatepass")
    return system.open(f"{folder}\\mcpc-{nt.urandom(16).hex()}.tmp", FLAGS)
