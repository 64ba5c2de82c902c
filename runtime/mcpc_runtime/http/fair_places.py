"""Fair shares of the slots for calls, where several principals share a server (`work.Places` is for one).

A principal's calls run as long as it holds less than three times what is free, and wait else; those that wait are begun
in turn by principal.  A call that another one made shares that one's place, because that one waits for it.
"""

from __future__ import annotations

from mcpc_runtime.concurrency.fair_shares import FairQueue, SharedPool
from mcpc_runtime.server.running_calls import BUSY, MAX_RUNNING, MAX_WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.server.running_calls import RunningCall

ROOMY = MAX_RUNNING // 2
"""With fewer calls running nobody is near a limit, and an inline call, which is mostly quick, begins uncounted."""
YOURS = "the server is busy: {} calls of yours wait, which is your share; call again later"


class FairAdmission:
    """As `Places`, by principal."""

    __slots__ = ("_places", "_queue", "_room")

    def __init__(self) -> None:
        self._places = SharedPool(MAX_RUNNING)
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
        """Whether an inline call may begin without asking for a place."""
        return self._places.used < ROOMY

    def admits(self, work: RunningCall) -> bool:
        """Tell whether a call may begin now."""
        principal = work.call.request.session.principal
        return principal not in self._queue and self._places.has_room(principal)

    def refusal(self, principal: str) -> str:
        """Return why no more calls of a principal may wait, or nothing."""
        if self._room.has_room(principal):
            return ""
        return BUSY if self._room.is_full else YOURS.format(self._room.held(principal))

    def wait(self, work: RunningCall) -> None:
        """Have a call wait."""
        principal = work.call.request.session.principal
        self._room.take(principal)
        self._queue.put(line_of(work), work)

    def enter(self, work: RunningCall) -> None:
        """Give a call a place, whether there is room or not."""
        if work.parent is None:
            self._places.take(work.call.request.session.principal)

    def put_back(self, work: RunningCall) -> None:
        """Have a call that has a place wait to be the next one."""
        principal = work.call.request.session.principal
        self.leave(work)
        self._room.take(principal)
        self._queue.put_back(line_of(work), work)

    def leave(self, work: RunningCall) -> bool:
        """Free what a call has; return whether it had a place."""
        principal = work.call.request.session.principal
        if self._queue.discard(line_of(work), work):
            self._room.give_back(principal)
            return False
        if work.parent is None:
            self._places.give_back(principal)
        return True

    def next(self) -> RunningCall | None:
        """Return the call to be begun now, which does not wait any more; None if there is none, or no room."""
        found = self._queue.take(self._may_begin)
        if found is None:
            return None
        work: RunningCall = found[1]
        self._room.give_back(work.call.request.session.principal)
        return work

    def _may_begin(self, line: str | None) -> bool:
        return line is None or self._places.has_room(line)


def line_of(work: RunningCall) -> str | None:
    """Return the line that a call waits in: its principal's, or that of calls whose place is another call's."""
    return work.call.request.session.principal if work.parent is None else None
