"""Which processes belong to a call, or to the supervisor at all, and how they are told to end.

Its law: a signal goes to what descends from the supervisor, or was started by it, and to nothing else; never to the
server, to the supervisor itself, or to every process there is.
"""

from __future__ import annotations

import posix
from _signal import SIGCONT, SIGKILL

from mcpc_runtime.platforms.posix import system_features as ways
from mcpc_runtime.platforms.posix.supervision import CALL_VARIABLE
from mcpc_runtime.platforms.posix.supervision.inherited import ProcessNumbers, number_of
from mcpc_runtime.platforms.posix.supervision.subtree import ProcessSnapshot, mark_of, signal_group, signal_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc_runtime.platforms.posix.supervision.program import Variables

VARIABLE = CALL_VARIABLE.encode()
PRUNED_FROM = 64
RECENT = 256
"""Of so many processes that have ended it is known what number they handed on."""


class Termination:
    """A call that is to end: its process, its mark, and what was found of it so far (with when that was started)."""

    __slots__ = ("known", "mark", "pid")

    def __init__(self, pid: int, mark: bytes) -> None:
        self.pid = pid
        self.mark = mark
        self.known: dict[int, int] = {}

    def led(self, known: Mapping[int, tuple[bytes, int]]) -> list[int]:
        """Return which of these leaders of groups belong to it."""
        return [pid for pid, (mark, _) in known.items() if pid == self.pid or (mark and mark == self.mark)]


class ProcessGroups:
    """The groups that were started, and how their members are found.

    `adopts`: orphans come to this process, so that everything descends from it; else they are known by their marks,
    which all begin with the server's process id.
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
    def mark_in(environment: Variables) -> bytes:
        """Return the mark that a process is started with, or nothing."""
        found = environment.get(VARIABLE) or environment.get(CALL_VARIABLE) or b""
        return found.encode() if isinstance(found, str) else found

    def prepare(self) -> None:
        """Take the number that the next process is to inherit."""
        self._number = self._numbers.next()

    def begin(self, pid: int, environment: Variables) -> None:
        """Take note of a process that was started: it leads a group."""
        self._led[pid] = self.mark_in(environment), self._number

    def reaped(self, pid: int) -> bool:
        """Take note of a process that has ended; tell whether anything is left of its group, which keeps its number."""
        if pid not in self._led:
            return False
        if signal_group(pid, 0):
            if len(self._led) > PRUNED_FROM:
                self._led = {leader: known for leader, known in self._led.items() if signal_group(leader, 0)}
            return True
        self._recent[pid] = self._led.pop(pid)
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return False

    def signal(self, endings: list[Termination], number: int) -> list[Termination]:
        """Signal all that belongs to these calls; return those of which there was something.

        O(processes of the machine), once for all of them; without /proc, their groups alone.
        """
        if not ways.has("proc"):
            return [ending for ending in endings if self._signal_groups(ending, number)]
        now = ProcessSnapshot()
        marked: dict[bytes, list[int]] = {}
        for pid in self._everything(now):
            marked.setdefault(mark_of(pid) or b"%d" % number_of(pid), []).append(pid)
        return [ending for ending in endings if self._signal_members(now, marked, ending, number)]

    def _signal_groups(self, ending: Termination, number: int) -> bool:
        return bool([pid for pid in ending.led(self._led) if signal(pid, number)])

    def _signal_members(
        self, now: ProcessSnapshot, marked: dict[bytes, list[int]], ending: Termination, number: int
    ) -> bool:
        """Signal one call's processes: what was marked, its process with its group, and what was known of it before.

        What has no mark any more is known by the number it inherited.
        """
        roots = {pid for pid, began in ending.known.items() if now.started.get(pid) == began}
        roots.update(marked.get(ending.mark, ()) if ending.mark else ())
        known = {**self._recent, **self._led}
        for inherited in {ending.pid, *(known[pid][1] for pid in ending.led(known))} - {0}:
            roots.update(marked.get(b"%d" % inherited, ()))
        ours = [pid for pids in marked.values() for pid in pids]
        roots.update(pid for pid in ours if ending.pid in (pid, now.groups[pid]))
        members = now.below(roots) - self._untouched
        ending.known = {pid: now.started[pid] for pid in members}
        send(now, members, number)
        return bool(members)

    def signal_all(self, number: int) -> None:
        """Signal everything below the supervisor."""
        if ways.has("proc"):
            now = ProcessSnapshot()
            send(now, self._everything(now), number)
        else:
            for pid in self._led:
                signal(pid, number)

    def _everything(self, now: ProcessSnapshot) -> set[int]:
        """Return the processes that are there because of this server."""
        roots = {self._itself}
        if not self._adopts:
            roots |= {
                pid for pid, group in now.groups.items() if group in self._led or mark_of(pid).startswith(self._prefix)
            }
        return now.below(roots) - self._untouched

    def is_any_left(self) -> bool:
        """Tell whether something lives that is no child: only where orphans do not come to this process."""
        if self._adopts:
            return False
        if ways.has("proc"):
            return bool(self._everything(ProcessSnapshot()))
        return any(signal_group(pid, 0) for pid in self._led)


def send(now: ProcessSnapshot, members: set[int], number: int) -> None:
    """Signal processes: a group at once if all of it is meant, for then nothing in it can start more and escape."""
    partial = {group for pid, group in now.groups.items() if pid not in members}
    whole = {now.groups[pid] for pid in members} - partial
    for group in whole:
        signal(group, number)
    for pid in members:
        if now.groups[pid] not in whole:
            signal_one(pid, number)
            if number != SIGKILL:
                signal_one(pid, SIGCONT)


def signal(group: int, number: int) -> bool:
    """Signal a group, and wake what was stopped in it, so that it can take the signal."""
    found = signal_group(group, number)
    if found and number not in (SIGKILL, 0):
        signal_group(group, SIGCONT)
    return found
