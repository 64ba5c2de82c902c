"""Fair shares of the places for running calls between principals (without them: `FirstComeAdmission`).

A call runs if its principal has less than three times the number of free places, and waits otherwise; waiting calls
begin in turn by principal.  A call that another call made shares the place of that call, which waits for it.
"""

from __future__ import annotations

from mcpc_runtime.concurrency.fair_shares import FairQueue, SharedPool
from mcpc_runtime.server.running_calls import BUSY, MAX_WAITING, RunningCall

SHARE_USED_UP = "the server is busy: {} calls of yours wait, which is your share; call again later"


class FairAdmission:
    """The `Admission` of calls of several principals."""

    __slots__ = ("_places", "_queue", "_room", "_roomy")

    def __init__(self, slots: int) -> None:
        self._roomy = slots // 2  # below it no principal is near a limit: inline calls, mostly quick, are not counted
        self._places = SharedPool(slots)
        self._room = SharedPool(MAX_WAITING)
        self._queue = FairQueue()

    def __len__(self) -> int:
        """Return how many calls wait."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """How many calls have a place."""
        return self._places.used

    @property
    def is_roomy(self) -> bool:
        """Whether an inline call may begin without a place."""
        return self._places.used < self._roomy

    def admits(self, running: RunningCall) -> bool:
        """Tell whether a call may begin now."""
        principal = running.call.request.session.principal
        return principal not in self._queue and self._places.has_room(principal)

    def refusal(self, principal: str) -> str:
        """Return why no more calls of a principal may wait, or an empty string."""
        if self._room.has_room(principal):
            return ""
        return BUSY if self._room.is_full else SHARE_USED_UP.format(self._room.held(principal))

    def wait(self, running: RunningCall) -> None:
        """Add a call to the queue."""
        principal = running.call.request.session.principal
        self._room.take(principal)
        self._queue.put(queue_of(running), running)

    def enter(self, running: RunningCall) -> None:
        """Take a place for a call, even if none is free."""
        if running.parent is None:
            self._places.take(running.call.request.session.principal)

    def put_back(self, running: RunningCall) -> None:
        """Move a call from its place back to the front of the queue."""
        principal = running.call.request.session.principal
        self.leave(running)
        self._room.take(principal)
        self._queue.put_back(queue_of(running), running)

    def leave(self, running: RunningCall) -> bool:
        """Remove a call from the queue or from its place; return whether it had a place."""
        principal = running.call.request.session.principal
        if self._queue.discard(queue_of(running), running):
            self._room.give_back(principal)
            return False
        if running.parent is None:
            self._places.give_back(principal)
        return True

    def next(self) -> RunningCall | None:
        """Remove and return the next call from the queue, None if there is none or no room."""
        waiting = self._queue.take(self._may_begin)
        if waiting is None:
            return None
        running: RunningCall = waiting[1]
        self._room.give_back(running.call.request.session.principal)
        return running

    def _may_begin(self, queue: str | None) -> bool:
        return queue is None or self._places.has_room(queue)


def queue_of(running: RunningCall) -> str | None:
    """Return the queue of a call: its principal, or None for a call that shares the place of another one."""
    return running.call.request.session.principal if running.parent is None else None
