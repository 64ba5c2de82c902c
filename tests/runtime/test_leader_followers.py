"""Who holds the turn, with real threads: nothing is done twice, nothing is lost, and one thread at a time drives."""

import importlib.util
import sys
import time
from _thread import allocate_lock, get_ident
from queue import SimpleQueue

import pytest

from mcpc_runtime.concurrency import leader_followers as module
from mcpc_runtime.concurrency.leader_followers import LeaderFollowers, LeadershipLost
from support.processes import until


class Driver:
    """Takes (key, work) from a queue; counts who is in `drive` outside of work."""

    def __init__(self):
        self.queue = SimpleQueue()
        self.turns = LeaderFollowers(self.drive)
        self.driving = allocate_lock()
        self.overlaps = 0
        self.here = []
        self.late = SimpleQueue()
        self.ended = SimpleQueue()

    def drive(self):
        while True:
            if not self.driving.acquire(blocking=False):
                self.overlaps += 1
            item = self.queue.get()
            self.driving.release()
            if item is None:
                self.ended.put(get_ident())
                return
            key, work = item
            if self.turns.run(key, work, lambda work=work: self.late.put(work)):
                self.here.append(work)

    def start(self):
        module.start_new_thread(self.turns.serve, ())

    def end(self):
        self.queue.put(None)
        self.ended.get(timeout=60)
        assert not self.overlaps


@pytest.fixture
def driver():
    made = Driver()
    made.start()
    yield made
    made.end()


def test_what_a_deposed_thread_does_later_has_nothing_to_do_with_that():
    def drive():
        raise LeadershipLost

    turns, seen = LeaderFollowers(drive), SimpleQueue()
    module.start_new_thread(turns.serve, ())
    for _ in range(2):
        until(lambda: turns._followers)  # until it has nothing to do
        turns._followers.pop().assign(lambda: seen.put(sys.exc_info()[0]))
        assert seen.get(timeout=60) is None


def test_the_first_thread_is_kept_and_drives_again(monkeypatch):
    monkeypatch.setattr(module, "TICK_SECONDS", 0.3)  # only what is held is slow
    driver, threads = Driver(), SimpleQueue()
    first, second = allocate_lock(), allocate_lock()

    def hold(gate):
        threads.put(get_ident())
        with gate:
            pass

    with second:
        with first:
            driver.queue.put((None, lambda: hold(first)))
            driver.start()
            ours = threads.get(timeout=60)
            driver.queue.put((None, lambda: threads.put(get_ident())))
            assert threads.get(timeout=60) != ours  # another drives while the first is held
        driver.late.get(timeout=60)
        until(lambda: driver.turns._followers)
        driver.queue.put((None, lambda: hold(second)))
        assert threads.get(timeout=60) != ours
        driver.queue.put((None, lambda: threads.put(get_ident())))
        assert threads.get(timeout=60) == ours
    driver.late.get(timeout=60)
    driver.end()


def test_nothing_is_lost_or_done_twice_while_the_turn_changes_at_every_moment(driver, monkeypatch):
    monkeypatch.setattr(module, "TICK_SECONDS", 0.0001)
    done = SimpleQueue()

    def work(number):
        deadline = time.perf_counter() + (number % 7) * 0.0001
        while time.perf_counter() < deadline:
            pass
        done.put(number)

    for number in range(3000):
        driver.queue.put((number % 11 if number % 3 else None, lambda number=number: work(number)))
    assert sorted(done.get(timeout=60) for _ in range(3000)) == list(range(3000))


def test_an_error_of_the_work_keeps_the_turn():
    turns = LeaderFollowers(lambda: None)
    with pytest.raises(ZeroDivisionError):
        turns.run("f", lambda: 1 / 0)
    assert turns._running is None
    assert turns.run("f", lambda: None)


