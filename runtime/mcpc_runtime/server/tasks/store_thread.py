"""The worker thread that calls a task store, which may block.

Operations of one principal run in order; principals, and the server itself (SERVER), take turns.

The main thread never waits for a store.  It is called back through its reactor, with the result of an operation or the
exception that it raised.  The two threads share nothing else.
"""

from __future__ import annotations

from _queue import SimpleQueue
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TypeVar

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, FairQueue, SharedPool
from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.log.failures import log_failure
from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.protocol.task_state import StaleTaskError
from mcpc_runtime.server.tasks.store import (
    MemoryStore,
    Store,
    StoreError,
    StoreFullError,
    TooSlowError,
    UnavailableStore,
)
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import wake_pipe
from mcpc_runtime.transports.platforms.reactor import READABLE

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
        opened = run_operation(lambda _: self._open(), MemoryStore())
        store = UnavailableStore(str(opened)) if isinstance(opened, Exception) else opened
        while (operation := self._take()) is not None:
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
