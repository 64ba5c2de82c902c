"""The interface of task stores, and the store in memory.

Every operation is atomic and may block, so only the store thread calls it.  Its changes are visible to all servers with
the same store before it returns.

The worker thread that calls a task store, which may block.

Operations of one principal run in order; principals, and the server itself (SERVER), take turns.

The main thread never waits for a store.  It is called back through its reactor, with the result of an operation or the
exception that it raised.  The two threads share nothing else.
"""

from __future__ import annotations

from _queue import SimpleQueue
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Collection
from functools import partial
from operator import itemgetter
from time import monotonic, time
from typing import Protocol, TypeVar

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, FairQueue, Holdings, SharedPool
from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.log import log_failure, log_line
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse
from mcpc_runtime.protocol.tasks import StaleTaskError, Step, Task, fail_unstorable, from_record
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import wake_pipe
from mcpc_runtime.transports.platforms.reactor import READABLE

StoredCall = dict[str, Json]
"""The call of a task, which never changes."""


class Store(Protocol):
    """A store of tasks."""

    def now(self) -> int:
        """Return the time in milliseconds, common to all servers with the same store."""
        ...

    def add(self, task: Task, call: StoredCall) -> None:
        """Store a new task; raise StoreFullError if there are too many.

        A task without an owner is queued (`set_queue_position`).
        """

    def read(self, identifier: str) -> Task | None:
        """Return a task; None if it is unknown or has expired."""

    def called(self, identifier: str) -> StoredCall:
        """Return the call of a task."""
        ...

    def change(self, identifier: str, step: Step) -> Task | None:
        """Apply a step and return the changed task; raise StaleTaskError if it does not apply."""

    def remove(self, identifier: str) -> None:
        """Remove a task."""

    def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
        """Return tasks without an owner, in turn by principal, except those of principals in `without`.

        Expired tasks are removed.
        """
        ...

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Renew the leases of the tasks that still have these fences; return them."""
        ...

    def news(self) -> list[Task]:
        """Return the tasks that other servers have changed since the last call."""
        ...

    def close(self) -> None:
        """Close the store."""


MAX_OPEN = 1000
"""The most running tasks of one principal."""
MAX_STORED = 100_000
"""The most stored tasks, of which one principal may have three times the room that remains for others."""
MAX_BYTES = 256 << 20
"""The most bytes of tasks in memory, shared by the same rule; without room, tasks and results are refused."""
PARSED_FACTOR = 4
"""Approximate memory of parsed arguments in relation to their text."""
FREE_GROWTH = 1024
"""Bytes by which a task may always grow: its status and owner."""
CALL = "call "
TOO_MUCH_STORED = f"stored tasks take {MAX_BYTES >> 20} MiB, the maximum; expired tasks are removed every hour"
TOO_MUCH_YOURS = "your stored tasks take {} MiB, the maximum per user; expired tasks are removed every hour"
NO_ROOM = "not enough task memory to store this task"
TOO_MANY_OPEN = f"{MAX_OPEN} tasks are running, the maximum; wait until one has ended"
TOO_MANY_YOURS = "{} of your tasks are stored, the maximum per user; expired tasks are removed every hour"
TOO_MANY_STORED = f"{MAX_STORED} tasks are stored, the maximum; expired tasks are removed every hour"


class StoreError(Exception):
    """An operation failed; the message states the reason and contains no secrets."""


class TooSlowError(StoreError):
    """Too many operations wait for the store; this one was not done."""


class StoreFullError(Exception):
    """The store has reached its maximum of tasks."""


class MemoryStore:
    """Tasks in memory, which end with the process.  Every operation is O(1), except `due`: O(tasks)."""

    def __init__(self) -> None:
        self._tasks: dict[str, bytes] = {}
        self._calls: dict[str, StoredCall] = {}
        self._states: dict[str, tuple[str, bool, int, int]] = {}  # principal, is over, lease, expires
        self._open, self._stored = Holdings(), Holdings()
        self._bytes = Holdings()
        self._sizes: dict[str, int] = {}

    @property
    def size(self) -> int:
        """The approximate bytes of all tasks and their calls."""
        return self._bytes.total

    def _count_bytes(self, identifier: str, principal: str, size: int) -> None:
        """Record the bytes of one task."""
        self._bytes.add(principal, size - self._sizes.pop(identifier, 0))
        if size:
            self._sizes[identifier] = size

    def _lack_of_room(self, principal: str, size: int) -> str:
        """Return why `size` more bytes may not be stored, or nothing."""
        total, theirs = self._bytes.total + size, self._bytes.of(principal) + size
        if total > MAX_BYTES:
            return TOO_MUCH_STORED
        if theirs > TIMES_FREE * (MAX_BYTES - total):
            return TOO_MUCH_YOURS.format(theirs - size >> 20)
        return ""

    def now(self) -> int:
        """Return this machine's time."""
        return int(time() * 1000)

    def add(self, task: Task, call: StoredCall) -> None:
        """Store a new task."""
        under_way = self._open.of(task.principal)
        check_limits(under_way, self._stored.of(task.principal), self._stored.total)
        size = len(encode(call)) * PARSED_FACTOR
        problem = self._lack_of_room(task.principal, size)
        if problem:
            raise StoreFullError(problem)
        set_queue_position(task, under_way)
        self._put(task, dump_task(task))
        self._calls[task.identifier] = call
        self._count_bytes(CALL + task.identifier, task.principal, size)

    def read(self, identifier: str) -> Task | None:
        """Return a task."""
        data = self._tasks.get(identifier)
        task = None if data is None else load_task(data)
        return task if task is not None and task.expires > self.now() else None

    def called(self, identifier: str) -> StoredCall:
        """Return the call of a task."""
        if identifier not in self._calls:
            raise StaleTaskError("the task no longer exists")
        return self._calls[identifier]

    def change(self, identifier: str, step: Step) -> Task | None:
        """Apply a step; a task that exceeds the memory fails with that reason."""
        task = self.read(identifier)
        if task is not None:
            task = step(task, self.now())
            data = dump_task(task)
            growth = len(data) - self._sizes[identifier]
            if growth > FREE_GROWTH and self._lack_of_room(task.principal, growth):
                data = dump_task(task := fail_unstorable(task, NO_ROOM))
            self._put(task, data)
        return task

    def _put(self, task: Task, data: bytes) -> None:
        # Without the earlier state of the task, and then with its new one.
        self._count(task.identifier, -1)
        self._tasks[task.identifier] = data
        self._count_bytes(task.identifier, task.principal, len(data))
        self._states[task.identifier] = task.principal, task.is_finished, task.lease, task.expires
        self._count(task.identifier, 1)

    def _count(self, identifier: str, amount: int) -> None:
        if identifier in self._states:
            principal, is_over, _, _ = self._states[identifier]
            self._stored.add(principal, amount)
            self._open.add(principal, 0 if is_over else amount)

    def remove(self, identifier: str) -> None:
        """Remove a task."""
        self._count(identifier, -1)
        if identifier in self._states:
            principal = self._states[identifier][0]
            self._count_bytes(identifier, principal, 0)
            self._count_bytes(CALL + identifier, principal, 0)
        for table in (self._tasks, self._calls, self._states):
            table.pop(identifier, None)

    def due(self, most: int, without: Collection[str] = ()) -> list[Task]:
        """Return tasks without an owner."""
        now = self.now()
        unowned: list[tuple[int, str]] = []
        for identifier, (principal, is_over, lease, expires) in list(self._states.items()):
            if expires <= now:
                self.remove(identifier)
            elif not is_over and lease <= now and principal not in without:
                unowned.append((lease, identifier))
        unowned.sort(key=itemgetter(0))
        return [load_task(self._tasks[identifier]) for _, identifier in unowned[:most]]

    def renew(self, fences: dict[str, int], milliseconds: int) -> dict[str, Task]:
        """Renew leases."""
        renewed = {}
        for identifier, fence in fences.items():
            task = self.read(identifier)
            if task is not None and not task.is_finished and task.fence == fence:
                task.lease = self.now() + milliseconds
                self._put(task, dump_task(task))
                renewed[identifier] = task
        return renewed

    def news(self) -> list[Task]:
        """Return nothing: no other server has this store."""
        return []

    def close(self) -> None:
        """Do nothing: the tasks end with the process."""


