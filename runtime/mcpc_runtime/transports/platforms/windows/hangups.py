"""Detect that a client whose input is paused has closed its end: the reactor reports it without being asked."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from collections.abc import Callable

from mcpc_runtime.transports.platforms.windows.reactor import Reactor


def watch_end(reactor: Reactor, descriptor: int, is_wanted: Callable[[], bool], callback: Callable[[], None]) -> None:
    """Call `callback` once when the other end of `descriptor` has closed, unless `is_wanted()` is false then."""

    def take() -> None:
        reactor.forget(descriptor)
        if is_wanted():
            callback()

    reactor.watch(descriptor, 0, take)
