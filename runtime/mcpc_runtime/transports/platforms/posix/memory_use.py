"""Memory of processes from /proc, and of the container from its control group; a system without them does not tell."""

from __future__ import annotations

import os

__all__ = ["available_bytes", "resident_bytes"]

RESIDENT = 1
"""The field of `statm` with the resident pages."""

MEMORY = "/proc/meminfo"
AVAILABLE = b"MemAvailable:"
LIMIT, USED = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"
"""Files of the control group of a container; a group without a limit has a word in the first."""


def available_bytes() -> int | None:
    """Return the bytes of memory that more processes can have; None if the system does not tell."""
    limits = []
    try:
        with open(MEMORY, "rb") as file:
            limits += [int(line.split()[1]) << 10 for line in file if line.startswith(AVAILABLE)]
    except (OSError, ValueError, IndexError):
        pass
    try:
        with open(LIMIT, "rb") as limit, open(USED, "rb") as used:
            limits.append(int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        pass
    return min(limits, default=None)


def resident_bytes(pid: int) -> int:
    """Return the bytes of memory that a process has; 0 if the system does not tell, or there is no such process."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[RESIDENT]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
