"""What a store of tasks is: it keeps each task whole, changes one in a single step, and says plainly what it cannot do.

Every store has the same operations, all of which may wait, so only the clerk's thread calls them.  What a store has
taken is there for everybody who opens the same one, before the operation returns.  This one is the server's own memory.
"""

from __future__ import annotations

from operator import itemgetter
from time import time

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, Holdings
from mcpc_runtime.protocol.jsonrpc import encode, parse
from mcpc_runtime.protocol.task_state import StaleTaskError, fail_unstorable, from_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Protocol

    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.task_state import Step, Task

    Kept = dict[str, Json]
    """What a task calls: it never changes."""

    class Store(Protocol):
        """Where tasks are kept."""

        def now(self) -> int:
            """Return the time, as everybody knows it who has the same store."""
            ...

        def add(self, task: Task, call: Kept) -> None:
            """Keep a new task; raise FullError if there are too many.  One that nobody runs gets its turn (`turn`)."""

        def read(self, identifier: str) -> Task | None:
            """Return a task, unless it is unknown or need not be kept any more."""

        def called(self, identifier: str) -> Kept:
            """Return what a task calls."""
            ...

        def change(self, identifier: str, step: Step) -> Task | None:
            """Do a step and return what the task is now; raise StaleError if it cannot be done."""

        def remove(self, identifier: str) -> None:
            """Forget a task."""

        def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
            """Return tasks that nobody runs, in turn by principal, but none of principals in `without`.

            Those that need not be kept any more are forgotten.
            """
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
"""So many tasks may be kept, of which one principal may have three times what others still find room for."""
MOST_BYTES = 256 << 20
"""Of tasks in this process's memory, shared by the same rule: without room no task is taken, and no result kept."""
PARSED_FACTOR = 4
"""What arguments take, parsed, over their text, about."""
FREE_GROWTH = 1024
"""A task may grow by so much in any case: by its status, by who runs it."""
CALL = "call "
TOO_MUCH_KEPT = f"stored tasks take {MOST_BYTES >> 20} MiB, the maximum; expired tasks are removed every hour"
TOO_MUCH_YOURS = "your stored tasks take {} MiB, the maximum per user; expired tasks are removed every hour"
NO_ROOM = "not enough task memory to store this task"
TOO_MANY_OPEN = f"{MOST_OPEN} tasks are running, the maximum; wait until one has ended"
TOO_MANY_YOURS = "{} of your tasks are stored, the maximum per user; expired tasks are removed every hour"
TOO_MANY_KEPT = f"{MOST_KEPT} tasks are stored, the maximum; expired tasks are removed every hour"


class StoreError(Exception):
    """A store could not do what it was told; the message says why, and has no secrets."""


class TooSlowError(StoreError):
    """So many orders wait for a store that one more is refused; nothing was done."""


class StoreFullError(Exception):
    """A store has as many tasks as it may have."""


