"""The process table of Linux: the files of /proc (see proc_pid_stat(5))."""

from __future__ import annotations

import posix

from mcpc_runtime.transports.platforms.posix.supervision import ProcessEntry


def process_ids() -> list[int]:
    """Return the process ids of this machine."""
    return [int(name) for name in posix.listdir("/proc") if name.isdigit()]


def process_entry(pid: int) -> ProcessEntry | None:
    """Return one process, or None if it does not exist any more; its start is in the kernel's ticks."""
    # From field 3 on: the state, then the parent (4), the group (5), and the start (22).
    fields = stat_fields(pid)
    return (fields[0] in b"ZX", int(fields[1]), int(fields[2]), int(fields[19])) if fields else None


def environment_block(pid: int) -> bytes:
    """Return the variables that a process was started with, each with a zero byte at its end; empty if not readable."""
    return read_proc_file(f"/proc/{pid}/environ")


def stat_fields(pid: int) -> list[bytes]:
    """Return a process's fields from its state on; empty if it has ended."""
    # The program's name, which stands in parentheses before the state, may contain blanks and parentheses.
    return read_proc_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def read_proc_file(path: str) -> bytes:
    """Return a file of /proc; empty if the process has ended or belongs to another user."""
    pieces = []
    try:
        descriptor = posix.open(path, posix.O_RDONLY)
    except OSError:
        return b""
    try:
        while piece := posix.read(descriptor, 1 << 16):
            pieces.append(piece)
    except OSError:
        return b""
    finally:
        posix.close(descriptor)
    return b"".join(pieces)
