"""Memory of processes from /proc; a system without it does not tell."""

from __future__ import annotations

import os

__all__ = ["resident_bytes"]

RESIDENT = 1
"""The field of `statm` with the resident pages."""


def resident_bytes(pid: int) -> int:
    """Return the bytes of memory that a process has; 0 if the system does not tell, or there is no such process."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[RESIDENT]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
