"""Detect that a client whose input is paused has closed its end, where `poll` reports only requested events (macOS).

A descriptor with unread input would wake a poll for input at once and repeatedly, so a timer checks it.
"""

from __future__ import annotations

from collections.abc import Callable
from select import POLLERR, POLLHUP, POLLIN, POLLNVAL

from mcpc_runtime.transports.platforms.posix.polling import new_poll
from mcpc_runtime.transports.platforms.posix.reactor import Reactor

CHECK_SECONDS = 0.5
ENDS = POLLHUP | POLLERR | POLLNVAL
watched: set[int] = set()
"""The descriptors that a timer checks."""


def watch_end(reactor: Reactor, descriptor: int, is_wanted: Callable[[], bool], callback: Callable[[], None]) -> None:
    """Call `callback` once when the other end of `descriptor` has closed, unless `is_wanted()` is false then."""

    def check() -> None:
        if not is_wanted():
            watched.discard(descriptor)
        elif has_ended(descriptor):
            watched.discard(descriptor)
            callback()
        else:
            reactor.after(CHECK_SECONDS, check)

    reactor.forget(descriptor)
    if descriptor not in watched:
        watched.add(descriptor)
        reactor.after(CHECK_SECONDS, check)


def has_ended(descriptor: int) -> bool:
    """Tell whether the other end is closed, even if unread input remains."""
    poller = new_poll()
    poller.register(descriptor, POLLIN)
    return any(events & ENDS for _, events in poller.poll(0))
