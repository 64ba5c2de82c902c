"""Turns of the event loop by principal: which request begins now, which later, and in which order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcpc_runtime.http import fair_turns
from mcpc_runtime.http.fair_turns import FairTurns

if TYPE_CHECKING:
    import pytest


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
