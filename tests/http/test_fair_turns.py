"""Turns of the event loop, a lock and places by principal: which request begins now, which later, and in which order."""

import asyncio
from types import SimpleNamespace

import pytest

from mcpc_runtime.http import fair_turns
from mcpc_runtime.http.fair_turns import FairAdmission, FairLock, FairTurns
from mcpc_runtime.server.running_calls import MAX_RUNNING, MAX_WAITING


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


class Call:
    """As much of a work as its place depends on."""

    def __init__(self, principal, parent=None):
        self.parent = parent
        self.call = SimpleNamespace(request=SimpleNamespace(session=SimpleNamespace(principal=principal)))


def begin(places, principal):
    """Begin a call, or have it wait, as the dispatcher does."""
    work = Call(principal)
    if places.admits(work):
        places.enter(work)
    elif not places.refusal(principal):
        places.wait(work)
    else:
        return None
    return work


def test_one_principal_leaves_a_quarter_and_another_begins_at_once():
    places = FairAdmission(MAX_RUNNING)
    for _ in range(MAX_RUNNING):
        begin(places, "a")
    assert (places.running, len(places)) == (MAX_RUNNING * 3 // 4, MAX_RUNNING // 4)
    assert places.admits(Call("b")) and not places.is_roomy


def test_calls_that_wait_are_begun_in_turn():
    places = FairAdmission(MAX_RUNNING)
    running = [begin(places, f"p{number}") for number in range(MAX_RUNNING)]
    for name in ("a", "a", "a", "b", "c"):
        begin(places, name)
    turns = []
    for work in running[:5]:
        assert places.next() is None
        assert places.leave(work)
        found = places.next()
        places.enter(found)
        turns.append(found.call.request.session.principal)
    assert turns[:3] == ["a", "b", "c"] and len(places) == 5 - len(turns) == 0


def test_who_has_its_share_of_those_that_wait_is_refused_and_another_waits():
    places = FairAdmission(MAX_RUNNING)
    for number in range(MAX_RUNNING):
        begin(places, f"p{number}")
    while begin(places, "a"):
        pass
    assert len(places) == MAX_WAITING * 3 // 4
    assert "of yours" in places.refusal("a") and not places.refusal("b")


def test_a_call_of_another_call_shares_its_place_and_never_waits_for_one():
    places = FairAdmission(MAX_RUNNING)
    works = [begin(places, "a") for _ in range(MAX_RUNNING)]
    child = Call("a", parent=works[0])
    places.enter(child)
    assert places.running == MAX_RUNNING * 3 // 4
    places.put_back(child)
    assert places.next() is child
    places.enter(child)
    assert places.leave(child) and places.running == MAX_RUNNING * 3 // 4


def test_one_that_is_cancelled_while_it_waits_gives_up_its_turn_and_no_place():
    places = FairAdmission(MAX_RUNNING)
    works = [begin(places, "a") for _ in range(MAX_RUNNING)]
    assert not places.leave(works[-1])
    assert (places.running, len(places)) == (MAX_RUNNING * 3 // 4, MAX_RUNNING // 4 - 1)


def test_the_one_place_of_a_serial_server_is_given_in_turn():
    places = FairAdmission(1)
    first, second, third = begin(places, "a"), begin(places, "b"), begin(places, "a")
    assert (places.running, len(places), places.is_roomy) == (1, 2, False)
    for ended, following in ((first, second), (second, third)):
        assert places.next() is None
        places.leave(ended)
        assert places.next() is following
        places.enter(following)
