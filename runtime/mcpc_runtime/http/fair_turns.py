"""Fair scheduling of requests between principals: one request of each begins in one turn of the event loop.

Otherwise a principal with many connections could occupy the loop and the workers before the request of another one.
Waiting requests begin in later turns, those of one principal in order of arrival, and are charged to it in the memory
budget.  While only one principal sends requests, none waits.  O(1) for a request, O(waiting principals) for a turn.

Fair shares of the places for running calls between principals (without them: `FirstComeAdmission`).

A call runs if its principal has less than three times the number of free places, and waits otherwise; waiting calls
begin in turn by principal.  A call that another call made shares the place of that call, which waits for it.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcpc_runtime.concurrency.fair_shares import FairQueue, SharedPool
from mcpc_runtime.server.running_calls import BUSY, MAX_WAITING, RunningCall

CONTENTION_SECONDS = 1.0
"""A principal is the only one if no other has sent a request for so long."""


class FairTurns:
    """The turns of one event loop."""

    __slots__ = ("_begun", "_contended_until", "_last", "_loop", "_queue", "_scheduled")

    def __init__(self) -> None:
        self._loop = get_running_loop()
        self._queue = FairQueue()
        self._begun: set[str] = set()
        self._last = ""
        self._contended_until = 0.0
        self._scheduled = False

    def admits(self, principal: str) -> bool:
        """Tell whether a request of a principal may begin now; if not, it has to await `begin`."""
        now = self._loop.time()
        if principal != self._last:
            self._last = principal
            # Two principals have sent requests within a short time.
            self._contended_until = now + CONTENTION_SECONDS
        elif now > self._contended_until and not self._queue:
            return True
        if principal in self._begun or principal in self._queue:
            return False
        self._begun.add(principal)
        self._schedule()
        return True

    async def begin(self, principal: str) -> None:
        """Wait until a request of a principal may begin."""
        if self.admits(principal):
            return
        turn: Future[None] = self._loop.create_future()
        self._queue.put(principal, turn)
        self._schedule()
        try:
            await turn
        finally:
            self._queue.discard(principal, turn)

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        """Begin a turn: one waiting request of each principal may begin."""
        self._scheduled = False
        self._begun.clear()
        while (waiting := self._queue.take(self._has_not_begun)) is not None:
            principal, turn = waiting
            # Done already if its request was cancelled.
            if not turn.done():
                self._begun.add(principal)
                turn.set_result(None)
        # Even if nobody waits, the next turn has to forget who has begun.
        if self._begun:
            self._schedule()

    def _has_not_begun(self, principal: str) -> bool:
        return principal not in self._begun


class FairLock:
    """A lock that waiting principals get in turn.  Every operation is O(1)."""

    __slots__ = ("_is_held", "_queue")

    def __init__(self) -> None:
        self._queue = FairQueue()
        self._is_held = False

    @asynccontextmanager
    async def of(self, principal: str) -> AsyncIterator[None]:
        """Hold the lock for a principal while the block runs."""
        await self._acquire(principal)
        try:
            yield
        finally:
            self._release()

    async def _acquire(self, principal: str) -> None:
        if not self._is_held:
            self._is_held = True
            return
        turn: Future[None] = get_running_loop().create_future()
        self._queue.put(principal, turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._release()  # the lock was handed over just now
            else:
                self._queue.discard(principal, turn)
            raise

    def _release(self) -> None:
        """Hand the lock over to the next waiting request."""
        while (waiting := self._queue.take()) is not None:
            _, turn = waiting
            if not turn.done():
                turn.set_result(None)
                return
        self._is_held = False


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
