"""What serves many conversations in one thread: a loop in the place of a reactor, and threads beside the loop."""

import asyncio
import signal
import threading
import time

import pytest

from mcpc_runtime.http.driver import QUICK_SECONDS, WAIT_SECONDS, InlineThreads, NoLock
from mcpc_runtime.protocol.effects import LogToOperator
from mcpc_runtime.server.driver import Driver
from mcpc_runtime.transports.platforms.loop_reactor import LoopReactor
from support.asgi import Client, served
from support.http_sample import sample


def looping(test):
    """Run a coroutine function as a test."""

    def run():
        asyncio.run(asyncio.wait_for(test(), 20))

    run.__name__ = test.__name__
    return run


async def until(said, count):
    """Wait until so much was said."""
    while len(said) < count:
        await asyncio.sleep(0.005)


async def turn():
    """Let the loop do everything that it can do by now."""
    for _ in range(5):
        await asyncio.sleep(0)


@looping
async def test_a_timer_that_fails_stops_nobody():
    said = []
    driver = Driver(None, NoLock())
    driver._wake = lambda: None

    def run(callback):
        driver.ask(callback)
        driver.run_queued()
        said.append("worked")

    reactor = LoopReactor(run)
    reactor.after(0.01, lambda: 1 / 0)
    reactor.after(0.02, lambda: said.append("later"))
    await until(said, 3)
    assert said == ["worked", "later", "worked"]


def test_quick_work_is_waited_for_and_slow_work_is_not():
    aside, late, here = InlineThreads(lambda: None), [], threading.get_ident()
    threads = []
    tries = [aside.run(number, lambda: threads.append(threading.get_ident())) for number in range(200)]
    assert any(tries), "a busy machine makes some of them late, but not all"
    assert here not in threads
    go_on, done = threading.Event(), threading.Event()
    assert not aside.run("slow", lambda: go_on.wait(20), lambda: (late.append(1), done.set()))
    assert not late
    time.sleep(2 * QUICK_SECONDS)  # else it was only the machine
    go_on.set()
    done.wait(20)
    assert late == [1], "once, after it"
    assert "slow" in aside._slow


def test_work_is_late_or_in_time_never_both():
    aside, late, ended = InlineThreads(lambda: None), [], []
    told = 0
    for number in range(300):
        aside._slow.clear()
        seconds = WAIT_SECONDS * (0.8 + 0.4 * (number % 10) / 10)
        mine = threading.Event()

        def work(seconds=seconds, mine=mine):
            time.sleep(seconds)
            mine.set()

        told += aside.run(number, work, lambda number=number: late.append(number))
        mine.wait(5)
        ended.append(number)
    until_all = time.monotonic() + 5
    while told + len(late) < 300 and time.monotonic() < until_all:
        time.sleep(0.01)
    assert told + len(late) == 300
    assert len(set(late)) == len(late)


def test_a_system_without_room_for_a_thread(monkeypatch):
    aside = InlineThreads(lambda: None)
    monkeypatch.setattr(
        "mcpc_runtime.concurrency.leader_followers.start_new_thread",
        lambda *_: (_ for _ in ()).throw(RuntimeError("no room")),
    )
    with pytest.raises(OSError, match="room"):
        aside.run("x", lambda: None)


@served(sample)
async def test_a_call_that_has_no_thread_is_an_error_of_ours(client: Client, monkeypatch):
    monkeypatch.setattr(
        "mcpc_runtime.concurrency.leader_followers.start_new_thread",
        lambda *_: (_ for _ in ()).throw(RuntimeError("no room")),
    )
    found = await client.ask("tools/call", {"name": "quick", "arguments": {"text": "x"}})
    assert found["error"]["code"] == -32603
    monkeypatch.undo()
    found = await client.ask("tools/call", {"name": "quick", "arguments": {"text": "x"}})
    assert found["result"]["content"][0]["text"] == "x"


@served(sample)
async def test_any_thread_may_leave_something_to_be_done(client: Client):
    driver, done = client.application.drivers[0], []
    here = threading.get_ident()
    threads = [
        threading.Thread(target=lambda: [driver.ask(lambda: done.append(threading.get_ident())) for _ in range(100)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    await until(done, 400)
    assert set(done) == {here}
    driver.ask(lambda: done.append(driver.perform([LogToOperator("told")])))
    await until(done, 401)


@served(sample)
async def test_a_signal_is_the_loops_affair(client: Client):

    before = signal.getsignal(signal.SIGINT)
    await client.ask("tools/call", {"name": "quick", "arguments": {"text": "x"}})
    assert signal.getsignal(signal.SIGINT) is before


@served(sample)
async def test_only_who_never_waits_is_called_on_the_loop(client: Client):
    found = {}
    for name in ("where_inline", "where_loop"):
        reply = await client.ask("tools/call", {"name": name, "arguments": {}})
        found[name] = reply["result"]["content"][0]["text"]
    assert found["where_loop"] == str(threading.get_ident())
    assert found["where_inline"] != found["where_loop"]
