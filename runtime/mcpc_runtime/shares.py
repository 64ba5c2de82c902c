"""Shares of what a server has a bounded amount of: one principal at its worst leaves room for the others.

Two rules.  What cannot be taken back (places, streams, tasks) is given by a dynamic threshold: a principal may take one
more while it holds less than TIMES_FREE times what is still free.  One principal gets three quarters, two get three
sevenths each, and who holds nothing finds room as long as anything is free.  What can be taken back (sessions, events)
may be used up by one principal; when there is too much, the one that holds most loses something.

What waits is served in turn by principal (round robin), each principal's own in the order in which it came.
"""

from __future__ import annotations

from _collections import OrderedDict  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any

TIMES_FREE = 3


class Holdings:
    """How much each principal holds.  Every operation is O(1), but `largest`: O(principals that hold something)."""

    __slots__ = ("_held", "total")

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self.total = 0

    def add(self, principal: str, amount: int = 1) -> None:
        """Note that a principal holds more, or less if the amount is negative."""
        self.total += amount
        held = self._held.get(principal, 0) + amount
        if held:
            self._held[principal] = held
        else:
            self._held.pop(principal, None)

    def of(self, principal: str) -> int:
        """Return how much a principal holds."""
        return self._held.get(principal, 0)

    @property
    def holders(self) -> tuple[str, ...]:
        """Who holds anything.  O(those)."""
        return tuple(self._held)

    def largest(self) -> str:
        """Return the principal that holds most; there must be one."""
        return max(self._held, key=self._held.__getitem__)


class Shares:
    """A pool of `most` places, which principals share.

    `times_free`: how many times what is free a principal may hold; with `most`, one principal may take everything.
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
        """Whether nobody can take a place."""
        return self._held.total >= self.most

    @property
    def holders(self) -> tuple[str, ...]:
        """Who has a place.  O(those)."""
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
    """What waits, by principal: principals are served in turn.  Every operation but `take` is O(1)."""

    __slots__ = ("_lines", "_size")

    def __init__(self) -> None:
        self._lines: OrderedDict[Hashable, OrderedDict[Any, None]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        """Return how many items wait."""
        return self._size

    def __contains__(self, principal: Hashable) -> bool:
        """Tell whether something of a principal waits."""
        return principal in self._lines

    def put(self, principal: Hashable, item: Hashable) -> None:
        """Have an item wait behind the others of its principal."""
        line = self._lines.get(principal)
        if line is None:
            line = self._lines[principal] = OrderedDict()
        line[item] = None
        self._size += 1

    def put_back(self, principal: Hashable, item: Hashable) -> None:
        """Have an item that was taken be the next one again."""
        self.put(principal, item)
        self._lines[principal].move_to_end(item, last=False)
        self._lines.move_to_end(principal, last=False)

    def discard(self, principal: Hashable, item: Hashable) -> bool:
        """Remove an item; return whether it waited."""
        line = self._lines.get(principal)
        if line is None or item not in line:
            return False
        del line[item]
        self._removed(principal, line)
        return True

    def take(self, admits: Callable[[Any], bool] | None = None) -> tuple[Any, Any] | None:
        """Remove and return the next principal and its first item; None if nothing waits that `admits` takes.

        The filter is asked about principals in turn.  O(principals that wait and are not admitted).
        """
        for principal, line in self._lines.items():
            if admits is None or admits(principal):
                item, _ = line.popitem(last=False)
                self._lines.move_to_end(principal)
                self._removed(principal, line)
                return principal, item
        return None

    def _removed(self, principal: Hashable, line: OrderedDict[Any, None]) -> None:
        self._size -= 1
        if not line:
            del self._lines[principal]