class MemoryStore:
    """Tasks in this process, which end with it.  Every operation is O(1), but for `due`: O(tasks)."""

    def __init__(self) -> None:
        self._tasks: dict[str, bytes] = {}
        self._calls: dict[str, Kept] = {}
        self._facts: dict[str, tuple[str, bool, int, int]] = {}  # principal, is over, lease, expires
        self._open, self._kept = Holdings(), Holdings()
        self._bytes = Holdings()
        self._sizes: dict[str, int] = {}

    @property
    def size(self) -> int:
        """How many bytes are kept of all tasks and what they call, about."""
        return self._bytes.total

    def _weigh(self, identifier: str, principal: str, size: int) -> None:
        """Count the bytes of one task."""
        self._bytes.add(principal, size - self._sizes.pop(identifier, 0))
        if size:
            self._sizes[identifier] = size

    def _lack(self, principal: str, size: int) -> str:
        """Return why so many bytes more may not be kept, or nothing."""
        kept, theirs = self._bytes.total + size, self._bytes.of(principal) + size
        if kept > MOST_BYTES:
            return TOO_MUCH_KEPT
        if theirs > TIMES_FREE * (MOST_BYTES - kept):
            return TOO_MUCH_YOURS.format(theirs - size >> 20)
        return ""

    def now(self) -> int:
        """Return this machine's time."""
        return int(time() * 1000)

    def add(self, task: Task, call: Kept) -> None:
        """Keep a new task."""
        under_way = self._open.of(task.principal)
        refuse_too_many(under_way, self._kept.of(task.principal), self._kept.total)
        size = len(encode(call)) * PARSED_FACTOR
        lack = self._lack(task.principal, size)
        if lack:
            raise StoreFullError(lack)
        turn(task, under_way)
        self._put(task, dump(task))
        self._calls[task.identifier] = call
        self._weigh(CALL + task.identifier, task.principal, size)

    def read(self, identifier: str) -> Task | None:
        """Return a task."""
        data = self._tasks.get(identifier)
        task = None if data is None else load(data)
        return task if task is not None and task.expires > self.now() else None

    def called(self, identifier: str) -> Kept:
        """Return what a task calls."""
        if identifier not in self._calls:
            raise StaleTaskError("the task no longer exists")
        return self._calls[identifier]

    def change(self, identifier: str, step: Step) -> Task | None:
        """Do a step; a task that there is no room for any more ends with that."""
        task = self.read(identifier)
        if task is not None:
            task = step(task, self.now())
            data = dump(task)
            growth = len(data) - self._sizes[identifier]
            if growth > FREE_GROWTH and self._lack(task.principal, growth):
                data = dump(task := fail_unstorable(task, NO_ROOM))
            self._put(task, data)
        return task

    def _put(self, task: Task, data: bytes) -> None:
        self._count(task.identifier, -1)
        self._tasks[task.identifier] = data
        self._weigh(task.identifier, task.principal, len(data))
        self._facts[task.identifier] = task.principal, task.over, task.lease, task.expires
        self._count(task.identifier, 1)

    def _count(self, identifier: str, amount: int) -> None:
        if identifier in self._facts:
            principal, is_over, _, _ = self._facts[identifier]
            self._kept.add(principal, amount)
            self._open.add(principal, 0 if is_over else amount)

    def remove(self, identifier: str) -> None:
        """Forget a task."""
        self._count(identifier, -1)
        if identifier in self._facts:
            principal = self._facts[identifier][0]
            self._weigh(identifier, principal, 0)
            self._weigh(CALL + identifier, principal, 0)
        for kept in (self._tasks, self._calls, self._facts):
            kept.pop(identifier, None)

    def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
        """Return tasks that nobody runs."""
        now = self.now()
        found: list[tuple[int, str]] = []
        for identifier, (principal, is_over, lease, expires) in list(self._facts.items()):
            if expires <= now:
                self.remove(identifier)
            elif not is_over and lease <= now and principal not in without:
                found.append((lease, identifier))
        found.sort(key=itemgetter(0))
        return [load(self._tasks[identifier]) for _, identifier in found[:most]]

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Put off the end of leases."""
        renewed = {}
        for identifier, fence in fences.items():
            task = self.read(identifier)
            if task is not None and not task.over and task.fence == fence:
                task.lease = self.now() + milliseconds
                self._put(task, dump(task))
                renewed[identifier] = task
        return renewed

    def news(self) -> list[Task]:
        """Return nothing: there is nobody else."""
        return []

    def close(self) -> None:
        """Keep everything until the process ends."""


class UnavailableStore(MemoryStore):
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
        raise StoreError(f"a stored task cannot be read: {problem}") from None


def load_call(data: bytes) -> Kept:
    """Return what a task calls; raise StoreError if it cannot be read."""
    try:
        call = parse(data)
    except ValueError as problem:
        raise StoreError(f"a stored task cannot be read: {problem}") from None
    return call if type(call) is dict else {}


def refuse_too_many(under_way: int, theirs: int, kept: int) -> None:
    """Raise FullError where one more task would be too many: of those of its principal, or of all."""
    if under_way >= MOST_OPEN:
        raise StoreFullError(TOO_MANY_OPEN)
    if kept >= MOST_KEPT:
        raise StoreFullError(TOO_MANY_KEPT)
    if theirs >= TIMES_FREE * (MOST_KEPT - kept):
        raise StoreFullError(TOO_MANY_YOURS.format(theirs))


def turn(task: Task, under_way: int) -> None:
    """Give a task that nobody runs its turn: everybody's first comes before anybody's second.

    Its lease, which has ended long ago, says how many tasks of its principal were under way; the least is taken first.
    """
    if not task.owner:
        task.lease = under_way
