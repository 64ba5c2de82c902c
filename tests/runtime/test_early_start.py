"""When a program is started before its first call, decided with a clock that stands still."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.systems.fastmcp import early_start
from mcpc_runtime.transports.platforms import system


class Reactor:
    """Keeps timers until the test lets the next one be due."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        self.timers.append((seconds, callback))

    def due(self) -> float:
        seconds, callback = self.timers.pop(0)
        callback()
        return seconds


class Driver:
    """A driver whose client has been sent so many bytes; `started`: what was started."""

    def __init__(self) -> None:
        self.reactor = Reactor()
        self.channel = SimpleNamespace(bytes_written=7, ended=False)
        self.dispatcher: object = None
        self.started: list[object] = []

    def watch(self) -> Reactor:
        return self.reactor


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(early_start, "available_bytes", lambda: None)
    monkeypatch.setattr(early_start, "start", lambda _, request: made.started.append(request))
    monkeypatch.setitem(system.environ, b"MCPC_WITHOUT", b"parent")
    return made


def begun(driver: Any) -> Driver:
    early_start.start_when_idle(driver, driver.channel)
    found: Driver = driver
    return found


def test_a_program_starts_after_a_moment_in_which_its_client_was_sent_nothing(driver: Driver) -> None:
    begun(driver)
    assert driver.reactor.due() == 0
    driver.channel.bytes_written += 1
    assert (driver.reactor.due(), driver.started) == (0.2, [])
    assert (driver.reactor.due(), driver.started) == (0.2, [driver.channel])
    assert driver.reactor.timers == []


@pytest.mark.parametrize(
    "change", [{"dispatcher": object()}, {"channel": SimpleNamespace(bytes_written=7, ended=True)}]
)
def test_nothing_is_started_that_a_call_has_started_or_that_no_client_can_call(
    driver: Driver, change: dict[str, Any]
) -> None:
    begun(driver)
    driver.reactor.due()
    vars(driver).update(change)
    driver.reactor.due()
    assert (driver.started, driver.reactor.timers) == ([], [])


def test_nothing_is_started_for_a_client_that_asks_only_once(driver: Driver) -> None:
    driver.channel.ended = True
    assert begun(driver).reactor.timers == []


@pytest.mark.parametrize(("available", "starts"), [((512 << 20) - 1, 0), (512 << 20, 1)])
def test_little_memory_leaves_the_start_to_the_first_call(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, available: int, starts: int
) -> None:
    monkeypatch.setattr(early_start, "available_bytes", lambda: available)
    assert len(begun(driver).reactor.timers) == starts


@pytest.mark.parametrize("words", [b"early-start", b"proc,early-start"])
def test_a_variable_leaves_the_start_to_the_first_call(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, words: bytes
) -> None:
    monkeypatch.setitem(system.environ, b"MCPC_WITHOUT", words)
    assert begun(driver).reactor.timers == []
