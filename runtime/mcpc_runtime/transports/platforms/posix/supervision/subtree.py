"""Snapshot of the process tree: parents, process groups and calls.

A process that leaves its session, its group and its parent keeps the call variable it was started with, and a subreaper
above it; by one of the two every process that a call started is found.
"""

from __future__ import annotations

import posix
from collections.abc import Iterable

from mcpc_runtime.transports.platforms.posix.supervision import CALL_VARIABLE, ProcessEntry
from mcpc_runtime.transports.platforms.posix.supervision.process_table import process_table

PREFIX = b"\0" + CALL_VARIABLE.encode() + b"="


class ProcessSnapshot:
    """The machine's processes.  O(processes of the machine) to make; a query costs O(its result).

    `zombies` have ended and wait for their parents; no other attribute includes them.
    """

    __slots__ = ("children", "groups", "started", "zombies")

    def __init__(self) -> None:
        self.children: dict[int, list[int]] = {}
        self.groups: dict[int, int] = {}
        self.started: dict[int, int] = {}
        self.zombies: dict[int, int] = {}
        table = process_table()
        if table is not None:
            for pid in table.process_ids():
                self._add(pid, table.process_entry(pid))

    def _add(self, pid: int, entry: ProcessEntry | None) -> None:
        if entry is None:
            return
        has_ended, parent, group, self.started[pid] = entry
        if has_ended:
            self.zombies[pid] = parent
            return
        self.children.setdefault(parent, []).append(pid)
        self.groups[pid] = group

    def below(self, roots: Iterable[int]) -> set[int]:
        """Return the roots that exist, and all their descendants."""
        members: set[int] = set()
        rest = list(roots)
        while rest:
            pid = rest.pop()
            if pid not in members:
                members.add(pid)
                rest += self.children.get(pid, ())
        return {pid for pid in members if pid in self.groups}


def start_time(pid: int) -> int:
    """Return when a process was started, in the table's unit; 0 if it has ended."""
    table = process_table()
    entry = None if table is None else table.process_entry(pid)
    return 0 if entry is None else entry[3]


def call_mark(pid: int) -> bytes:
    """Return the call that a process was started for, or nothing."""
    table = process_table()
    block = b"" if table is None else table.environment_block(pid)
    _, found, rest = (b"\0" + block).partition(PREFIX)
    return rest.partition(b"\0")[0] if found else b""


def signal_group(pid: int, number: int) -> bool:
    """Signal the process group that `pid` leads or led; False if it has no members left."""
    if pid <= 1:
        return False
    try:
        posix.killpg(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def signal_process(pid: int, number: int) -> None:
    """Signal a process, if it exists and permission allows."""
    if pid > 1:
        try:
            posix.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            return