class UnavailableStore(MemoryStore):
    """Stands for a store that cannot be opened: its operations raise StoreError with the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def add(self, task: Task, call: StoredCall) -> None:
        """Raise StoreError."""
        raise StoreError(self.reason)

    def read(self, identifier: str) -> Task | None:
        """Raise StoreError."""
        raise StoreError(self.reason)


def dump_task(task: Task) -> bytes:
    """Return a task as JSON."""
    return encode(task.record())


def load_task(data: bytes) -> Task:
    """Return the task of a JSON text; raise StoreError if it cannot be read."""
    try:
        return from_record(parse(data))
    except ValueError as problem:
        raise StoreError(f"a stored task cannot be read: {problem}") from None


def load_call(data: bytes) -> StoredCall:
    """Return the call of a task; raise StoreError if it cannot be read."""
    try:
        call = parse(data)
    except ValueError as problem:
        raise StoreError(f"a stored task cannot be read: {problem}") from None
    return call if type(call) is dict else {}


def check_limits(under_way: int, theirs: int, total: int) -> None:
    """Raise StoreFullError if one more task would exceed a limit, of its principal or of all tasks."""
    if under_way >= MAX_OPEN:
        raise StoreFullError(TOO_MANY_OPEN)
    if total >= MAX_STORED:
        raise StoreFullError(TOO_MANY_STORED)
    if theirs >= TIMES_FREE * (MAX_STORED - total):
        raise StoreFullError(TOO_MANY_YOURS.format(theirs))


def set_queue_position(task: Task, under_way: int) -> None:
    """Queue a task without an owner: the first tasks of all principals come before the second ones.

    Its lease, which is in the past, is the number of running tasks of its principal; the lowest is taken first.
    """
    if not task.owner:
        task.lease = under_way


Result = TypeVar("Result")
Problem = StaleTaskError | StoreError | StoreFullError
"""The exceptions by which an operation may fail."""
QueuedOperation = Callable[[Store], Callable[[], None]]
"""Runs on the store's thread; what it returns is called on the main thread."""


