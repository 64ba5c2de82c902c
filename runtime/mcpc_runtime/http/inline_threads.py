"""Threads for inline handlers, which must not run in the event loop's thread.

The loop waits a moment for a handler that is usually quick, because its answer can then be sent at once.  It does not
wait for a function that was slow before.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Hashable
from errno import EAGAIN
from time import monotonic

from mcpc_runtime.concurrency.leader_followers import Follower, LeaderFollowers, Work, take_token

WAIT_SECONDS = 0.001
QUICK_SECONDS = 0.005
"""A function that took no longer is not slow, though the loop did not wait for it."""


class InlineThreads(LeaderFollowers):
    """Threads that run inline handlers for the event loop."""

    __slots__ = ()

    def run(self, key: Hashable | None, work: Work, late: Work | None = None) -> bool:
        """Run `work` in another thread; return True if it ended within a moment, else `late` is called after it."""
        follower = self._find_follower()
        if follower is None:
            raise OSError(EAGAIN, "the system has no room for a thread")
        if key in self._slow:
            follower.assign(lambda: self._run_slow(key, work, late))
            return False
        return self._try(follower, key, work, late)

    def _try(self, follower: Follower, key: Hashable, work: Work, late: Work | None) -> bool:
        """Wait a moment for work that may be quick; the thread that takes the token decides whether it was."""
        done = allocate_lock()
        done.acquire()
        token: list[None] = [None]
        begun = monotonic()

        def run_work() -> None:
            work()
            if take_token(token):
                done.release()
                return
            if monotonic() - begun < QUICK_SECONDS:
                self._slow.pop(key, None)  # the machine may have been busy
            if late is not None:
                late()

        follower.assign(run_work)
        if done.acquire(timeout=WAIT_SECONDS):
            return True
        self._slow[key] = 0
        if take_token(token):
            return False
        self._slow.pop(key, None)
        return True
