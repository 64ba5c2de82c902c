"""The processes that a confined program leaves: found from outside, as descendants or as orphans that came to us."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc_runtime.supervision.subtree import Snapshot, signal_group, signal_one, started

if TYPE_CHECKING:
    from collections.abc import Iterator

SET_DUMPABLE, GET_DUMPABLE, SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 4, 3, 36, 37
PAGE = os.sysconf("SC_PAGE_SIZE")
ENDING_SECONDS = 10.0
HAS_PROC = Path("/proc/self/stat").exists()


def prctl(option: int, value: object) -> int:
    """Ask the kernel; -1 where it is not Linux."""
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))
    except AttributeError:
        return -1


@contextmanager
def guarded() -> Iterator[None]:
    """Adopt orphans, and let no process of the same user read this one's memory and environment, for a while."""
    adopted = ctypes.c_int(0)
    prctl(GET_CHILD_SUBREAPER, ctypes.byref(adopted))
    dumpable = prctl(GET_DUMPABLE, 0)
    prctl(SET_CHILD_SUBREAPER, 1)
    prctl(SET_DUMPABLE, 0)
    try:
        yield
    finally:
        prctl(SET_DUMPABLE, 1 if dumpable == 1 else 0)
        prctl(SET_CHILD_SUBREAPER, adopted.value)


class Descendants:
    """All that descends from a process that was started here, whoever its parent is by now."""

    def __init__(self, before: frozenset[int], leader: int) -> None:
        self._before = before
        self._leader = leader
        self._began = started(leader)

    def now(self) -> tuple[Snapshot, set[int]]:
        """Return the machine's processes, and which of them are meant.  O(processes of the machine)."""
        snapshot = Snapshot()
        itself = os.getpid()
        roots = [pid for pid in snapshot.children.get(itself, ()) if pid not in self._before]
        roots = [pid for pid in roots if snapshot.started[pid] >= self._began]
        return snapshot, snapshot.below([self._leader, *roots]) - {itself}

    def count(self) -> tuple[int, int]:
        """Return how many there are, and how many bytes of memory they take together."""
        _, found = self.now()
        return len(found), sum(map(resident, found))

    def end(self) -> None:
        """Kill them until there is none, group by group: a group cannot outrun that by forking."""
        signal_group(self._leader, signal.SIGKILL)
        deadline = time.monotonic() + ENDING_SECONDS
        while HAS_PROC and time.monotonic() < deadline:
            snapshot, found = self.now()
            groups = {snapshot.groups[pid] for pid in found} - {os.getpgrp()}
            for group in groups & (found | {self._leader}):
                signal_group(group, signal.SIGKILL)
            for pid in found:
                signal_one(pid, signal.SIGKILL)
            is_left = self._reap(snapshot)
            if not found and not is_left:
                return
            time.sleep(0.002)

    def _reap(self, snapshot: Snapshot) -> bool:
        """Take the ends of orphans that came here; tell whether there were any."""
        ours = [
            pid
            for pid, parent in snapshot.zombies.items()
            if parent == os.getpid() and pid not in self._before and pid != self._leader
        ]
        for pid in ours:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return bool(ours)


def children() -> frozenset[int]:
    """Return the processes that this one has started before, or was given."""
    return frozenset(Snapshot().children.get(os.getpid(), ())) if HAS_PROC else frozenset()


def resident(pid: int) -> int:
    """Return how many bytes of memory a process takes."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
    return 0


def tasks_of_user() -> int:
    """Return how many threads run for this user, which is what the limit of processes counts."""
    count = 0
    for entry in Path("/proc").iterdir() if HAS_PROC else ():
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += (entry / "task").stat().st_nlink - 2
    return count
