"""Find and signal the processes that belong to a call, or to the supervisor.

Signals go only to descendants of the supervisor and to processes that it started; never to the server, to the
supervisor itself, or to all processes (pid -1).

Snapshot of the process tree: parents, process groups and calls.

A process that leaves its session, its group and its parent keeps the call variable it was started with, and a subreaper
above it; by one of the two every process that a call started is found.

Identify processes by a number that all descendants inherit: their soft limit of file locks (RLIMIT_LOCKS).

Linux has not counted file locks since 2.4.25 (setrlimit(2)), so the limit can be used as an identifier.  Without this
limit, or if it may not be set, processes have no number.
"""

from __future__ import annotations

import posix
import resource
import sys
from _signal import SIGCONT, SIGKILL
from collections.abc import Iterable, Mapping

from mcpc_runtime.transports.platforms.posix.supervision import CALL_VARIABLE, ProcessEntry
from mcpc_runtime.transports.platforms.posix.supervision.process_table import process_table
from mcpc_runtime.transports.platforms.posix.supervision.program import Variables

RLIMIT_LOCKS = 10
FIRST = 1 << 32
"""Numbers of started processes begin here; lower ones are process ids, which the children of Bash set themselves."""


class ProcessNumbers:
    """Assigns numbers to processes that are started; the caller's own limit is the number of the next."""

    def __init__(self) -> None:
        self._last = FIRST
        self._is_free = True

    def next(self) -> int:
        """Set and return the number of the next process; 0 if it has none."""
        if self._is_free:
            try:
                self._is_free = resource.getrlimit(RLIMIT_LOCKS)[1] == resource.RLIM_INFINITY
                if self._is_free:
                    resource.setrlimit(RLIMIT_LOCKS, (self._last + 1, resource.RLIM_INFINITY))
            except (OSError, ValueError):
                self._is_free = False
        self._last += self._is_free
        return self._last if self._is_free else 0


def inherited_number(pid: int) -> int:
    """Return the number of a process, or 0."""
    number = 0
    if sys.platform == "linux":
        try:
            number = resource.prlimit(pid, RLIMIT_LOCKS)[0]
        except (OSError, ValueError):
            number = 0
    return max(number, 0)


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
    # With a zero byte before the first variable too, no other variable's name can end like this one.
    _, prefix, rest = (b"\0" + block).partition(PREFIX)
    return rest.partition(b"\0")[0] if prefix else b""


