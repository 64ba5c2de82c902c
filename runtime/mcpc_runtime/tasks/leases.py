"""The leases of tasks: those that run here are renewed again and again, and tasks whose lease has ended are taken over.

A task has one owner at a time, which says again and again that it still lives.  One whose owner does not is taken by
another server, and begins again, or ends where it must not.
"""

from __future__ import annotations

import posix
from functools import partial
from math import inf
from time import monotonic

from mcpc_runtime.protocol import task_state
from mcpc_runtime.protocol.task_state import MAX_DURATION_MS, StaleTaskError
from mcpc_runtime.tasks.owned import MOST_HERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.interfaces import DriverInterface
    from mcpc_runtime.protocol.task_state import Task
    from mcpc_runtime.tasks.clerk import Problem, StoreThread
    from mcpc_runtime.tasks.owned import OwnedTasks
    from mcpc_runtime.tasks.store import Kept, Store

LEASE_SECONDS = 5.0
"""How long a task stays with an owner of whom nothing is heard."""
LEASE_VARIABLE = b"MCPC_TASKS_LEASE"
LEAST_LEASE, MOST_LEASE = 0.5, 3600.0
TICK_SECONDS = 0.25
"""How often others' changes are looked for while a task runs here, and how often otherwise."""
IDLE_SECONDS = 1.0
SCAN_SECONDS = 2.0


class Leases:
    """The leases of one server, under its `owner` name."""

    def __init__(self, driver: DriverInterface, clerk: StoreThread, owned: OwnedTasks) -> None:
        self._driver = driver
        self._reactor = driver.watch()
        self._clerk = clerk
        self._owned = owned
        self.owner = posix.urandom(8).hex()
        self._seconds = lease_seconds(posix.environ.get(LEASE_VARIABLE, b""))
        self._armed = 0
        self._beats = self._scans = 0.0
        self._due = inf
        self._beating = self._looking = self._ticking = False
        owned.begun = self._arm_soon  # it may have been armed when nothing ran here

    @property
    def milliseconds(self) -> int:
        """How long a lease is."""
        return int(self._seconds * 1000)

    @property
    def safe(self) -> float:
        """How long after its lease was put off a task may run without a word: to end it takes some time, too."""
        return self._seconds * 2 / 3

    def open(self) -> None:
        """Look from now on for tasks that nobody runs, and for what others do with tasks."""
        if not self._ticking:
            self._ticking = True
            self._tick(self._armed)

    def _arm_soon(self) -> None:
        self._arm(min(TICK_SECONDS, self._seconds / 8))

    def _arm(self, seconds: float) -> None:
        """Look again after so many seconds, unless that is to be done earlier anyway."""
        due = monotonic() + seconds
        if due < self._due:
            self._due = due
            self._armed += 1
            self._reactor.after(seconds, partial(self._tick, self._armed))

    def _tick(self, number: int) -> None:
        """Do what is done again and again: beat, scan, hear the news."""
        if number != self._armed:
            return
        now, self._due = monotonic(), inf
        if self._owned:
            self._arm_soon()
        else:
            self._arm(IDLE_SECONDS)
        for own in self._owned.all:
            if own.until < now and own.again and own.ending is None:
                self._owned.lose(own)  # another server may begin it from now on
        if self._owned and now >= self._beats and not self._beating:
            self._beats, self._beating = now + self._seconds / 3, True
            self._beat(now)
        if now >= self._scans:
            self._scans = now + SCAN_SECONDS
            self._scan()
        if not self._looking:
            self._looking = True
            self._clerk.submit(lambda store: store.news(), self._heard)

    def _beat(self, now: float) -> None:
        """Say that the tasks that run here still do."""
        sent = self._owned.all
        fences = {own.identifier: own.fence for own in sent}

        def done(outcome: dict[str, Task] | Problem) -> None:
            self._beating = False
            if isinstance(outcome, Exception):
                self._clerk.warn(outcome)
                return
            for own in sent:
                task = outcome.get(own.identifier)
                if self._owned.named(own.identifier) is not own:
                    continue
                if task is None:
                    self._owned.lose(own)
                else:
                    own.until = now + self.safe
                    self._owned.compare(own, task)

        self._clerk.submit(lambda store: store.renew(fences, self.milliseconds), done)

    def _heard(self, outcome: list[Task] | Problem) -> None:
        self._looking = False
        if isinstance(outcome, Exception):
            self._clerk.warn(outcome)
            return
        for task in outcome:
            self._owned.changed(task)

    def _scan(self) -> None:
        """Look for tasks that nobody runs, but not for those of principals that have no room here."""
        places = self._owned.places
        if not places.is_full:
            most = 4 * (MOST_HERE - places.used)
            without = frozenset(one for one in places.holders if not self._owned.has_room(one))
            self._clerk.submit(lambda store: store.due(most, without), self._found)

    def _found(self, outcome: list[Task] | Problem) -> None:
        if isinstance(outcome, Exception):
            self._clerk.warn(outcome)
            return
        for task in outcome:
            identifier = task.identifier
            is_here = self._owned.named(identifier) is not None and not is_overdue(task)
            if is_here or identifier in self._owned.returning:
                continue  # it is here: its end is about to be kept, its lease put off, or it is given back
            ends = task.begun and not task.again
            is_ours = ends or self._driver.image.tool(task.tool) is not None or is_overdue(task)
            if is_ours and self._owned.has_room(task.principal):
                self._take(identifier, task.principal)

    def _take(self, identifier: str, principal: str) -> None:
        """Take over a task, unless somebody else is quicker."""
        self._owned.places.take(principal)
        until = monotonic() + self.safe

        def step(task: Task, now: int) -> Task:
            return task_state.acquire(task, self.owner, now + self.milliseconds, now)

        def order(store: Store) -> tuple[Task | None, Kept]:
            task = store.change(identifier, step)
            return task, {} if task is None or task.over else store.called(identifier)

        def done(outcome: tuple[Task | None, Kept] | Problem) -> None:
            self._owned.places.give_back(principal)  # `begin` takes it again
            if isinstance(outcome, Exception):
                if not isinstance(outcome, StaleTaskError):
                    self._clerk.warn(outcome)
                return
            task, kept = outcome
            if task is not None and task.over:
                self._owned.changed(task)
            elif task is not None and self._owned.named(identifier) is None:
                self._owned.begin(task, kept, until)

        self._clerk.submit(order, done, principal)


def is_overdue(task: Task) -> bool:
    """Tell whether a task has not ended in its time, so that it is ended by whoever sees it."""
    return task.updated - task.created > MAX_DURATION_MS


def lease_seconds(said: bytes) -> float:
    """Return how long leases are: what the environment says, if that is a sensible number of seconds."""
    try:
        return min(max(float(said), LEAST_LEASE), MOST_LEASE)
    except ValueError:
        return LEASE_SECONDS
