"""The processes that a confined program leaves: found from outside, as descendants or adopted orphans."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc_runtime.transports.platforms.process_tree import ProcessSnapshot, signal_group, signal_process, start_time

if TYPE_CHECKING:
    from collections.abc import Iterator

SET_DUMPABLE, GET_DUMPABLE, SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 4, 3, 36, 37
PAGE = os.sysconf("SC_PAGE_SIZE")
ENDING_SECONDS = 10.0
HAS_PROC = Path("/proc/self/stat").exists()


def prctl(option: int, value: object) -> int:
    """Set or get a process option; -1 if this is not Linux."""
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))
    except AttributeError:
        return -1


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Within this context, adopt orphans, and deny processes of the same user access to this one's memory."""
    adopted = ctypes.c_int(0)
    prctl(GET_CHILD_SUBREAPER, ctypes.byref(adopted))
    dumpable = prctl(GET_DUMPABLE, 0)
    prctl(SET_CHILD_SUBREAPER, 1)
    prctl(SET_DUMPABLE, 0)
    try:
        yield
    finally:
        # 2, for the superuser alone, can be read but not set.
        prctl(SET_DUMPABLE, 1 if dumpable == 1 else 0)
        prctl(SET_CHILD_SUBREAPER, adopted.value)


class Descendants:
    """All descendants of a process that was started here, whatever their current parent is."""

    def __init__(self, before: frozenset[int], leader: int) -> None:
        self._before = before
        self._leader = leader
        self._began = start_time(leader)

    def now(self) -> tuple[ProcessSnapshot, set[int]]:
        """Return the machine's processes, and which of them are descendants.  O(processes of the machine)."""
        snapshot = ProcessSnapshot()
        itself = os.getpid()
        roots = [pid for pid in snapshot.children.get(itself, ()) if pid not in self._before]
        roots = [pid for pid in roots if snapshot.started[pid] >= self._began]
        return snapshot, snapshot.below([self._leader, *roots]) - {itself}

    def count(self) -> tuple[int, int]:
        """Return their number, and how many bytes of memory they use together."""
        _, pids = self.now()
        return len(pids), sum(map(memory_of, pids))

    def end(self) -> None:
        """Kill them until none is left, by process group: a group cannot outrun that by forking."""
        signal_group(self._leader, signal.SIGKILL)
        deadline = time.monotonic() + ENDING_SECONDS
        while HAS_PROC and time.monotonic() < deadline:
            snapshot, pids = self.now()
            groups = {snapshot.groups[pid] for pid in pids} - {os.getpgrp()}
            # Only groups that a descendant founded: a process can also move into a group of its session.
            for group in groups & (pids | {self._leader}):
                signal_group(group, signal.SIGKILL)
            for pid in pids:
                signal_process(pid, signal.SIGKILL)
            is_left = self._reap(snapshot)
            if not pids and not is_left:
                return
            time.sleep(0.002)

    def _reap(self, snapshot: ProcessSnapshot) -> bool:
        """Reap exited orphans; tell whether there were any."""
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
    """Return the processes that this one started before, or adopted."""
    return frozenset(ProcessSnapshot().children.get(os.getpid(), ())) if HAS_PROC else frozenset()


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
    return 0


def tasks_of_user() -> int:
    """Return how many threads run for this user, which the process limit counts."""
    count = 0
    for entry in Path("/proc").iterdir() if HAS_PROC else ():
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                # A folder's links: its name, its own `.`, and the `..` of each folder in it, which are the threads.
                count += (entry / "task").stat().st_nlink - 2
    return count
