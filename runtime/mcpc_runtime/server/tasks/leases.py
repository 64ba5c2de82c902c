"""Leases of tasks: renew those of tasks that run here, and take over tasks whose lease has expired.

A task has one owner at a time, which renews its lease regularly.  When the lease expires, another server takes the
task: it runs the call again, or ends the task if the call must not be repeated.
"""

from __future__ import annotations

from functools import partial
from math import inf, isnan

from mcpc_runtime.interfaces import DriverInterface
from mcpc_runtime.protocol import tasks
from mcpc_runtime.protocol.tasks import MAX_DURATION_MS, StaleTaskError, Task
from mcpc_runtime.server.tasks.owned import MAX_OWNED, OwnedTasks
from mcpc_runtime.server.tasks.store import Problem, Store, StoredCall, StoreThread
from mcpc_runtime.transports.platforms import system

LEASE_SECONDS = 5.0
"""How long a task stays with an owner that does not renew the lease."""
LEASE_VARIABLE = b"MCPC_TASKS_LEASE"
MIN_LEASE, MAX_LEASE = 0.5, 3600.0
TICK_SECONDS = 0.25
"""How often changes by other servers are read while a task runs here; IDLE_SECONDS otherwise."""
IDLE_SECONDS = 1.0
SCAN_SECONDS = 2.0


class Leases:
    """The leases of one server, whose name is `owner`."""

    def __init__(self, driver: DriverInterface, store_thread: StoreThread, owned: OwnedTasks) -> None:
        self._driver = driver
        self._reactor = driver.watch()
        self._store_thread = store_thread
        self._owned = owned
        self.owner = system.urandom(8).hex()
        self._seconds = lease_seconds(system.environ.get(LEASE_VARIABLE, b""))
        self._armed = 0
        self._next_renewal = self._next_scan = 0.0
        self._due = inf
        self._renewing = self._reading_news = self._ticking = False
        owned.begun = self._arm_soon  # the timer may have been set when nothing ran here

    @property
    def milliseconds(self) -> int:
        """The length of a lease."""
        return int(self._seconds * 1000)

    @property
    def safe(self) -> float:
        """How long a task may run after its lease was renewed: shorter than the lease, since ending it takes time."""
        return self._seconds * 2 / 3

    def open(self) -> None:
        """Start looking for tasks without an owner, and for changes by other servers."""
        if not self._ticking:
            self._ticking = True
            self._tick(self._armed)

    def _arm_soon(self) -> None:
        # Often enough for a short lease, which is renewed each third of its length.
        self._arm(min(TICK_SECONDS, self._seconds / 8))

    def _arm(self, seconds: float) -> None:
        """Set the timer to `seconds` from now, unless it is due earlier."""
        due = self._reactor.clock() + seconds
        if due < self._due:
            self._due = due
            self._armed += 1
            self._reactor.after(seconds, partial(self._tick, self._armed))

    def _tick(self, number: int) -> None:
        """Renew leases, scan for tasks without an owner, and read changes by other servers."""
        if number != self._armed:
            return
        now, self._due = self._reactor.clock(), inf
        if self._owned:
            self._arm_soon()
        else:
            self._arm(IDLE_SECONDS)
        for owned in self._owned.all:
            # One that must not run twice goes on: another server only ends it.
            if owned.until < now and owned.again and owned.ending is None:
                self._owned.lose(owned)  # another server may run it from now on
        if self._owned and now >= self._next_renewal and not self._renewing:
            self._next_renewal, self._renewing = now + self._seconds / 3, True
            self._renew(now)
        if now >= self._next_scan:
            self._next_scan = now + SCAN_SECONDS
            self._scan()
        if not self._reading_news:
            self._reading_news = True
            self._store_thread.submit(lambda store: store.news(), self._on_news)

    def _renew(self, now: float) -> None:
        """Renew the leases of the tasks that run here."""
        sent = self._owned.all
        fences = {owned.identifier: owned.fence for owned in sent}

        def done(outcome: dict[str, Task] | Problem) -> None:
            self._renewing = False
            if isinstance(outcome, Exception):
                self._store_thread.warn(outcome)
                return
            for owned in sent:
                task = outcome.get(owned.identifier)
                if self._owned.by_id(owned.identifier) is not owned:
                    continue
                if task is None:
                    self._owned.lose(owned)
                else:
                    # Counted from the request: the lease that the store has written began later.
                    owned.until = now + self.safe
                    self._owned.compare(owned, task)

        self._store_thread.submit(lambda store: store.renew(fences, self.milliseconds), done)

    def _on_news(self, outcome: list[Task] | Problem) -> None:
        self._reading_news = False
        if isinstance(outcome, Exception):
            self._store_thread.warn(outcome)
            return
        for task in outcome:
            self._owned.changed(task)

    def _scan(self) -> None:
        """Look for tasks without an owner, except those of principals that have no room here."""
        places = self._owned.places
        if not places.is_full:
            # More than there is room for: some are of tools that this build lacks, or of principals without room.
            most = 4 * (MAX_OWNED - places.used)
            without = frozenset(holder for holder in places.holders if not self._owned.has_room(holder))
            self._store_thread.submit(lambda store: store.due(most, without), self._on_due)

    def _on_due(self, outcome: list[Task] | Problem) -> None:
        if isinstance(outcome, Exception):
            self._store_thread.warn(outcome)
            return
        for task in outcome:
            identifier = task.identifier
            is_here = self._owned.by_id(identifier) is not None and not is_overdue(task)
            if is_here or identifier in self._owned.returning:
                continue  # it runs here: its result is being stored, its lease renewed, or it is being returned
            ends = task.begun and not task.again
            is_ours = ends or self._driver.image.any_tool(task.tool) is not None or is_overdue(task)
            if is_ours and self._owned.has_room(task.principal):
                self._take(identifier, task.principal)

    def _take(self, identifier: str, principal: str) -> None:
        """Take over a task, unless another server is quicker."""
        # A place is reserved at once: several tasks may be on their way here.
        self._owned.places.take(principal)
        until = self._reactor.clock() + self.safe

        def step(task: Task, now: int) -> Task:
            return tasks.acquire(task, self.owner, now + self.milliseconds, now)

        def operation(store: Store) -> tuple[Task | None, StoredCall]:
            task = store.change(identifier, step)
            return task, {} if task is None or task.is_finished else store.called(identifier)

        def done(outcome: tuple[Task | None, StoredCall] | Problem) -> None:
            self._owned.places.give_back(principal)  # `begin` takes it again
            if isinstance(outcome, Exception):
                if not isinstance(outcome, StaleTaskError):
                    self._store_thread.warn(outcome)
                return
            task, stored = outcome
            if task is not None and task.is_finished:
                self._owned.changed(task)
            elif task is not None and self._owned.by_id(identifier) is None:
                self._owned.begin(task, stored, until)

        self._store_thread.submit(operation, done, principal)


def is_overdue(task: Task) -> bool:
    """Tell whether a task has exceeded the maximum time, so that any server that reads it ends it."""
    return task.updated - task.created > MAX_DURATION_MS


def lease_seconds(value: bytes) -> float:
    """Return the length of leases from the environment, clamped to the limits; the default if it is not a number."""
    try:
        seconds = float(value)
    except ValueError:
        return LEASE_SECONDS
    return LEASE_SECONDS if isnan(seconds) else min(max(seconds, MIN_LEASE), MAX_LEASE)
