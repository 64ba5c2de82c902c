"""Fair shares of limited capacity: even the greediest principal leaves room for others.

Two rules. Capacity that cannot be taken back (places, streams, tasks) is limited by a dynamic threshold: a principal
may take one more while it holds less than TIMES_FREE times what is still free. One principal gets three quarters, two
get three sevenths each, and a principal that holds nothing finds room as long as anything is free. Capacity that can be
taken back (sessions, events) may be used up by one principal; on overload, the largest holder loses something.

Waiting items are served in turn by principal (round robin), each principal's items in their order.
"""

from __future__ import annotations

from _collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

TIMES_FREE = 3


class Holdings:
    """How much each principal holds. Every operation is O(1), except `largest`: O(principals that hold something)."""

    __slots__ = ("_held", "total")

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self.total = 0

    def add(self, principal: str, amount: int = 1) -> None:
        """Record that a principal holds more, or less if the amount is negative."""
        self.total += amount
        held = self._held.get(principal, 0) + amount
        if held:
            self._held[principal] = held
        else:
            # Only principals that hold something are kept, so that memory does not grow with all that ever came.
            self._held.pop(principal, None)

    def of(self, principal: str) -> int:
        """Return how much a principal holds."""
        return self._held.get(principal, 0)

    @property
    def holders(self) -> tuple[str, ...]:
        """The principals that hold anything. O(those)."""
        return tuple(self._held)

    def largest(self) -> str:
        """Return the principal that holds most; there must be one."""
        return max(self._held, key=self._held.__getitem__)


class SharedPool:
    """A pool of `most` places, which principals share.

    `times_free`: a principal may hold this many times the number of free places; with `most`, one principal may take
    all.
    """

    __slots__ = ("_held", "_times_free", "most")

    def __init__(self, most: int, times_free: int = TIMES_FREE) -> None:
        self.most = most
        self._times_free = times_free
        self._held = Holdings()

    @property
    def used(self) -> int:
        """How many places are taken."""
        return self._held.total

    @property
    def is_full(self) -> bool:
        """Whether no principal can take a place."""
        return self._held.total >= self.most

    @property
    def holders(self) -> tuple[str, ...]:
        """The principals that have a place. O(those)."""
        return self._held.holders

    def has_room(self, principal: str) -> bool:
        """Tell whether a principal may take one more place."""
        return self._held.of(principal) < self._times_free * (self.most - self._held.total)

    def held(self, principal: str) -> int:
        """Return how many places a principal has."""
        return self._held.of(principal)

    def take(self, principal: str) -> None:
        """Take a place for a principal."""
        self._held.add(principal)

    def give_back(self, principal: str) -> None:
        """Free a place of a principal."""
        self._held.add(principal, -1)


class FairQueue:
    """Waiting items by principal: principals are served in turn. Every operation except `take` is O(1)."""

    __slots__ = ("_queues", "_size")

    def __init__(self) -> None:
        self._queues: OrderedDict[Hashable, OrderedDict[Hashable, None]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        """Return how many items wait."""
        return self._size

    def __contains__(self, principal: Hashable) -> bool:
        """Tell whether an item of a principal waits."""
        return principal in self._queues

    def put(self, principal: Hashable, item: Hashable) -> None:
        """Add an item after the others of its principal."""
        items = self._queues.get(principal)
        if items is None:
            items = self._queues[principal] = OrderedDict()
        items[item] = None
        self._size += 1

    def put_back(self, principal: Hashable, item: Hashable) -> None:
        """Return an item that was taken to the front of the queue."""
        self.put(principal, item)
        self._queues[principal].move_to_end(item, last=False)
        self._queues.move_to_end(principal, last=False)

    def discard(self, principal: Hashable, item: Hashable) -> bool:
        """Remove an item; return whether it waited."""
        items = self._queues.get(principal)
        if items is None or item not in items:
            return False
        del items[item]
        self._count_removed(principal, items)
        return True

    def take(self, admits: Callable[[Any], bool] | None = None) -> tuple[Any, Any] | None:
        """Remove and return the next principal and its first item; None if no item waits that `admits` accepts.

        The filter is called for principals in turn. O(principals that wait and are not admitted).
        """
        for principal, items in self._queues.items():
            if admits is None or admits(principal):
                item, _ = items.popitem(last=False)
                # The loop ends here, so that the queue may change.
                self._queues.move_to_end(principal)
                self._count_removed(principal, items)
                return principal, item
        return None

    def _count_removed(self, principal: Hashable, items: OrderedDict[Hashable, None]) -> None:
        self._size -= 1
        if not items:
            del self._queues[principal]
