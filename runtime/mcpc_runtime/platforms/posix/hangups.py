"""The end of a client that is not read from, where `poll` does not tell it unasked (macOS).

A descriptor with unread input would wake whoever asks for input at once and again, so it is looked at by a timer.
"""

from __future__ import annotations

from select import POLLERR, POLLHUP, POLLIN, POLLNVAL, poll

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.platforms.posix.reactor import Reactor

SECONDS = 0.5
ENDS = POLLHUP | POLLERR | POLLNVAL
watched: set[int] = set()
"""The descriptors that a timer looks at."""


def watch_end(reactor: Reactor, descriptor: int, is_wanted: Callable[[], bool], callback: Callable[[], None]) -> None:
    """Call `callback` once when the other end of `descriptor` has closed, unless it is no longer wanted then."""

    def look() -> None:
        if not is_wanted():
            watched.discard(descriptor)
        elif has_ended(descriptor):
            watched.discard(descriptor)
            callback()
        else:
            reactor.after(SECONDS, look)

    reactor.forget(descriptor)
    if descriptor not in watched:
        watched.add(descriptor)
        reactor.after(SECONDS, look)


def has_ended(descriptor: int) -> bool:
    """Tell whether the other end is closed, whatever is still to be read."""
    once = poll()
    once.register(descriptor, POLLIN)
    return any(events & ENDS for _, events in once.poll(0))
