"""Shares of a pool, who holds most of it, and what waits in turn: checked against a slow and obvious model as well."""

import random
from collections import deque

import pytest

from mcpc_runtime.concurrency.fair_shares import FairQueue, Holdings, SharedPool
from support.scale import seeds


@pytest.mark.parametrize("count, most, expected", [(1, 256, 192), (2, 256, 110), (1, 4096, 3072), (5, 256, 48)])
def test_principals_that_take_all_they_can_leave_room_for_a_newcomer(count, most, expected):
    shares = SharedPool(most)
    names = [f"p{number}" for number in range(count)]
    took = True
    while took:
        took = False
        for name in names:
            if shares.has_room(name):
                shares.take(name)
                took = True
    assert all(expected - 1 <= shares.held(name) <= expected + 1 for name in names)
    assert not any(shares.has_room(name) for name in names) and shares.has_room("newcomer")


def test_one_principal_may_have_everything_where_nothing_is_shared():
    shares = SharedPool(7, 7)
    for _ in range(7):
        assert shares.has_room("")
        shares.take("")
    assert shares.is_full and not shares.has_room("")
    shares.give_back("")
    assert shares.has_room("")


def test_a_pool_that_is_used_beyond_its_size_has_room_for_nobody():
    shares = SharedPool(2)
    for _ in range(3):
        shares.take("a")
    assert not shares.has_room("a") and not shares.has_room("b")


def test_who_holds_most_loses_something_first():
    holdings = Holdings()
    for name, amount in (("a", 5), ("b", 9), ("c", 1)):
        holdings.add(name, amount)
    assert (holdings.largest(), holdings.total) == ("b", 15)
    holdings.add("b", -6)
    assert holdings.largest() == "a"
    holdings.add("a", -5)
    assert (holdings.holders, holdings.of("a")) == (("b", "c"), 0)


def test_principals_are_served_in_turn_each_in_its_own_order():
    queue = FairQueue()
    for number in range(4):
        queue.put("a", f"a{number}")
    queue.put("b", "b0")
    queue.put("b", "b1")
    queue.put("c", "c0")
    assert [queue.take()[1] for _ in range(len(queue))] == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"]
    assert queue.take() is None and "a" not in queue


def test_a_principal_that_is_not_admitted_is_passed_over_and_keeps_its_turn():
    queue = FairQueue()
    for item in ("a0", "a1", "b0", "b1"):
        queue.put(item[0], item)
    assert queue.take(lambda name: name == "b") == ("b", "b0")
    assert queue.take() == ("a", "a0")
    assert queue.take(lambda name: False) is None and len(queue) == 2


def test_what_is_put_back_is_next_and_what_is_discarded_never_comes():
    queue = FairQueue()
    for item in ("a0", "a1", "b0"):
        queue.put(item[0], item)
    _, first = queue.take()
    queue.put_back("a", first)
    assert queue.discard("a", "a1") and not queue.discard("a", "a1") and not queue.discard("x", "a1")
    assert [queue.take()[1] for _ in range(2)] == ["a0", "b0"]


@pytest.mark.parametrize("seed", seeds(20))
def test_the_queue_does_what_a_list_of_lines_does(seed):
    chance = random.Random(seed)
    queue, lines, number = FairQueue(), deque(), 0
    for _ in range(400):
        names = [name for name, _ in lines]
        if chance.random() < 0.55:
            name, number = chance.choice("abcde"), number + 1
            queue.put(name, number)
            if name in names:
                lines[names.index(name)][1].append(number)
            else:
                lines.append((name, [number]))
        elif lines and chance.random() < 0.3:
            name, line = chance.choice(lines)
            item = chance.choice(line)
            assert queue.discard(name, item)
            line.remove(item)
            if not line:
                lines.remove((name, line))
        elif lines:
            name, line = lines.popleft()
            assert queue.take() == (name, line.pop(0))
            if line:
                lines.append((name, line))
        assert len(queue) == sum(len(line) for _, line in lines)
