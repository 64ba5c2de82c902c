"""Threads for inline handlers: they must not run in the event loop's thread, so each call has its own.

The loop waits a moment for one that is usually quick, because the answer then needs no way through the loop; it never
waits longer than that, and does not wait at all for a function that was slow before.
"""

from __future__ import annotations

from _thread import allocate_lock
from errno import EAGAIN
from time import monotonic

from mcpc_runtime.concurrency.leader_followers import LeaderFollowers, take_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from mcpc_runtime.concurrency.leader_followers import Follower, Work

MOMENT = 0.001
BARELY = 0.005
"""What took no longer than this was not slow, though the loop did not wait for it."""


class InlineThreads(LeaderFollowers):
    """Threads that do what the loop's thread must not."""

    __slots__ = ()

    def run(self, key: Hashable | None, work: Work, late: Work | None = None) -> bool:
        """Do `work` in another thread; return True if that took but a moment.  Else `late` is called after it."""
        follower = self._find_follower()
        if follower is None:
            raise OSError(EAGAIN, "the system has no room for a thread")
        if key in self._slow:
            follower.assign(lambda: self._run_slow(key, work, late))
            return False
        return self._try(follower, key, work, late)

    def _try(self, follower: Follower, key: Hashable, work: Work, late: Work | None) -> bool:
        """Wait a moment for work that may be quick; who takes the token decides whether it was."""
        done = allocate_lock()
        done.acquire()
        token: list[None] = [None]
        begun = monotonic()

        def do() -> None:
            work()
            if take_token(token):
                done.release()
                return
            if monotonic() - begun < BARELY:
                self._slow.pop(key, None)  # perhaps only the machine was busy
            if late is not None:
                late()

        follower.assign(do)
        if done.acquire(timeout=MOMENT):
            return True
        self._slow[key] = 0
        if take_token(token):
            return False
        self._slow.pop(key, None)
        return True
