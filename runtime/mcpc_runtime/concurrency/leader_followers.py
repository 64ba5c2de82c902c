"""The Leader-Followers pattern: the leader thread reads input and runs quick work; slow work passes the lead on.

So a quick call costs no switch between threads, and a slow one blocks nothing. A ticker checks every TICK_SECONDS; if
the leader still does the same work as at the last check, the ticker demotes it, and a follower continues with `drive`.
The demoted thread finishes its work and is then a follower. A function that was slow runs in its own thread from then
on, until it was quick QUICK_IN_A_ROW times; but not if it finished right after the demotion, because then perhaps only
the machine was busy.

The turn is a list with one item: `list.pop` decides, atomically, whether the leader or the ticker has it.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Hashable
from time import monotonic, sleep
from typing import NoReturn

Work = Callable[[], object]
Turn = list[Hashable | None]


TICK_SECONDS = 0.003
QUICK_SECONDS = 0.003
"""A slow function counts as quick if it takes less than this."""
QUICK_IN_A_ROW = 50
MAX_IDLE_THREADS = 16
"""Maximum number of idle threads that are kept."""
IDLE_TICKS = 30
"""Number of checks without work before the ticker rests."""


class LeadershipLost(BaseException):
    """Raised in a demoted thread when its work is finished: it must leave `drive` at once.

    Another thread is in `drive` already, so nothing that belongs to the leader may be touched on the way out.
    """


class Follower:
    """A thread that waits for work."""

    __slots__ = ("ready", "work")

    def __init__(self) -> None:
        self.ready = allocate_lock()
        self.ready.acquire()
        self.work: Work | None = None

    def assign(self, work: Work) -> None:
        """Assign work to the thread."""
        self.work = work
        self.ready.release()


class LeaderFollowers:
    """Threads of which one at a time is in `drive`, which takes one item of work after the other and calls `run`.

    `drive` handles its errors; if it returns, its thread becomes a follower, and no thread drives.
    """

    __slots__ = ("_alarm", "_demoted_at", "_drive", "_followers", "_rest_token", "_running", "_slow", "_ticking")

    def __init__(self, drive: Callable[[], None]) -> None:
        self._drive = drive
        self._running: Turn | None = None
        self._demoted_at = 0.0
        self._slow: dict[Hashable, int] = {}
        self._followers: list[Follower] = []
        self._ticking = False
        self._rest_token: list[None] = [None]
        self._alarm = allocate_lock()
        self._alarm.acquire()

    def serve(self) -> None:
        """Drive until `drive` returns; a caller that is demoted stays here as a follower."""
        try:
            self._drive()
            return
        except LeadershipLost:
            follower = Follower()
        # Not in the except clause: later exceptions of this thread would have LeadershipLost as their context.
        self._followers.append(follower)
        self._follow(follower, is_permanent=True)

    def run(self, key: Hashable | None, work: Work, late: Work | None = None) -> bool:
        """Do `work`, as the leader; return True if it is done and the caller still leads.

        False: another thread does it, because work of this key was slow before, and then calls `late`. If the caller
        was demoted meanwhile: call `late`, raise LeadershipLost. Nothing is recorded under the key None.
        """
        if key in self._slow:
            follower = self._find_follower()
            if follower is not None:
                follower.assign(lambda: self._run_slow(key, work, late))
                return False
        turn: Turn = [key]
        self._running = turn
        if self._rest_token:
            self._wake_ticker()
        try:
            work()
        finally:
            lost = not take_token(turn)
            if not lost:
                self._running = None
        if lost:
            self._finish_demoted(key, late)
        return True

    def _finish_demoted(self, key: Hashable | None, late: Work | None) -> NoReturn:
        """Finish the work of a demoted leader."""
        if monotonic() - self._demoted_at < QUICK_SECONDS and self._slow.get(key) == 0:
            self._slow.pop(key, None)
        if late is not None:
            late()
        raise LeadershipLost

    def _run_slow(self, key: Hashable, work: Work, late: Work | None) -> None:
        started = monotonic()
        work()
        if late is not None:
            late()
        count = self._slow.get(key, 0) + 1 if monotonic() - started < QUICK_SECONDS else 0
        if count < QUICK_IN_A_ROW:
            self._slow[key] = count
        else:
            self._slow.pop(key, None)

    def _find_follower(self) -> Follower | None:
        """Return a follower, a new one if there is none; None if the system cannot start a thread."""
        try:
            return self._followers.pop()
        except IndexError:
            follower = Follower()
        try:
            start_new_thread(self._follow, (follower,))
        except RuntimeError:
            return None
        return follower

    def _follow(self, follower: Follower, is_permanent: bool = False) -> None:
        """Run the work assigned to a follower, as long as not too many others are idle."""
        while True:
            follower.ready.acquire()
            work, follower.work = follower.work, None
            try:
                if work is not None:
                    work()
            except LeadershipLost:
                pass
            # An idle thread would keep all that its last work refers to.
            del work
            if len(self._followers) >= MAX_IDLE_THREADS and not is_permanent:
                return
            self._followers.append(follower)

    def _wake_ticker(self) -> None:
        """Wake the ticker."""
        if not take_token(self._rest_token):
            return
        if self._ticking:
            self._alarm.release()
            return
        try:
            start_new_thread(self._tick, ())
            self._ticking = True
        except RuntimeError:  # no thread available: the next call tries again
            self._rest_token.append(None)

    def _tick(self) -> None:
        seen: Turn | None = None
        idle = 0
        while True:
            sleep(TICK_SECONDS)
            running = self._running
            if running is not None and running is seen:
                self._demote(running)
            seen = running
            idle = idle + 1 if running is None else 0
            if idle >= IDLE_TICKS:
                idle = 0
                self._rest_token.append(None)
                # Work that has begun meanwhile may not have seen the token, so that it is taken back. Where that fails,
                # the leader has it, and rings the alarm.
                if self._running is None or not take_token(self._rest_token):
                    self._alarm.acquire()

    def _demote(self, turn: Turn) -> None:
        """Give the turn to a follower, unless the leader has finished meanwhile."""
        follower = self._find_follower()
        if follower is None:
            return
        # Before the turn is taken: the leader reads it as soon as it finds the turn gone.
        self._demoted_at = monotonic()
        try:
            key = turn.pop()
        except IndexError:
            self._followers.append(follower)
            return
        if key is not None:
            self._slow[key] = 0
        self._running = None
        follower.assign(self._drive)


def take_token(token: list[None] | Turn) -> bool:
    """Take the one item of a list; return False if another thread was first."""
    try:
        token.pop()
    except IndexError:
        return False
    return True
