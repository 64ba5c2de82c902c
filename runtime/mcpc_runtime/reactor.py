"""Waiting for several descriptors at once; used from the moment the first handler runs."""

from __future__ import annotations

import posix
from select import POLLIN, POLLOUT, poll
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

READABLE = POLLIN
WRITABLE = POLLOUT


class Reactor:
    """A poll loop.  A callback is called whenever its descriptor is ready, until it is forgotten.  O(ready) a turn."""

    def __init__(self) -> None:
        self._poll = poll()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end."""
        self._poll.register(descriptor, events)
        self._callbacks[descriptor] = callback

    def forget(self, descriptor: int) -> None:
        """Stop watching; a descriptor nobody watches is passed over."""
        if self._callbacks.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._number += 1
        self._timers.append((monotonic() + seconds, self._number, callback))
        self._timers.sort(key=lambda timer: timer[:2])

    def turn(self) -> None:
        """Wait until something is ready or due, and call what waits for it."""
        timeout = None
        if self._timers:
            timeout = max(0, int((self._timers[0][0] - monotonic()) * 1000) + 1)
        for descriptor, _ in self._poll.poll(timeout):
            callback = self._callbacks.get(descriptor)
            if callback is not None:
                callback()
        while self._timers and self._timers[0][0] <= monotonic():
            self._timers.pop(0)[2]()


def close(descriptor: int) -> None:
    """Close a descriptor, whatever the kernel thinks of it."""
    try:
        posix.close(descriptor)
    except OSError:
        return
