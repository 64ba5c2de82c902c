"""The poll loop, and the same interface over asyncio: what is ready, what is due, and who is woken."""

import asyncio
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mcpc_runtime.transports.platforms.posix import loop_reactor, reactor
from mcpc_runtime.transports.platforms.posix.loop_reactor import LoopReactor
from mcpc_runtime.transports.platforms.posix.reactor import READABLE, WRITABLE, Reactor


class Poll:
    """Says what the test made ready; waiting lets time pass."""

    def __init__(self) -> None:
        self.watched: dict[int, int] = {}
        self.ready: list[int] = []
        self.waited: list[Any] = []
        self.now = 100.0

    def register(self, descriptor: int, events: int) -> None:
        self.watched[descriptor] = events

    def unregister(self, descriptor: int) -> None:
        del self.watched[descriptor]

    def poll(self, timeout: int | None) -> list[tuple[int, int]]:
        self.waited.append(timeout)
        ready, self.ready = self.ready, []
        if not ready:
            self.now += (timeout or 0) / 1000
        return [(descriptor, READABLE) for descriptor in ready]

    def clock(self) -> float:
        return self.now


@pytest.fixture
def poll(monkeypatch: pytest.MonkeyPatch) -> Poll:
    made = Poll()
    monkeypatch.setattr(reactor, "new_poll", lambda: made)
    monkeypatch.setattr(reactor, "monotonic", made.clock)
    return made


def test_what_is_ready_is_called_until_it_is_forgotten(poll: Poll) -> None:
    made, called = Reactor(poll.clock), []
    for descriptor in (5, 6):
        made.watch(descriptor, READABLE, lambda descriptor=descriptor: called.append(descriptor))
    made.watch(5, WRITABLE, lambda: (called.append("five"), made.forget(6)))  # type: ignore[func-returns-value]
    assert poll.watched == {5: WRITABLE, 6: READABLE}
    poll.ready = [5, 6]
    made.turn()
    assert (called, poll.watched, poll.waited) == (["five"], {5: WRITABLE}, [None])
    made.forget(6)
    poll.ready = [5]
    made.turn()
    assert called == ["five", "five"]


def test_timers_are_called_in_order_when_they_are_due(poll: Poll) -> None:
    made, called = Reactor(poll.clock), []
    for seconds, name in ((0.5, "later"), (0.25, "first"), (0.25, "second"), (0, "now")):
        made.after(seconds, lambda name=name: called.append(name))
    made.turn()
    assert (called, poll.waited) == (["now"], [1])
    poll.now = 100.125
    made.turn()
    assert (called[1:], poll.waited[1:]) == (["first", "second"], [126])
    poll.ready = [9]
    poll.now = 200
    made.turn()
    assert (called[3:], poll.waited[2:]) == (["later"], [0])


def test_a_timer_may_set_another_one(poll: Poll) -> None:
    made, called = Reactor(poll.clock), []
    made.after(0, lambda: made.after(0, lambda: called.append(1)))
    made.turn()
    assert called == [1]


@pytest.mark.parametrize("has_more", [True, False])
def test_an_expected_answer_is_polled_for_a_moment(poll: Poll, has_more: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reactor, "HAS_MORE_PROCESSORS", has_more)
    made, called = Reactor(poll.clock), []
    made.watch(5, READABLE, lambda: called.append(5))
    made.expect()
    poll.ready = [5]
    made.turn()
    assert (called, poll.waited) == ([5], [0] if has_more else [None])
    made.expect()
    real = poll.poll

    def later(timeout: int | None) -> list[tuple[int, int]]:
        poll.now += reactor.SPIN_SECONDS / 2
        return real(timeout)

    monkeypatch.setattr(poll, "poll", later)
    poll.waited.clear()
    made.turn()
    assert poll.waited == ([0, 0, None] if has_more else [None])
    made.turn()
    assert poll.waited[-1] is None


def test_another_thread_wakes_the_one_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    made, called = Reactor(), []
    lock = threading.Lock()
    lock.acquire()
    made.wake()  # nobody waits yet

    def work() -> None:
        with lock:
            made.after(0, lambda: called.append(threading.current_thread() is thread))

    thread = threading.Thread(target=work)
    thread.start()
    while not called:
        made.turn(lock)
    thread.join()
    assert (called, lock.locked()) == ([False], True)
    lock.release()
    for descriptor in made._wake_pipe or ():
        made.forget(descriptor)
        os.close(descriptor)


def test_waking_is_tried_until_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Reactor()
    made._waiting, made._wake_pipe = True, (3, 4)
    tries: list[Any] = []

    def write(descriptor: int, data: bytes) -> int:
        tries.append((descriptor, data))
        if len(tries) < 3:
            raise BlockingIOError
        return 1

    monkeypatch.setattr(reactor.posix, "write", write)
    made.wake()
    assert tries == [(4, b"!")] * 3
    monkeypatch.setattr(reactor, "WAKE_TRIES", 2)
    tries.clear()
    made.wake()
    assert len(tries) == 2


class Loop:
    """A loop that records what it watches."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.closed = False

    def __getattr__(self, name: str) -> Any:
        return lambda *words: self.told.append((name, *words))

    def is_closed(self) -> bool:
        return self.closed


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loop]:
    made = Loop()
    monkeypatch.setattr(loop_reactor, "get_running_loop", lambda: made)
    yield made


def test_a_loop_watches_what_is_wanted_now(loop: Loop) -> None:
    made = LoopReactor(run)
    both = READABLE | WRITABLE
    steps: list[tuple[int, list[str]]] = [
        (READABLE, ["add_reader"]),
        (both, ["add_reader", "add_writer"]),
        (READABLE, ["add_reader", "remove_writer"]),
        (WRITABLE, ["remove_reader", "add_writer"]),
        (0, ["remove_writer"]),
        (0, []),
    ]
    for events, names in steps:
        loop.told.clear()
        made.watch(5, events, print)
        adds = {"add_reader": ("add_reader", 5, run, print), "add_writer": ("add_writer", 5, run, print)}
        assert loop.told == [adds.get(name, (name, 5)) for name in names]
    for events, names in (
        (READABLE, ["remove_reader"]),
        (WRITABLE, ["remove_writer"]),
        (both, ["remove_reader", "remove_writer"]),
    ):
        made.watch(5, events, print)
        loop.told.clear()
        made.forget(5)
        made.forget(5)
        assert loop.told == [(name, 5) for name in names]
    made.watch(5, both, print)
    loop.told.clear()
    loop.closed = True
    made.forget(5)
    assert loop.told == []
    made.after(2.5, print)
    assert loop.told == [("call_later", 2.5, run, print)]
    with pytest.raises(RuntimeError):
        made.turn()


def run(callback: Any) -> None:
    callback()


def test_a_real_loop_calls_back() -> None:
    async def wait() -> list[str]:
        called: list[str] = []
        made = LoopReactor(run)
        reading, writing = os.pipe()
        done = asyncio.Event()
        made.watch(reading, READABLE, lambda: (called.append(os.read(reading, 9).decode()), made.forget(reading)))  # type: ignore[func-returns-value]
        os.write(writing, b"data")
        made.after(0.01, done.set)
        await done.wait()
        os.close(reading)
        os.close(writing)
        return called

    assert asyncio.run(wait()) == ["data"]
