"""The reactor over a running asyncio loop: a thread waits at the completion port, the loop's thread does the rest.

The loop has a port too, but does not tell whose operation has ended; and only this one hears of jobs and threads.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from _thread import LockType, allocate_lock, start_new_thread
from asyncio import get_running_loop
from collections.abc import Callable

from mcpc_runtime.transports.platforms.windows.reactor import FOREVER, Packet, Reactor


class LoopReactor(Reactor):
    """A completion port beside the loop.

    `run`: calls each callback, catches its errors, and performs all that was queued meanwhile.
    """

    def __init__(self, run: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._loop = get_running_loop()
        self._run = run
        self._gate = allocate_lock()
        """Held while the loop's thread works on what the other thread has got."""
        start_new_thread(self._serve, ())

    def _serve(self) -> None:
        while True:
            self._gate.acquire()
            packet = self.wait(FOREVER)
            try:
                self._loop.call_soon_threadsafe(self._take, packet)
            except RuntimeError:  # the loop is closed
                return

    def _take(self, packet: Packet | None) -> None:
        self.settle(packet)
        # What is ready already posts no packet, so it is taken before the thread may wait again.
        if self.is_ready():
            self._loop.call_soon(self._take, None)
        else:
            self._gate.release()

    def call(self, callback: Callable[[], None]) -> None:
        """Call a callback, and perform what it queued."""
        self._run(callback)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._loop.call_later(seconds, self._run, callback)

    def turn(self, lock: LockType | None = None) -> None:
        """Raise RuntimeError: asyncio runs the loop."""
        raise RuntimeError("asyncio runs the loop")