def test_without_room_for_threads_work_is_done_here(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(module, "start_new_thread", refuse)
    turns = LeaderFollowers(lambda: None)
    turns._slow["f"] = 0
    done = []
    assert turns.run("f", lambda: done.append(1))
    turns._demote(["f"])
    assert turns.run("f", lambda: done.append(2))
    assert done == [1, 2]


def loaded_again():
    """Return the module once more, whose clock and threads are the test's: others' tickers never end."""
    spec = importlib.util.spec_from_file_location("leader_followers_again", module.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    return again


own = loaded_again()


class Stop(BaseException):
    """A thread would wait now."""


class Lock:
    """A lock on which nobody waits: who would wait is stopped."""

    def __init__(self):
        self.held = False

    def acquire(self):
        if self.held:
            raise Stop
        self.held = True

    def release(self):
        assert self.held
        self.held = False


class Steps:
    """The threads of a server, each run by the test as far as it goes; `ticks` of the ticker pass while work is done."""

    def __init__(self, patch):
        self.now = 100.0
        self.threads, self.followers = [], []
        self.driven = 0
        self.left = 0
        patch.setattr(own, "allocate_lock", Lock)
        patch.setattr(own, "monotonic", lambda: self.now)
        patch.setattr(own, "sleep", self.sleep)
        patch.setattr(own, "start_new_thread", lambda function, given: self.threads.append((function, given)))
        self.turns = own.LeaderFollowers(self.drive)

    def drive(self):
        self.driven += 1

    def sleep(self, seconds):
        assert seconds == own.TICK_SECONDS
        if not self.left:
            raise Stop
        self.left -= 1

    def ticker(self):
        """The thread that ticks, which the first work has started."""
        return self.threads[0][0]

    def tick(self, ticks):
        """Let so many ticks pass; what a follower was given meanwhile is done after that."""
        self.left = ticks
        with pytest.raises(Stop):
            self.ticker()()

    def follow(self):
        """Let every other thread do what it was given; return how many have ended."""
        self.followers += [(function, *given) for function, given in self.threads[1:]]
        del self.threads[1:]
        ended = []
        for function, follower in self.followers:
            try:
                function(follower)
                ended.append((function, follower))
            except Stop:
                continue
        self.followers = [each for each in self.followers if each not in ended]
        return len(ended)

    def run(self, key, ticks=0, seconds=0.0, late=None):
        """Do work during which ticks and then time pass; return what the leader is told."""

        def work():
            if ticks:
                self.tick(ticks)
            self.now += seconds

        try:
            return self.turns.run(key, work, late)
        except own.LeadershipLost:
            return "lost"


@pytest.fixture
def steps(monkeypatch):
    return Steps(monkeypatch)


def test_work_that_is_seen_twice_loses_the_turn_and_another_thread_drives(steps):
    assert [steps.run("f"), steps.run("f", ticks=1)] == [True, True]
    assert (steps.driven, len(steps.threads)) == (0, 1)
    late = []
    assert steps.run("f", ticks=2, seconds=1, late=lambda: late.append(1)) == "lost"
    assert (late, steps.driven, len(steps.threads)) == ([1], 0, 2)
    steps.follow()
    assert steps.driven == 1


def slowed(steps, key="f", seconds=1.0):
    """Have work of a key lose the turn; it ends so much later."""
    assert steps.run(key, ticks=2, seconds=seconds) == "lost"
    steps.follow()


def test_what_was_slow_has_its_own_thread_until_it_was_quick_fifty_times_in_a_row(steps):
    steps.run("f")
    slowed(steps)
    late = []
    for number in range(49):
        assert steps.run("f", late=lambda number=number: late.append(number)) is False
        steps.follow()
    assert late == list(range(49))
    assert steps.run("f", seconds=own.QUICK_SECONDS) is False
    steps.follow()
    for _ in range(50):
        assert steps.run("f") is False
        steps.follow()
    assert [steps.run("f"), steps.run("g")] == [True, True]


def test_what_ends_just_after_it_lost_the_turn_was_not_slow(steps):
    steps.run("f")
    slowed(steps, seconds=own.QUICK_SECONDS * 0.9)
    assert steps.run("f") is True
    slowed(steps, seconds=own.QUICK_SECONDS * 1.1)
    assert steps.run("f") is False
    steps.follow()
    slowed(steps, key=None)
    assert steps.run(None) is True


def test_threads_that_are_idle_are_used_again_and_few_are_kept(steps):
    steps.run("f")
    slowed(steps)
    for _ in range(own.MAX_IDLE_THREADS + 2):
        assert steps.run("f") is False
    assert len(steps.threads[1:]) == own.MAX_IDLE_THREADS + 1
    assert (steps.follow(), len(steps.followers)) == (2, own.MAX_IDLE_THREADS)
    assert [steps.run("f"), len(steps.threads[1:]), steps.follow()] == [False, 0, 0]


def test_the_ticker_waits_after_thirty_ticks_without_work(steps):
    steps.run("f")
    steps.tick(own.IDLE_TICKS - 1)
    assert steps.left == 0
    steps.run("f")
    steps.tick(own.IDLE_TICKS + 5)
    assert steps.left == 5
    assert (steps.run("f"), len(steps.threads)) == (True, 1)
