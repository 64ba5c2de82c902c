"""Who descends from whom, which group a process is in, and for which call it runs: read from /proc, at one moment.

A process that leaves its session, its group and its parent keeps the variable it was started with, and a subreaper
above it: between the two nothing that a call started is lost.
"""

from __future__ import annotations

import posix

from mcpc_runtime.platforms.posix.supervision import CALL_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = b"\0" + CALL_VARIABLE.encode() + b"="


class ProcessSnapshot:
    """The machine's processes.  O(processes of the machine) to make; a question costs what it returns.

    `zombies` have ended and wait for their parents; they are in no other answer.
    """

    __slots__ = ("children", "groups", "started", "zombies")

    def __init__(self) -> None:
        self.children: dict[int, list[int]] = {}
        self.groups: dict[int, int] = {}
        self.started: dict[int, int] = {}
        self.zombies: dict[int, int] = {}
        for name in posix.listdir("/proc"):
            if name.isdigit():
                self._add(int(name))

    def _add(self, pid: int) -> None:
        fields = status(pid)
        if not fields:
            return
        self.started[pid] = int(fields[19])
        if fields[0] in b"ZX":
            self.zombies[pid] = int(fields[1])
            return
        self.children.setdefault(int(fields[1]), []).append(pid)
        self.groups[pid] = int(fields[2])

    def below(self, roots: Iterable[int]) -> set[int]:
        """Return the roots, as far as they are there, and all that descends from them."""
        found: set[int] = set()
        rest = list(roots)
        while rest:
            pid = rest.pop()
            if pid not in found:
                found.add(pid)
                rest += self.children.get(pid, ())
        return {pid for pid in found if pid in self.groups}


def status(pid: int) -> list[bytes]:
    """Return a process's fields from its state on (see proc_pid_stat(5)), or nothing if it is gone."""
    return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def started(pid: int) -> int:
    """Return when a process was started, in the kernel's ticks; 0 if it is gone."""
    fields = status(pid)
    return int(fields[19]) if fields else 0


def mark_of(pid: int) -> bytes:
    """Return for which call a process was started, or nothing."""
    _, found, rest = (b"\0" + read(f"/proc/{pid}/environ")).partition(PREFIX)
    return rest.partition(b"\0")[0] if found else b""


def read(path: str) -> bytes:
    """Return a file of /proc, nothing if the process has gone or is somebody else's."""
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


def signal_group(pid: int, number: int) -> bool:
    """Signal the process group that `pid` leads or led; False if there is nothing left of it."""
    if pid <= 1:
        return False
    try:
        posix.killpg(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def signal_one(pid: int, number: int) -> None:
    """Signal a process, if it is still there and ours to signal."""
    if pid > 1:
        try:
            posix.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            return
