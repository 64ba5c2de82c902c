"""How `mcpc dev` waits for calls of the earlier build: events come first, until the time is over."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

import pytest

from mcpc.dev.proxy import Proxy


class WaitingProxy(Proxy):
    """A proxy that notes what it did in its turns."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(cast("Any", None), lambda _: (), Path(), cast("Any", None))
        self.seen: list[str] = []
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def _end_wait(self) -> None:
        self.seen.append("the wait is over")


@pytest.mark.parametrize(
    ("seconds", "seen"),
    [(None, "an event"), (600.0, "an event"), (0.0, "the wait is over"), (-1.0, "the wait is over")],
)
def test_an_event_is_taken_until_the_wait_is_over(seconds: float | None, seen: str) -> None:
    proxy = WaitingProxy(seconds)
    proxy.events.put(lambda: proxy.seen.append("an event"))
    proxy._turn()
    assert proxy.seen == [seen]


def test_a_wait_without_events_ends_by_itself() -> None:
    proxy = WaitingProxy(0.01)
    proxy._turn()
    assert proxy.seen == ["the wait is over"]
