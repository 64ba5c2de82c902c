"""The one thread that talks to a store: what it is told is done, and what comes of it is handed back.

What one principal wants is done in the order in which it came, and principals are served in turn; so are those and
what the server needs itself (NOBODY).

The thread that serves never waits for a store.  It is called back through its reactor, with what an order returned, or
with the exception that it ended with.  Nothing else is shared between the two.
"""

from __future__ import annotations

import posix
from _queue import SimpleQueue
from _thread import allocate_lock, start_new_thread
from functools import partial
from time import monotonic

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, FairQueue, SharedPool
from mcpc_runtime.failures import log_failure
from mcpc_runtime.operator_log import log_line
from mcpc_runtime.platforms.posix.reactor import READABLE, hang_bell
from mcpc_runtime.protocol.task_state import StaleTaskError
from mcpc_runtime.tasks.store import MemoryStore, StoreError, StoreFullError, TooSlowError, UnavailableStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from mcpc_runtime.interfaces import ReactorInterface
    from mcpc_runtime.tasks.store import Store

    Found = TypeVar("Found")
    Problem = StaleTaskError | StoreError | StoreFullError
    """What an order may end with in place of what it returns."""
    Order = Callable[[Store], Callable[[], None]]
    """What is done with a store; what it returns is called by the thread that serves."""

MOST_ORDERS = 1000
"""So many orders wait for a store that is slow; more are refused at once."""
NOBODY = None
TOLD_SECONDS = 30.0
"""What is wrong with the store is logged at most so often."""
TOO_SLOW = f"the task store is too slow: {MOST_ORDERS} operations are waiting"


class StoreThread:
    """A thread and its store, which it opens with the first order."""

    def __init__(self, reactor: ReactorInterface, open_store: Callable[[], Store], *, is_shared: bool = False) -> None:
        self._reactor = reactor
        self._open = open_store
        self._orders: SimpleQueue[None] = SimpleQueue()  # one item for each order that waits, and one for the end
        self._waiting = FairQueue()
        self._room = SharedPool(MOST_ORDERS, TIMES_FREE if is_shared else MOST_ORDERS)
        self._lock = allocate_lock()  # of the two above
        self._last: Callable[[Store], None] = forget
        self._outcomes: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._bell: tuple[int, int] | None = None
        self._ended = allocate_lock()
        self._told = 0.0

    def submit(
        self,
        order: Callable[[Store], Found],
        done: Callable[[Found | Problem], None],
        principal: str | None = NOBODY,
    ) -> None:
        """Have something done with the store; `done` is called with what comes of it, by the thread that serves."""
        if self._bell is None:
            self._bell = hang_bell()
            self._reactor.watch(self._bell[0], READABLE, self._hand_back)
            self._ended.acquire()
            start_new_thread(self._work, (self._bell[1],))
        if self._put(principal, lambda store: partial(done, attempt(order, store))):
            self._orders.put(None)
        else:
            self._reactor.after(0, partial(done, TooSlowError(TOO_SLOW)))

    def warn(self, problem: object) -> None:
        """Log what is wrong with the store, not too often."""
        now = monotonic()
        if now >= self._told:
            self._told = now + TOLD_SECONDS
            log_line(f"tasks: {problem}")

    def _put(self, principal: str | None, order: Order) -> bool:
        """Have an order wait; False if too many do.  Those of the server itself are few, and always find room."""
        with self._lock:
            if principal is not NOBODY:
                if not self._room.has_room(principal):
                    return False
                self._room.take(principal)
            self._waiting.put(principal, order)
        return True

    def _take(self) -> Order | None:
        """Wait for an order; None when no other waits and the end has come."""
        self._orders.get()
        with self._lock:
            found = self._waiting.take()
            if found is None:
                return None
            principal, order = found
            if principal is not NOBODY:
                self._room.give_back(principal)
        taken: Order = order
        return taken

    def close(self, last: Callable[[Store], None], seconds: float) -> None:
        """Have one more thing done, and wait for it so long; nobody is called back any more."""
        if self._bell is not None:
            self._reactor.forget(self._bell[0])
            self._last = last
            self._orders.put(None)
            self._ended.acquire(timeout=seconds)

    def _hand_back(self) -> None:
        if self._bell is not None:
            posix.read(self._bell[0], 4096)
        while not self._outcomes.empty():
            self._reactor.after(0, self._outcomes.get_nowait())  # so one that fails is the only one

    def _work(self, bell: int) -> None:
        opened = attempt(lambda _: self._open(), MemoryStore())
        store = UnavailableStore(str(opened)) if isinstance(opened, Exception) else opened
        while (order := self._take()) is not None:
            self._outcomes.put(order(store))
            try:
                posix.write(bell, b"!")
            except OSError:  # it is full, and so rings already; or the server ends
                continue
        attempt(self._last, store)
        store.close()
        self._ended.release()


def forget(_: Store) -> None:
    """Do nothing."""


def attempt(order: Callable[[Store], Found], store: Store) -> Found | Problem:
    """Return what comes of an order, or the exception that it ended with."""
    try:
        return order(store)
    except (StaleTaskError, StoreError, StoreFullError) as problem:
        return problem
    except Exception as problem:  # noqa: BLE001 - a thread must not end while somebody waits for it
        log_failure(problem)
        return StoreError(f"{type(problem).__name__}: {problem}")
