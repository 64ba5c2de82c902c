"""The one thread that talks to a store: what it is told is done, and what comes of it is handed back.

What one principal wants is done in the order in which it came, and principals are served in turn; so are those and
what the server needs itself (NOBODY).

The thread that serves never waits for a store.  It is called back through its reactor, with what an order returned, or
with the exception that it ended with.  Nothing else is shared between the two.
"""

from __future__ import annotations

import posix
from _collections import deque  # type: ignore[import-not-found]
from _queue import SimpleQueue
from _thread import allocate_lock, start_new_thread
from functools import partial

from mcpc_runtime.protocol.course import StaleError
from mcpc_runtime.reactor import READABLE, hang_bell
from mcpc_runtime.shares import TIMES_FREE, FairQueue, Shares
from mcpc_runtime.tasks.store import FullError, Memory, Refusing, StoreError, TooSlowError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.reactor import Reactor
    from mcpc_runtime.tasks.store import Store

    Order = Callable[[Store], Any]
    Done = Callable[[Any], None]

MOST_ORDERS = 1000
"""So many orders wait for a store that is slow; more are refused at once."""
NOBODY = None
TOO_SLOW = f"the store is too slow: {MOST_ORDERS} orders wait for it"


class Clerk:
    """A thread and its store, which it opens with the first order."""

    def __init__(self, reactor: Reactor, open_store: Callable[[], Store], *, is_shared: bool = False) -> None:
        self._reactor = reactor
        self._open = open_store
        self._orders: Any = SimpleQueue()  # one item for each order that waits, and one for the end
        self._waiting = FairQueue()
        self._room = Shares(MOST_ORDERS, TIMES_FREE if is_shared else MOST_ORDERS)
        self._lock = allocate_lock()  # of the two above
        self._last: Order | None = None
        self._outcomes: deque[tuple[Done, Any]] = deque()
        self._bell: tuple[int, int] | None = None
        self._ended = allocate_lock()

    def tell(self, order: Order, done: Done, principal: str | None = NOBODY) -> None:
        """Have something done with the store; `done` is called with what comes of it, by the thread that serves."""
        if self._bell is None:
            self._bell = hang_bell()
            self._reactor.watch(self._bell[0], READABLE, self._hand_back)
            self._ended.acquire()
            start_new_thread(self._work, (self._bell[1],))
        if self._put(principal, (order, done)):
            self._orders.put(None)
        else:
            self._reactor.after(0, partial(done, TooSlowError(TOO_SLOW)))

    def _put(self, principal: str | None, item: tuple[Order, Done]) -> bool:
        """Have an order wait; False if too many do.  Those of the server itself are few, and always find room."""
        with self._lock:
            if principal is not NOBODY:
                if not self._room.has_room(principal):
                    return False
                self._room.take(principal)
            self._waiting.put(principal, item)
        return True

    def _take(self) -> tuple[Order, Done | None]:
        """Wait for an order; the last one comes when no other waits."""
        self._orders.get()
        with self._lock:
            found = self._waiting.take()
            if found is None:
                return self._last or forget, None
            principal, item = found
            if principal is not NOBODY:
                self._room.give_back(principal)
        order, done = item
        return order, done

    def close(self, last: Order, seconds: float) -> None:
        """Have one more thing done, and wait for it so long; nobody is called back any more."""
        if self._bell is not None:
            self._reactor.forget(self._bell[0])
            self._last = last
            self._orders.put(None)
            self._ended.acquire(timeout=seconds)

    def _hand_back(self) -> None:
        if self._bell is not None:
            posix.read(self._bell[0], 4096)
        while self._outcomes:
            done, outcome = self._outcomes.popleft()
            self._reactor.after(0, partial(done, outcome))  # so one that fails is the only one

    def _work(self, bell: int) -> None:
        opened = attempt(lambda _: self._open(), Memory())
        store = Refusing(str(opened)) if isinstance(opened, Exception) else opened
        while True:
            order, done = self._take()
            outcome = attempt(order, store)
            if done is None:
                store.close()
                self._ended.release()
                return
            self._outcomes.append((done, outcome))
            try:
                posix.write(bell, b"!")
            except OSError:  # it is full, and so rings already; or the server ends
                continue


def forget(_: Store) -> None:
    """Do nothing."""


def attempt(order: Order, store: Store) -> Any:
    """Return what comes of an order, or the exception that it ended with."""
    try:
        return order(store)
    except (StaleError, StoreError, FullError) as problem:
        return problem
    except Exception as problem:  # a thread must not end while somebody waits for it
        return StoreError(f"{type(problem).__name__}: {problem}")
