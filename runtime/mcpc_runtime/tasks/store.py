"""What a store of tasks is: it keeps each task whole, changes one in a single step, and says plainly what it cannot do.

Every store has the same operations, all of which may wait, so only the clerk's thread calls them.  What a store has
taken is there for everybody who opens the same one, before the operation returns.  This one is the server's own memory.
"""

from __future__ import annotations

from time import time

from mcpc_runtime.protocol.course import StaleError, from_record
from mcpc_runtime.protocol.jsonrpc import encode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from mcpc_runtime.protocol.course import Step, Task
    from mcpc_runtime.protocol.jsonrpc import Json

    Kept = dict[str, Json]
    """What a task calls: it never changes."""

    class Store(Protocol):
        """Where tasks are kept."""

        def now(self) -> int:
            """Return the time, as everybody knows it who has the same store."""
            ...

        def add(self, task: Task, call: Kept) -> None:
            """Keep a new task; raise FullError if there are too many."""

        def read(self, identifier: str) -> Task | None:
            """Return a task, unless it is unknown or need not be kept any more."""

        def called(self, identifier: str) -> Kept:
            """Return what a task calls."""
            ...

        def change(self, identifier: str, step: Step) -> Task | None:
            """Do a step and return what the task is now; raise StaleError if it cannot be done."""

        def remove(self, identifier: str) -> None:
            """Forget a task."""

        def due(self, most: int) -> list[Task]:
            """Return tasks that nobody runs; forget those that need not be kept any more."""
            ...

        def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
            """Put off the end of the leases of those that still have these fences; return them."""
            ...

        def news(self) -> list[Task]:
            """Return the tasks that others have changed since this was last asked."""
            ...

        def close(self) -> None:
            """Let go of it."""


MOST_OPEN = 1000
"""So many tasks of one principal may be under way."""
MOST_KEPT = 100_000
TOO_MANY_OPEN = f"{MOST_OPEN} tasks are under way already; wait until one has ended"
TOO_MANY_KEPT = f"{MOST_KEPT} tasks are kept already; some are forgotten every hour"


class StoreError(Exception):
    """A store could not do what it was told; the message says why, and has no secrets."""


class FullError(Exception):
    """A store has as many tasks as it may have."""


class Memory:
    """Tasks in this process, which end with it."""

    def __init__(self) -> None:
        self._tasks: dict[str, bytes] = {}
        self._calls: dict[str, Kept] = {}

    def now(self) -> int:
        """Return this machine's time."""
        return int(time() * 1000)

    def add(self, task: Task, call: Kept) -> None:
        """Keep a new task."""
        tasks = [load(data) for data in self._tasks.values()]
        refuse_too_many(sum(one.principal == task.principal and not one.over for one in tasks), len(tasks))
        self._tasks[task.identifier] = dump(task)
        self._calls[task.identifier] = call

    def read(self, identifier: str) -> Task | None:
        """Return a task."""
        data = self._tasks.get(identifier)
        task = None if data is None else load(data)
        return task if task is not None and task.expires > self.now() else None

    def called(self, identifier: str) -> Kept:
        """Return what a task calls."""
        if identifier not in self._calls:
            raise StaleError("the task is gone")
        return self._calls[identifier]

    def change(self, identifier: str, step: Step) -> Task | None:
        """Do a step."""
        task = self.read(identifier)
        if task is not None:
            task = step(task, self.now())
            self._tasks[identifier] = dump(task)
        return task

    def remove(self, identifier: str) -> None:
        """Forget a task."""
        self._tasks.pop(identifier, None)
        self._calls.pop(identifier, None)

    def due(self, most: int) -> list[Task]:
        """Return tasks that nobody runs."""
        now, tasks = self.now(), [load(data) for data in self._tasks.values()]
        for task in tasks:
            if task.expires <= now:
                self.remove(task.identifier)
        return [task for task in tasks if not task.over and task.lease <= now < task.expires][:most]

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Put off the end of leases."""
        renewed = {}
        for identifier, fence in fences.items():
            task = self.read(identifier)
            if task is not None and not task.over and task.fence == fence:
                task.lease = self.now() + milliseconds
                self._tasks[identifier] = dump(task)
                renewed[identifier] = task
        return renewed

    def news(self) -> list[Task]:
        """Return nothing: there is nobody else."""
        return []

    def close(self) -> None:
        """Keep everything until the process ends."""


class Refusing(Memory):
    """A store that cannot be opened, and says so whatever it is told."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def add(self, task: Task, call: Kept) -> None:
        """Say why not."""
        raise StoreError(self.reason)

    def read(self, identifier: str) -> Task | None:
        """Say why not."""
        raise StoreError(self.reason)


def dump(task: Task) -> bytes:
    """Return a task as text."""
    return encode(task.record())


def load(data: bytes) -> Task:
    """Return the task of a text; raise StoreError if it is none."""
    try:
        return from_record(parse(data))
    except ValueError as problem:
        raise StoreError(f"what is kept of a task cannot be read: {problem}") from None


def load_call(data: bytes) -> Kept:
    """Return what a task calls; raise StoreError if it cannot be read."""
    try:
        call = parse(data)
    except ValueError as problem:
        raise StoreError(f"what is kept of a task cannot be read: {problem}") from None
    return call if type(call) is dict else {}


def refuse_too_many(under_way: int, kept: int) -> None:
    """Raise FullError where one more task would be too many."""
    if under_way >= MOST_OPEN:
        raise FullError(TOO_MANY_OPEN)
    if kept >= MOST_KEPT:
        raise FullError(TOO_MANY_KEPT)
