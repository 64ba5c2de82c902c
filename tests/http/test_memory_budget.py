"""The memory budget: who may hold how much, what each thing is charged, and that all of it is released."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc_runtime.http.memory_budget import CONNECTIONS, MIB, SMALL, VALUE_COST, MemoryBudget, cost_of
from mcpc_runtime.http.post_response import LongReply
from mcpc_runtime.protocol.values import WINDOW, count_structure_outside_strings

USABLE = 96 * MIB
LIMIT = 128 * MIB
ROOM = USABLE * 15 // 16
"""What is left to everybody but new connections."""


def test_each_may_hold_so_much_and_no_byte_more() -> None:
    budget = MemoryBudget(LIMIT)
    assert (budget.limit, budget.plenty, budget.for_new_connections) == (LIMIT, 24 * MIB, 6 * MIB)
    assert MemoryBudget(32 * MIB).plenty == 6 * MIB and MemoryBudget().plenty == 112 * MIB
    for principal, most in (("", 90 * MIB), ("a", 45 * MIB), (CONNECTIONS, 24 * MIB)):
        budget = MemoryBudget(LIMIT)
        assert not budget.charge(principal, most + 1) and budget.held == 0
        assert budget.charge(principal, most) and budget.held == budget.held_by(principal) == most
        assert not budget.charge(principal, 1)
        budget.release(principal, most - 1)
        assert (budget.held, budget.held_by(principal)) == (1, 1)
    budget = MemoryBudget(LIMIT)
    assert not budget.charge(CONNECTIONS, 20 * MIB + 1, 4 * MIB) and budget.charge(CONNECTIONS, 20 * MIB, 4 * MIB)
    assert not budget.charge("", 76 * MIB + 1) and budget.charge("", 76 * MIB)
    budget.hold("b", 5)
    assert (budget.held, budget.held_by("b")) == (96 * MIB + 5, 5)
    budget.release("b", 9)
    assert budget.held_by("b") == 0


def test_an_account_changes_to_a_total_until_it_ends() -> None:
    budget = MemoryBudget(LIMIT)
    account = budget.account("a")
    assert account.set(10) and account.set(10) and account.set(4) and (account.held, budget.held) == (4, 4)
    account.release(9)
    assert (account.held, budget.held) == (0, 0)
    account.charge(5)
    account.end()
    assert not account.charge(1) and not account.set(1) and budget.held == 0
    account.clear()
    for due, is_left in ((24 * MIB, True), (24 * MIB + 1, False)):
        account = budget.account("a")
        account.due = due
        assert account.admit()
        assert (account.due, account.held) == ((due, 0) if is_left else (0, due))
        account.charge_due()
        assert (account.due, account.held, budget.held) == (0, due, due)
        account.clear()


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        (b"", 0),
        (b"x" * SMALL, SMALL * 40),
        (b"x" * (SMALL + 1), (SMALL + 1) * 4),
        (b"[0," + b" " * SMALL + b"]", (SMALL + 4) * 4 + 2 * VALUE_COST),
        (b"\xc3" * (SMALL + 1), (SMALL + 1) * 10),
        (b"\\u" + b"x" * SMALL, (SMALL + 2) * 10),
    ],
)
def test_a_message_costs_what_its_text_and_its_values_do(body: bytes, cost: int) -> None:
    assert cost_of(body) == cost


@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.integers(-30, 60)), max_size=30))
def test_the_sum_is_that_of_all_accounts(steps: list[tuple[str, int]]) -> None:
    budget = MemoryBudget(LIMIT)
    accounts = {name: budget.account(name) for name in ("", "a", "b")}
    for name, size in steps:
        account = accounts[name]
        account.charge(size * MIB) if size > 0 else account.release(-size * MIB)
        assert budget.held == sum(one.held for one in accounts.values()) <= USABLE
    for account in accounts.values():
        account.clear()
    assert budget.held == 0


@settings(max_examples=100, deadline=None)
@given(before=st.integers(WINDOW - 8, WINDOW + 8), inside=st.text(alphabet='a,"\\{:', max_size=12))
def test_a_text_that_lies_across_windows_is_one(before: int, inside: str) -> None:
    quoted = inside.replace("\\", "\\\\").replace('"', '\\"')
    assert count_structure_outside_strings(b"[" + b" " * before + f'"{quoted}",{{}}]'.encode()) == 3


@pytest.mark.parametrize(("taken", "status"), [(10 * MIB, 200), (ROOM // 2 - MIB, 503)])
def test_a_long_reply_is_charged_to_who_asked_until_it_is_sent(taken: int, status: int) -> None:
    budget = MemoryBudget(LIMIT)
    budget.charge("a", taken)
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        assert budget.held_by("a") == taken + (2 * MIB if status == 200 else 0)
        assert budget.held_by(CONNECTIONS) == 0
        sent.append(message)

    reply = (200, [], b"x" * (2 * MIB))
    refused = asyncio.run(LongReply(reply, budget.account("a")).serve(send, send, [(b"x", b"y")]))
    assert (sent[0]["status"] if refused is None else refused[0]) == status
    assert sum(len(message["body"]) for message in sent[1:]) == (2 * MIB if status == 200 else 0)
    assert budget.held == taken
