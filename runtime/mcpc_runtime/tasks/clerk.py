"""The one thread that talks to a store: what it is told is done in order, and what comes of it is handed back.

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
from mcpc_runtime.tasks.store import FullError, Memory, Refusing, StoreError

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
TOO_SLOW = f"the store is too slow: {MOST_ORDERS} orders wait for it"


class Clerk:
    """A thread and its store, which it opens with the first order."""

    def __init__(self, reactor: Reactor, open_store: Callable[[], Store]) -> None:
        self._reactor = reactor
        self._open = open_store
        self._orders: Any = SimpleQueue()
        self._outcomes: deque[tuple[Done, Any]] = deque()
        self._bell: tuple[int, int] | None = None
        self._ended = allocate_lock()

    def tell(self, order: Order, done: Done) -> None:
        """Have something done with the store; `done` is called with what comes of it, by the thread that serves."""
        if self._bell is None:
            self._bell = hang_bell()
            self._reactor.watch(self._bell[0], READABLE, self._hand_back)
            self._ended.acquire()
            start_new_thread(self._work, (self._bell[1],))
        if self._orders.qsize() < MOST_ORDERS:
            self._orders.put((order, done))
        else:
            self._reactor.after(0, partial(done, StoreError(TOO_SLOW)))

    def close(self, last: Order, seconds: float) -> None:
        """Have one more thing done, and wait for it so long; nobody is called back any more."""
        if self._bell is not None:
            self._reactor.forget(self._bell[0])
            self._orders.put((last, None))
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
            order, done = self._orders.get()
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


def attempt(order: Order, store: Store) -> Any:
    """Return what comes of an order, or the exception that it ended with."""
    try:
        return order(store)
    except (StaleError, StoreError, FullError) as problem:
        return problem
    except Exception as problem:  # a thread must not end while somebody waits for it
        return StoreError(f"{type(problem).__name__}: {problem}")
