"""Turns of the event loop, and a lock, by principal: which request begins now, which later, and in which order."""

from __future__ import annotations

import asyncio

import pytest

from mcpc_runtime.http import fair_turns
from mcpc_runtime.http.fair_turns import FairLock, FairTurns


async def begun(turns: FairTurns, principals: str) -> list[tuple[int, str]]:
    """Have a request of each letter arrive in one turn of the loop; return the turn in which each began, in order."""
    found: list[tuple[int, str]] = []
    now = 0

    async def request(principal: str) -> None:
        await turns.begin(principal)
        found.append((now, principal))

    tasks = [asyncio.ensure_future(request(principal)) for principal in principals]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        now += 1
    return found


def test_of_several_principals_one_request_of_each_begins_in_a_turn() -> None:
    found = asyncio.run(with_turns("aaaabacb"))
    assert "".join(principal for _, principal in found) == "abcabaaa"
    assert len(set(found)) == len(found), "two requests of a principal began in the same turn"


async def with_turns(principals: str) -> list[tuple[int, str]]:
    return await begun(FairTurns(), principals)


def test_one_principal_alone_begins_everything_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "CONTENTION_SECONDS", 0.0)

    async def run() -> list[tuple[int, str]]:
        turns = FairTurns()
        await begun(turns, "ab")
        await begun(turns, "a")
        await asyncio.sleep(0.001)
        return await begun(turns, "aaaa")

    assert {turn for turn, _ in asyncio.run(run())} == {0}


def test_a_request_that_is_given_up_takes_no_turn() -> None:
    async def run() -> list[str]:
        turns, found = FairTurns(), list[str]()

        async def request(name: str) -> None:
            await turns.begin(name[0])
            found.append(name)

        tasks = [asyncio.ensure_future(request(name)) for name in ("b1", "a1", "a2", "a3")]
        await asyncio.sleep(0)
        tasks[2].cancel()
        await asyncio.wait(tasks)
        assert turns.admits("c")
        return found

    assert asyncio.run(run()) == ["b1", "a1", "a3"]


def test_a_lock_is_held_by_one_and_goes_round_the_principals() -> None:
    async def run() -> list[str]:
        lock, found = FairLock(), list[str]()

        async def hold(name: str) -> None:
            async with lock.of(name[0]):
                found.append(name)
                await asyncio.sleep(0)
                assert found[-1] == name, "two held it"

        tasks = [asyncio.ensure_future(hold(name)) for name in ("a1", "a2", "a3", "a4", "b1", "c1", "b2")]
        await asyncio.sleep(0)
        tasks[2].cancel()
        await asyncio.wait(tasks)
        return found

    assert asyncio.run(run()) == ["a1", "a2", "b1", "c1", "a4", "b2"]


def test_a_lock_that_was_given_to_a_task_that_is_cancelled_goes_on() -> None:
    async def run() -> list[str]:
        lock, found = FairLock(), list[str]()

        async def hold(name: str) -> None:
            async with lock.of(name):
                found.append(name)

        async with lock.of("a"):
            tasks = [asyncio.ensure_future(hold(name)) for name in "bcd"]
            await asyncio.sleep(0)
        tasks[0].cancel()  # after it was given the lock, before it knows
        tasks[1].cancel()
        await asyncio.wait(tasks)
        async with lock.of("e"):
            return found

    assert asyncio.run(asyncio.wait_for(run(), 10)) == ["d"]
