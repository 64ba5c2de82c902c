"""When what is running has had its time: one timer for all, however many there are.

Calls with the same limit end in the order in which they began, so each limit has one queue, and only their heads count.
Adding and removing cost O(1), arming the timer O(different limits).
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any

    from mcpc_runtime.reactor import Reactor


class Deadlines:
    """What has a limit; `expire(key)` is called for each that is still there when its time is over."""

    def __init__(self, reactor: Reactor, expire: Callable[[Any], None]) -> None:
        self._reactor = reactor
        self._expire = expire
        self._queues: dict[float, dict[Hashable, float]] = {}
        self._armed = float("inf")

    def add(self, key: Hashable, seconds: float) -> None:
        """Give `key` so many seconds from now."""
        due = monotonic() + seconds
        self._queues.setdefault(seconds, {})[key] = due
        if due < self._armed:
            self._arm(due)

    def remove(self, key: Hashable, seconds: float) -> None:
        """Forget a key that was given so many seconds."""
        queue = self._queues.get(seconds)
        if queue is not None:
            queue.pop(key, None)
            if not queue and len(self._queues) > 1:
                del self._queues[seconds]

    def _arm(self, due: float) -> None:
        self._armed = due
        self._reactor.after(max(0.0, due - monotonic()), lambda: self._look(due))

    def _look(self, due: float) -> None:
        if due != self._armed:
            return  # an earlier timer was armed since
        self._armed = float("inf")
        now = monotonic()
        for queue in list(self._queues.values()):
            for key in [key for key, when in first(queue, now)]:
                if queue.pop(key, None) is not None:  # what expired before it may have removed it
                    self._expire(key)
        heads = [next(iter(queue.values())) for queue in self._queues.values() if queue]
        if heads and min(heads) < self._armed:
            self._arm(min(heads))


def first(queue: dict[Hashable, float], now: float) -> list[tuple[Hashable, float]]:
    """Return those at the head of a queue whose time is over."""
    found = []
    for key, due in queue.items():
        if due > now:
            break
        found.append((key, due))
    return found
