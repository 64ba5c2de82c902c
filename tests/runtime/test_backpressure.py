"""A client that takes nothing is waited for, is not read from while it is far behind, and is given up once it has hung up."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.server import backpressure
from mcpc_runtime.server.backpressure import PATIENCE_SECONDS, Backpressure
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE

INPUT, OUTPUT = 7, 8


class Waiting:
    """A reactor that is told what happened, a client's channel, and what came of it."""

    def __init__(self) -> None:
        self.watched: dict[int, tuple[int, Callable[[], None]]] = {}
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.given_up = 0
        self.channel: Any = SimpleNamespace(
            descriptor=INPUT, output=OUTPUT, ended=False, full=False, unsent=10, bytes_written=5
        )
        self.backpressure = Backpressure(self, self.channel, self.read, self.give_up)  # type: ignore[arg-type]

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        self.watched[descriptor] = events, callback

    def forget(self, descriptor: int) -> None:
        self.watched.pop(descriptor, None)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        self.timers.append((seconds, callback))

    def read(self) -> None:
        raise AssertionError("nobody calls this but a reactor")

    def give_up(self) -> None:
        self.given_up += 1

    @property
    def events(self) -> dict[int, int]:
        return {descriptor: events for descriptor, (events, _) in self.watched.items()}

    def happens(self, descriptor: int) -> None:
        self.watched[descriptor][1]()

    def passes(self) -> None:
        (seconds, callback), *self.timers = self.timers
        assert seconds == PATIENCE_SECONDS
        callback()


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    monkeypatch.setattr(backpressure, "has", lambda name: True)
    return Waiting()


def test_a_client_that_is_a_little_behind_is_still_read_from(waiting: Waiting) -> None:
    waiting.backpressure.wait()
    assert waiting.events == {INPUT: READABLE, OUTPUT: WRITABLE}
    waiting.happens(OUTPUT)
    assert waiting.events == {INPUT: READABLE}


def test_a_client_that_is_far_behind_is_read_from_once_it_has_taken_all(waiting: Waiting) -> None:
    waiting.channel.full = True
    waiting.backpressure.wait()
    assert waiting.events == {INPUT: 0, OUTPUT: WRITABLE}
    waiting.happens(OUTPUT)
    assert waiting.events == {INPUT: READABLE}


def test_a_client_that_hung_up_and_takes_nothing_is_given_up(waiting: Waiting) -> None:
    waiting.channel.full = True
    waiting.backpressure.wait()
    waiting.happens(INPUT)
    waiting.backpressure.wait()
    assert waiting.events == {OUTPUT: WRITABLE}
    waiting.channel.bytes_written += 1
    waiting.passes()
    assert waiting.given_up == 0, "it took something"
    waiting.passes()
    assert waiting.given_up == 1


def test_a_system_without_hangups_asks_for_the_end_while_the_client_is_far_behind(
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(backpressure, "has", lambda name: False)
    monkeypatch.setattr(backpressure, "watch_end", lambda *given: asked.append(given))
    waiting.channel.full = True
    waiting.backpressure.wait()
    ((reactor, descriptor, is_wanted, hung_up),) = asked
    assert (reactor, descriptor, is_wanted(), waiting.events) == (waiting, INPUT, True, {OUTPUT: WRITABLE})
    hung_up()
    waiting.passes()
    assert waiting.given_up == 1


def test_after_the_end_of_its_input_only_the_rest_is_sent(waiting: Waiting) -> None:
    waiting.channel.ended = True
    waiting.backpressure.wait()
    assert waiting.events == {OUTPUT: WRITABLE}
    waiting.happens(OUTPUT)
    assert waiting.events == {}
