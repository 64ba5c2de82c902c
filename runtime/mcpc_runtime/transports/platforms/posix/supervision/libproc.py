"""The process table of macOS: `proc_listallpids`, `proc_pidinfo` and `sysctl` of the C library (libproc.h, sysctl(3)).

The system shows only processes of this user, and no variables of its own programs (`/bin/sleep`): those are found by
their group and their parents.
"""

from __future__ import annotations

import sys

from mcpc_runtime.transports.platforms.posix import system_features
from mcpc_runtime.transports.platforms.posix.supervision import ProcessEntry

PID_BYTES = 4
SPARE_PIDS = 64
"""Room for processes that start between two calls."""
BSD_INFO, BSD_INFO_BYTES = 3, 136
"""PROC_PIDTBSDINFO, and the size of its `struct proc_bsdinfo`."""
ZOMBIES_TOO = 1
"""The argument by which BSD_INFO describes processes that have ended, too."""
STATUS, PARENT, GROUP, START_SECONDS, START_MICROSECONDS = 4, 16, 100, 120, 128
"""Offsets in the struct: three `uint32_t` and two `uint64_t`."""
ZOMBIE = 5
"""SZOMB of sys/proc.h."""
KERN, PROCARGS2 = 1, 49
"""CTL_KERN and KERN_PROCARGS2 of sys/sysctl.h."""
SIZE_BYTES = 8
"""Of a `size_t`."""
addresses: dict[str, int] = {}


def exists() -> bool:
    """Tell whether the C library has these functions."""
    try:
        for name in ("proc_listallpids", "proc_pidinfo", "sysctl"):
            addresses[name] = system_features.address_of(name)
    except (ImportError, OSError):
        return False
    return True


def process_ids() -> list[int]:
    """Return the process ids of this machine."""
    count = system_features.call(addresses["proc_listallpids"], (None, 0))
    while True:
        room = max(count, 0) + SPARE_PIDS
        buffer = system_features.buffer(room * PID_BYTES)
        count = system_features.call(addresses["proc_listallpids"], (buffer, room * PID_BYTES))
        # A full buffer may lack processes, so it is asked for again with more room.
        if count < room:
            data = bytes(buffer)
            return [number(data, at * PID_BYTES, PID_BYTES) for at in range(max(count, 0))]


def process_entry(pid: int) -> ProcessEntry | None:
    """Return one process, or None if it does not exist or belongs to another user; its start is in microseconds."""
    buffer = system_features.buffer(BSD_INFO_BYTES)
    size = system_features.call(
        addresses["proc_pidinfo"], (pid, BSD_INFO, system_features.unsigned_64(ZOMBIES_TOO), buffer, BSD_INFO_BYTES)
    )
    if size != BSD_INFO_BYTES:
        return None
    data = bytes(buffer)
    started = number(data, START_SECONDS, 8) * 1_000_000 + number(data, START_MICROSECONDS, 8)
    return number(data, STATUS, 4) == ZOMBIE, number(data, PARENT, 4), number(data, GROUP, 4), started


def environment_block(pid: int) -> bytes:
    """Return the variables that a process was started with, each with a zero byte at its end; empty if not readable.

    The kernel returns the number of arguments, the path of the program, zero bytes, the arguments and the variables.
    """
    data = kernel_value((KERN, PROCARGS2, pid))
    count = number(data, 0, 4)
    strings = data[4:].partition(b"\0")[2].lstrip(b"\0")
    return strings.split(b"\0", count)[count] if strings.count(b"\0") > count else b""


def kernel_value(name: tuple[int, ...]) -> bytes:
    """Return a value of the kernel; empty if it may not be read."""
    words = b"".join(word.to_bytes(4, sys.byteorder) for word in name)
    size = system_features.buffer(SIZE_BYTES)
    # Without a place for the value the call returns its size.
    if system_features.call(addresses["sysctl"], (words, len(name), None, size, None, system_features.unsigned_64(0))):
        return b""
    value = system_features.buffer(number(bytes(size), 0, SIZE_BYTES))
    if system_features.call(addresses["sysctl"], (words, len(name), value, size, None, system_features.unsigned_64(0))):
        return b""
    return bytes(value)[: number(bytes(size), 0, SIZE_BYTES)]


def number(data: bytes, offset: int, size: int) -> int:
    """Return an unsigned number of a struct."""
    return int.from_bytes(data[offset : offset + size], sys.byteorder)