MAX_OPERATIONS = 1000
"""The most operations that wait for a slow store; more are refused immediately."""
SERVER = None
LOG_SECONDS = 30.0
"""Problems of the store are logged at most once in this time."""
TOO_SLOW = f"the task store is too slow: {MAX_OPERATIONS} operations are waiting"


class StoreThread:
    """A thread and its store, which it opens with the first operation."""

    def __init__(self, reactor: ReactorInterface, open_store: Callable[[], Store], *, is_shared: bool = False) -> None:
        self._reactor = reactor
        self._open = open_store
        self._tokens: SimpleQueue[None] = SimpleQueue()  # one item for each operation that waits, and one for the end
        self._waiting = FairQueue()
        self._room = SharedPool(MAX_OPERATIONS, TIMES_FREE if is_shared else MAX_OPERATIONS)
        self._lock = allocate_lock()  # protects the two above
        self._last: Callable[[Store], None] = lambda store: None
        self._outcomes: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._wake_pipe: tuple[int, int] | None = None
        self._ended = allocate_lock()
        self._logged = 0.0

    def submit(
        self,
        operation: Callable[[Store], Result],
        done: Callable[[Result | Problem], None],
        principal: str | None = SERVER,
    ) -> None:
        """Queue an operation on the store; `done` is called with its result or exception, on the main thread."""
        if self._wake_pipe is None:
            self._wake_pipe = wake_pipe()
            self._reactor.watch(self._wake_pipe[0], READABLE, self._hand_back)
            # A lock as an event: the thread releases it when the store is closed.
            self._ended.acquire()
            start_new_thread(self._work, (self._wake_pipe[1],))
        if self._put(principal, lambda store: partial(done, run_operation(operation, store))):
            self._tokens.put(None)
        else:
            self._reactor.after(0, partial(done, TooSlowError(TOO_SLOW)))

    def warn(self, problem: object) -> None:
        """Log a problem of the store, at most every LOG_SECONDS."""
        now = monotonic()
        if now >= self._logged:
            self._logged = now + LOG_SECONDS
            log_line(f"tasks: {problem}")

    def _put(self, principal: str | None, operation: QueuedOperation) -> bool:
        """Queue an operation; False if too many wait.  The server's own operations are few and never refused."""
        with self._lock:
            if principal is not SERVER:
                if not self._room.has_room(principal):
                    return False
                self._room.take(principal)
            self._waiting.put(principal, operation)
        return True

    def _take(self) -> QueuedOperation | None:
        """Wait for an operation; None when none waits and the thread is closed."""
        self._tokens.get()
        with self._lock:
            item = self._waiting.take()
            if item is None:
                return None
            principal, operation = item
            if principal is not SERVER:
                # The room is for operations that wait; this one is done now.
                self._room.give_back(principal)
        taken: QueuedOperation = operation
        return taken

    def close(self, last: Callable[[Store], None], seconds: float) -> None:
        """Run one last operation, and wait for it at most `seconds`; no callback is called any more."""
        if self._wake_pipe is not None:
            self._reactor.forget(self._wake_pipe[0])
            self._last = last
            self._tokens.put(None)
            self._ended.acquire(timeout=seconds)

    def _hand_back(self) -> None:
        if self._wake_pipe is not None:
            system.read(self._wake_pipe[0], 4096)
        while not self._outcomes.empty():
            self._reactor.after(0, self._outcomes.get_nowait())  # so a callback that fails does not affect others

    def _work(self, wake: int) -> None:
        # The store in memory is unused: opening one needs none.
        opened = run_operation(lambda _: self._open(), MemoryStore())
        store = UnavailableStore(str(opened)) if isinstance(opened, Exception) else opened
        while (operation := self._take()) is not None:
            # Before the byte in the pipe: whoever is woken by it must find the outcome.
            self._outcomes.put(operation(store))
            try:
                system.write(wake, b"!")
            except OSError:  # the pipe is full, so the reader wakes anyway; or the server ends
                continue
        run_operation(self._last, store)
        store.close()
        self._ended.release()


def run_operation(operation: Callable[[Store], Result], store: Store) -> Result | Problem:
    """Return the result of an operation, or the exception that it raised."""
    try:
        return operation(store)
    except (StaleTaskError, StoreError, StoreFullError) as problem:
        return problem
    except Exception as problem:  # noqa: BLE001 - the thread must survive, since callers wait for it
        log_failure(problem)
        return StoreError(f"{type(problem).__name__}: {problem}")
