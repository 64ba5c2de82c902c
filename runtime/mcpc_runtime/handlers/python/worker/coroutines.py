"""Asynchronous handlers: all of them on one event loop, in a thread of its own, which the first of them starts."""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread

from mcpc_runtime.handlers.python.worker.replies import report
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from asyncio import new_event_loop, set_event_loop
    from collections.abc import Callable, Coroutine

    from mcpc_runtime.protocol.jsonrpc import Json
else:
    new_event_loop = lazy("asyncio:new_event_loop")
    set_event_loop = lazy("asyncio:set_event_loop")


class EventLoopThread:
    """The loop, and what is handed to it from other threads."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    @property
    def here(self) -> bool:
        """Whether this is the loop's thread."""
        return self._thread == get_ident()

    def begin(self, work: Coroutine[object, None, None], begun: Callable[[asyncio.Task[None]], None]) -> None:
        """Have the loop run `work`; tell it the task."""
        loop = self._running()
        loop.call_soon_threadsafe(lambda: begun(loop.create_task(work)))

    def soon(self, function: Callable[[], object]) -> None:
        """Have the loop call something."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function)

    def future(self) -> asyncio.Future[Json]:
        """Return something to wait for, in the loop's thread."""
        return self._running().create_future()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = new_event_loop()
                start_new_thread(self._run, (self._loop,))
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self._thread = get_ident()
        set_event_loop(loop)
        while True:
            try:
                loop.run_forever()
            except BaseException as problem:  # noqa: BLE001 - SystemExit of a task that a handler left behind
                report(problem)