def signal_group(pid: int, number: int) -> bool:
    """Signal the process group that `pid` leads or led; False if it has no members left."""
    if pid <= 1:
        return False
    try:
        posix.killpg(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # members exist, but they are another user's
    return True


def signal_process(pid: int, number: int) -> None:
    """Signal a process, if it exists and permission allows."""
    if pid > 1:
        try:
            posix.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            return


CALL_VARIABLE_BYTES = CALL_VARIABLE.encode()
PRUNED_FROM = 64
MAX_RECENT = 256
"""How many ended processes are remembered with the number that their descendants inherited."""


class Termination:
    """A call that is to end: its process, its call variable, and the processes found so far with their start times."""

    __slots__ = ("known", "mark", "pid")

    def __init__(self, pid: int, mark: bytes) -> None:
        self.pid = pid
        self.mark = mark
        self.known: dict[int, int] = {}

    def led_groups(self, known: Mapping[int, tuple[bytes, int]]) -> list[int]:
        """Return which of these group leaders belong to it."""
        return [pid for pid, (mark, _) in known.items() if pid == self.pid or (mark and mark == self.mark)]


class ProcessGroups:
    """The groups that were started, and how their members are found.

    `adopts`: this process adopts orphans, so that all processes descend from it; otherwise they are found by their call
    variables, which all begin with the server's process id.
    """

    def __init__(self, server: int, *, adopts: bool) -> None:
        self._adopts = adopts
        self._itself = posix.getpid()
        self._untouched = {0, 1, self._itself, server}
        self._prefix = b"%d." % server
        self._led: dict[int, tuple[bytes, int]] = {}
        self._recent: dict[int, tuple[bytes, int]] = {}
        self._numbers = ProcessNumbers()
        self._number = 0

    @staticmethod
    def call_mark_in(environment: Variables) -> bytes:
        """Return the call variable of an environment, or nothing."""
        mark = environment.get(CALL_VARIABLE_BYTES) or environment.get(CALL_VARIABLE) or b""
        return mark.encode() if isinstance(mark, str) else mark

    def prepare(self) -> None:
        """Choose the number that the next process inherits."""
        self._number = self._numbers.next()

    def begin(self, pid: int, environment: Variables) -> None:
        """Record a process that was started: it leads a group."""
        self._led[pid] = self.call_mark_in(environment), self._number

    def reaped(self, pid: int) -> bool:
        """Record the end of a process; tell whether members of its group remain, which keep its number."""
        if pid not in self._led:
            return False
        if signal_group(pid, 0):
            # A group whose leader has ended stays in the table until it is empty, which nothing reports.
            if len(self._led) > PRUNED_FROM:
                self._led = {leader: known for leader, known in self._led.items() if signal_group(leader, 0)}
            return True
        self._recent[pid] = self._led.pop(pid)
        if len(self._recent) > MAX_RECENT:
            del self._recent[next(iter(self._recent))]
        return False

    def signal_calls(self, endings: list[Termination], number: int) -> list[Termination]:
        """Signal all processes of these calls; return the calls that had any.

        O(processes of the machine), once for all calls; without a process table, only their groups.
        """
        if process_table() is None:
            return [ending for ending in endings if self._signal_groups(ending, number)]
        now = ProcessSnapshot()
        marked: dict[bytes, list[int]] = {}
        for pid in self._all_processes(now):
            # A mark contains a dot and a number does not, so that both can be keys of one dictionary.
            marked.setdefault(call_mark(pid) or b"%d" % inherited_number(pid), []).append(pid)
        return [ending for ending in endings if self._signal_members(now, marked, ending, number)]

    def _signal_groups(self, ending: Termination, number: int) -> bool:
        return bool([pid for pid in ending.led_groups(self._led) if signal_and_continue(pid, number)])

    def _signal_members(
        self, now: ProcessSnapshot, marked: dict[bytes, list[int]], ending: Termination, number: int
    ) -> bool:
        """Signal one call's processes: those with its call variable, its process group, and those found before.

        Processes without the variable are found by the number they inherited.
        """
        # With another start time, the number belongs to another process.
        roots = {pid for pid, began in ending.known.items() if now.started.get(pid) == began}
        roots.update(marked.get(ending.mark, ()) if ending.mark else ())
        known = {**self._recent, **self._led}
        for inherited in {ending.pid, *(known[pid][1] for pid in ending.led_groups(known))} - {0}:
            roots.update(marked.get(b"%d" % inherited, ()))
        ours = [pid for pids in marked.values() for pid in pids]
        roots.update(pid for pid in ours if ending.pid in (pid, now.groups[pid]))
        members = now.below(roots) - self._untouched
        # A process that loses its parent before the next signal is not found below it any more.
        ending.known = {pid: now.started[pid] for pid in members}
        signal_members(now, members, number)
        return bool(members)

    def signal_all(self, number: int) -> None:
        """Signal all descendants of the supervisor."""
        if process_table() is not None:
            now = ProcessSnapshot()
            signal_members(now, self._all_processes(now), number)
        else:
            for pid in self._led:
                signal_and_continue(pid, number)

    def _all_processes(self, now: ProcessSnapshot) -> set[int]:
        """Return all processes that were started for this server."""
        roots = {self._itself}
        if not self._adopts:
            roots |= {
                pid
                for pid, group in now.groups.items()
                if group in self._led or call_mark(pid).startswith(self._prefix)
            }
        return now.below(roots) - self._untouched

    def is_any_left(self) -> bool:
        """Tell whether any process that is not a child remains; only where this process does not adopt orphans."""
        if self._adopts:
            return False
        if process_table() is not None:
            return bool(self._all_processes(ProcessSnapshot()))
        return any(signal_group(pid, 0) for pid in self._led)


def signal_members(now: ProcessSnapshot, members: set[int], number: int) -> None:
    """Signal processes; a group that is included as a whole is signalled at once, so that no new member escapes."""
    partial = {group for pid, group in now.groups.items() if pid not in members}
    whole = {now.groups[pid] for pid in members} - partial
    for group in whole:
        signal_and_continue(group, number)
    for pid in members:
        if now.groups[pid] not in whole:
            signal_process(pid, number)
            if number != SIGKILL:
                signal_process(pid, SIGCONT)


def signal_and_continue(group: int, number: int) -> bool:
    """Signal a group, and continue its stopped members, so that they receive the signal."""
    exists = signal_group(group, number)
    if exists and number not in (SIGKILL, 0):
        signal_group(group, SIGCONT)
    return exists
