"""One thread reads and does what is quick itself; when something takes long, it loses its turn to another thread.

So a quick call costs no hop between threads, and a slow one stops nothing.  A ticker looks every TICK seconds; it sees
that the holder of the turn still does what it did the last time, deposes it, and has a spare thread go on with `drive`.
The one that was deposed finishes what it does, and is a spare thread from then on.  A function that was seen to be slow
gets a thread of its own at once the next time, until it was quick so many times in a row; but not if it was done right
after it was deposed, for then it was perhaps only the machine that was busy.

The turn is a list with one item: `list.pop` decides, in one step, whether its holder or the ticker has it.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import NoReturn

    Work = Callable[[], object]
    Turn = list[Hashable | None]

TICK = 0.003
QUICK = 0.003
"""What a slow function must stay under to count as quick."""
QUICK_IN_A_ROW = 50
MOST_SPARE = 16
"""How many threads that have nothing to do are kept."""
IDLE_TICKS = 30
"""So often the ticker sees nothing to look at before it rests."""


class Deposed(BaseException):
    """Raised in the thread that lost its turn, when it has finished: it must leave `drive` by the shortest way.

    Another thread is in `drive` already, so nothing that belongs to the holder of the turn may be touched on the way.
    """


class Spare:
    """A thread that waits for something to do."""

    __slots__ = ("bell", "work")

    def __init__(self) -> None:
        self.bell = allocate_lock()
        self.bell.acquire()
        self.work: Work | None = None

    def give(self, work: Work) -> None:
        """Have it do this."""
        self.work = work
        self.bell.release()


class Turns:
    """Threads of which one at a time is in `drive`, which takes one thing to do after the other and calls `run`.

    `drive` catches what goes wrong in it; if it returns, its thread is a spare one, and nobody drives.
    """

    __slots__ = ("_alarm", "_deposed", "_drive", "_rest", "_running", "_slow", "_spare", "_ticking")

    def __init__(self, drive: Callable[[], None]) -> None:
        self._drive = drive
        self._running: Turn | None = None
        self._deposed = 0.0
        self._slow: dict[Hashable, int] = {}
        self._spare: list[Spare] = []
        self._ticking = False
        self._rest: list[None] = [None]
        self._alarm = allocate_lock()
        self._alarm.acquire()

    def serve(self) -> None:
        """Drive until `drive` returns; a caller who is deposed stays here as a spare thread."""
        try:
            self._drive()
            return
        except Deposed:
            spare = Spare()
        # Not above: whatever is raised in this thread from now on would be said to come of its having been deposed.
        self._spare.append(spare)
        self._wait(spare, kept=True)

    def run(self, key: Hashable | None, work: Work, late: Work | None = None) -> bool:
        """Do `work`, as the holder of the turn; return True if it is done and the turn still the caller's.

        False: a thread of its own does it, because what goes by this key was slow before, and then `late`.  If the turn
        was lost meanwhile: call `late`, raise Deposed.  Nothing is learned under the key None.
        """
        if key in self._slow:
            spare = self._find()
            if spare is not None:
                spare.give(lambda: self._aside(key, work, late))
                return False
        turn: Turn = [key]
        self._running = turn
        if self._rest:
            self._rouse()
        try:
            work()
        finally:
            lost = not taken(turn)
            if not lost:
                self._running = None
        if lost:
            self._leave(key, late)
        return True

    def _leave(self, key: Hashable | None, late: Work | None) -> NoReturn:
        """Leave to another thread what the holder of the turn does."""
        if monotonic() - self._deposed < QUICK and self._slow.get(key) == 0:
            self._slow.pop(key, None)
        if late is not None:
            late()
        raise Deposed

    def _aside(self, key: Hashable, work: Work, late: Work | None) -> None:
        began = monotonic()
        work()
        if late is not None:
            late()
        count = self._slow.get(key, 0) + 1 if monotonic() - began < QUICK else 0
        if count < QUICK_IN_A_ROW:
            self._slow[key] = count
        else:
            self._slow.pop(key, None)

    def _find(self) -> Spare | None:
        """Return a spare thread, a new one if there is none; None if the system has no room for one."""
        try:
            return self._spare.pop()
        except IndexError:
            spare = Spare()
        try:
            start_new_thread(self._wait, (spare,))
        except RuntimeError:
            return None
        return spare

    def _wait(self, spare: Spare, kept: bool = False) -> None:
        """Do what is given to a spare thread, as long as not too many others have nothing to do."""
        while True:
            spare.bell.acquire()
            work, spare.work = spare.work, None
            try:
                if work is not None:
                    work()
            except Deposed:
                pass
            del work
            if len(self._spare) >= MOST_SPARE and not kept:
                return
            self._spare.append(spare)

    def _rouse(self) -> None:
        """Have the ticker look."""
        if not taken(self._rest):
            return
        if self._ticking:
            self._alarm.release()
            return
        try:
            start_new_thread(self._tick, ())
            self._ticking = True
        except RuntimeError:  # no room: the next one tries again
            self._rest.append(None)

    def _tick(self) -> None:
        seen: Turn | None = None
        idle = 0
        while True:
            sleep(TICK)
            running = self._running
            if running is not None and running is seen:
                self._depose(running)
            seen = running
            idle = idle + 1 if running is None else 0
            if idle >= IDLE_TICKS:
                idle = 0
                self._rest.append(None)
                if self._running is None or not taken(self._rest):
                    self._alarm.acquire()

    def _depose(self, turn: Turn) -> None:
        """Give the turn to a spare thread, unless its holder has finished after all."""
        spare = self._find()
        if spare is None:
            return
        self._deposed = monotonic()
        try:
            key = turn.pop()
        except IndexError:
            self._spare.append(spare)
            return
        if key is not None:
            self._slow[key] = 0
        self._running = None
        spare.give(self._drive)


def taken(token: list[None] | Turn) -> bool:
    """Take the one item of a list; False if another thread was first."""
    try:
        token.pop()
    except IndexError:
        return False
    return True
