"""The reactor's interface over a running asyncio loop, which watches descriptors itself."""

from __future__ import annotations

from _thread import LockType
from asyncio import get_running_loop
from collections.abc import Callable

from mcpc_runtime.transports.platforms.posix.reactor import READABLE, WRITABLE


class LoopReactor:
    """The reactor's interface over the running asyncio loop, for the dispatcher, the runners and the supervisor.

    `run`: calls each callback, catches its errors, and performs all that was queued meanwhile.
    """

    def __init__(self, run: Callable[[Callable[[], None]], None]) -> None:
        self._loop = get_running_loop()
        self.clock = self._loop.time
        self._run = run
        self._watched: dict[int, int] = {}

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end."""
        before = self._watched.get(descriptor, 0)
        self._watched[descriptor] = events
        if events & READABLE:
            self._loop.add_reader(descriptor, self._run, callback)
        elif before & READABLE:
            self._loop.remove_reader(descriptor)
        if events & WRITABLE:
            self._loop.add_writer(descriptor, self._run, callback)
        elif before & WRITABLE:
            self._loop.remove_writer(descriptor)

    def forget(self, descriptor: int) -> None:
        """Stop watching; a descriptor that is not watched is ignored."""
        events = self._watched.pop(descriptor, 0)
        if self._loop.is_closed():
            return
        if events & READABLE:
            self._loop.remove_reader(descriptor)
        if events & WRITABLE:
            self._loop.remove_writer(descriptor)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._loop.call_later(seconds, self._run, callback)

    def turn(self, lock: LockType | None = None) -> None:
        """Raise RuntimeError: asyncio runs the loop."""
        raise RuntimeError("asyncio runs the loop")

    def expect(self) -> None:
        """Do nothing: the event loop decides how it waits."""

    def wake(self) -> None:
        """Do nothing: `HttpDriver.ask` wakes the loop."""
