"""The event loop of asynchronous handlers, and the replies for which a handler waits, on the loop or in a thread.

The loop runs in a separate thread, which the first asynchronous handler starts.
"""

from __future__ import annotations

import asyncio
from _thread import allocate_lock, get_ident, start_new_thread
from asyncio import new_event_loop, set_event_loop
from collections.abc import Callable, Coroutine

from mcpc_runtime.handlers.python.execution import print_traceback
from mcpc_runtime.protocol.jsonrpc import Json


class EventLoopThread:
    """The event loop, and functions to use it from other threads."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    @property
    def here(self) -> bool:
        """Whether this is the loop's thread."""
        return self._thread == get_ident()

    def use(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        """Use a loop that runs in another thread from now on, instead of starting one."""
        with self._lock:
            self._loop, self._thread = loop, thread

    def begin(self, coroutine: Coroutine[object, None, None], begun: Callable[[asyncio.Task[None]], None]) -> None:
        """Run a coroutine on the loop; `begun` is called with its task."""
        loop = self._running()
        loop.call_soon_threadsafe(lambda: begun(loop.create_task(coroutine)))

    def soon(self, function: Callable[[], object]) -> None:
        """Call a function on the loop's thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function)

    def future(self) -> asyncio.Future[Json]:
        """Return a new future of the loop."""
        return self._running().create_future()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = new_event_loop()
                # Callbacks may come before the thread runs: they wait in the loop.
                start_new_thread(self._run, (self._loop,))
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self._thread = get_ident()
        set_event_loop(loop)
        while True:
            try:
                loop.run_forever()
            except BaseException as problem:  # noqa: BLE001 - SystemExit of a task that a handler left behind
                print_traceback(problem)


class ThreadReply:
    """The reply to a note, for which a thread waits."""

    def __init__(self) -> None:
        self._ready = allocate_lock()
        self._ready.acquire()
        self._open: list[None] = [None]
        self._result: Json = None

    def give(self, result: Json) -> None:
        """Set the reply, once; None if there will be none."""
        try:
            # `list.pop` decides which of two threads gives the reply.
            self._open.pop()
        except IndexError:
            return
        self._result = result
        self._ready.release()

    def withdraw(self) -> None:
        """End the waiting: the call was cancelled."""
        self.give(None)

    def wait(self) -> Json:
        """Wait for the reply."""
        self._ready.acquire()
        return self._result


class AsyncReply(ThreadReply):
    """The reply to a note, for which a coroutine waits."""

    def __init__(self, coroutines: EventLoopThread) -> None:
        self._coroutines = coroutines
        self._future = coroutines.future()

    def give(self, result: Json) -> None:
        """Set the reply, from any thread."""
        self._coroutines.soon(lambda: self._set(result))

    def _set(self, result: Json) -> None:
        if not self._future.done():
            self._future.set_result(result)

    def withdraw(self) -> None:
        """Raise CancelledError in whatever waits: the call was cancelled, and so is what it waits for."""
        self._coroutines.soon(self._future.cancel)

    async def read(self, read: Callable[[Json], object]) -> object:
        """Wait for the reply, and return `read(reply)`."""
        result = await self._future
        if result is None:
            raise RuntimeError("this call has already ended")
        return read(result)
