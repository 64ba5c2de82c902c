"""One call: its function is found and called, its answer is written once, and while it runs it can be cancelled.

A synchronous function runs on the thread that took the call; what it returns may have to be awaited, and then the loop
does that.  Whatever it raises, SystemExit and KeyboardInterrupt too, is its own answer.
"""

from __future__ import annotations

import posix
import sys
from _contextvars import Context as Variables
from _thread import allocate_lock

from mcpc_runtime.handlers.python.bindings import BINDINGS, ArgumentError
from mcpc_runtime.handlers.python.context import Context
from mcpc_runtime.handlers.python.errors import Cancelled
from mcpc_runtime.handlers.python.worker.interruption import InterruptibleSection
from mcpc_runtime.handlers.python.worker.replies import failed, is_meant, report, said
from mcpc_runtime.lazy import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any, Protocol

    from mcpc_runtime.handlers.python.worker.coroutines import EventLoopThread
    from mcpc_runtime.handlers.python.worker.replies import ReplyWriter
    from mcpc_runtime.protocol.jsonrpc import Json

    class Home(Protocol):
        """The process that a call runs in."""

        replies: ReplyWriter
        coroutines: EventLoopThread
        calls: dict[int, WorkerCall]
        forked: bool

        def function(self, file: str, name: str) -> Callable[..., object]:
            """Return a function of a module, which is imported if it was not yet."""


class WorkerCall:
    """One call.  `words`: file, function, binding, arguments, parameter for the context, `_meta`, name, `more`."""

    __slots__ = ("_answers", "_ended", "_home", "_region", "_task", "_words", "cancelled", "number")

    def __init__(self, home: Home, number: int, words: tuple[Any, ...]) -> None:
        self._home = home
        self.number = number
        self._words = words
        self._region = InterruptibleSection()
        self._task: asyncio.Task[None] | None = None
        self._ended = [False]
        self._answers: dict[int, ThreadReply] | None = None
        self.cancelled = False

    @property
    def key(self) -> tuple[str, str]:
        """What the turns know it by."""
        return self._words[0], self._words[1]

    def run(self) -> None:
        """Do it, in this thread, and answer."""
        try:
            frame = self._guarded()
        except BaseException as problem:  # noqa: BLE001 - interrupted when the handler was done, before its answer was
            self._region.leave()
            frame = failed(self.number, problem)
        if self._home.forked:
            leave()
        if frame is not None:
            self._end(frame)

    def _guarded(self) -> bytes | None:
        """Return the answer, None if it is the loop's to give; nothing reaches this thread when it has returned."""
        self._region.enter()
        try:
            self._stop_if_cancelled()
            value = Variables().run(self._called)
            if hasattr(value, "__await__"):
                self._home.coroutines.begin(self._awaited(value), self._begun)
                frame = None
            else:
                frame = said(self.number, b"value", value)
        except ArgumentError as problem:
            frame = said(self.number, b"refused", str(problem))
        except BaseException as problem:  # noqa: BLE001 - the handler's own failure, whatever it is, is its answer
            frame = self._failure(problem)
        self._region.leave()
        return frame

    def _failure(self, problem: BaseException) -> bytes:
        if not is_meant(problem):
            report(problem)
        return failed(self.number, problem)

    def _called(self) -> object:
        file, name, binding, arguments, context, meta, tool, known = self._words
        function = self._home.function(file, name)
        more = {context: Context(self, tool, meta, known)} if context else {}
        if binding:
            return resolve(BINDINGS[binding[0]])(function, arguments, more, *binding[1:])
        return function(**arguments, **more)

    def _begun(self, task: asyncio.Task[None]) -> None:
        self._task = task
        if self.cancelled:
            self._cancel_task()

    def _cancel_task(self) -> None:
        """Cancel the task after its first step: one that has not begun would end without an answer."""
        if self._task is not None:
            self._home.coroutines.soon(self._task.cancel)

    async def _awaited(self, value: Awaitable[object]) -> None:
        """Wait for what the function returned, on the loop, and answer."""
        try:
            frame = said(self.number, b"value", await value)
        except ArgumentError as problem:
            frame = said(self.number, b"refused", str(problem))
        except BaseException as problem:  # noqa: BLE001 - as above
            frame = self._failure(problem)
        self._end(frame)

    def _end(self, frame: bytes) -> None:
        """Write the answer.  A process that the handler forked off, and that came back here, ends instead."""
        if self._home.forked:
            leave()
        self._home.calls.pop(self.number, None)
        self._home.replies.send(frame, self._ended, last=True)
        for answer in list((self._answers or {}).values()):
            answer.give(None)

    def cancel(self) -> None:
        """Have it end, if it can: its task is cancelled, or Cancelled raised in its thread."""
        self.cancelled = True
        self._region.interrupt(Cancelled)
        self._home.coroutines.soon(self._cancel_task)
        for answer in list((self._answers or {}).values()):
            answer.give(None)

    def interrupt(self) -> bool:
        """Raise KeyboardInterrupt in its thread; False if its handler is not running in one."""
        return self._region.interrupt(KeyboardInterrupt)

    @property
    def is_running(self) -> bool:
        """Whether its handler runs in a thread now."""
        return self._region.open

    def say(self, note: Mapping[str, object]) -> None:
        """Send a note, unless the call has ended; a thread is not interrupted while it writes one."""
        frame = said(self.number, b"note", note)
        if self._home.forked or self._ended[0]:
            return
        if not self._region.mine:
            self._home.replies.send(frame, self._ended)
            return
        if not self._region.pause():
            raise Cancelled
        try:
            self._home.replies.send(frame, self._ended)
        finally:
            self._region.resume()
        self._stop_if_cancelled()

    def _stop_if_cancelled(self) -> None:
        if self.cancelled:
            raise Cancelled

    def ask(self, note: Mapping[str, object], read: Callable[[Any], object]) -> Any:
        """Send a note that is answered: by another tool, or by the client."""
        if self._ended[0]:
            raise RuntimeError("this call has already ended")
        if self._answers is None:
            self._answers = {}
        number = len(self._answers) + 1
        if self._home.coroutines.here:
            later = AsyncReply(self._home.coroutines)
            self._answers[number] = later
            self.say({**note, "reply": number})
            return later.read(read)
        answer = self._answers[number] = ThreadReply()
        self.say({**note, "reply": number})
        return read(self._kept(answer.wait()))

    def _kept(self, result: Json) -> Json:
        """Return a result; without one the call was cancelled, or has ended."""
        if result is None:
            self._stop_if_cancelled()
            raise RuntimeError("this call has already ended")
        return result

    def answered(self, number: int, result: Json) -> None:
        """Take what was answered to a note."""
        answer = (self._answers or {}).get(number)
        if answer is not None:
            answer.give(result)


class ThreadReply:
    """What is answered to a note; a thread waits for it."""

    def __init__(self) -> None:
        self._bell = allocate_lock()
        self._bell.acquire()
        self._open: list[None] = [None]
        self._result: Json = None

    def give(self, result: Json) -> None:
        """Take the result, the first time; None says that there will be none."""
        try:
            self._open.pop()
        except IndexError:
            return
        self._result = result
        self._bell.release()

    def wait(self) -> Json:
        """Wait for it."""
        self._bell.acquire()
        return self._result


class AsyncReply(ThreadReply):
    """What is answered to a note; a coroutine waits for it."""

    def __init__(self, coroutines: EventLoopThread) -> None:
        self._coroutines = coroutines
        self._future = coroutines.future()

    def give(self, result: Json) -> None:
        """Take the result, in any thread."""
        self._coroutines.soon(lambda: self._set(result))

    def _set(self, result: Json) -> None:
        if not self._future.done():
            self._future.set_result(result)

    async def read(self, read: Callable[[Any], object]) -> object:
        """Wait for it, and return what `read` makes of it."""
        result = await self._future
        if result is None:
            raise RuntimeError("this call has already ended")
        return read(result)


def leave() -> None:
    """End a process that a handler forked off, as the interpreter would."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001 - nobody is left to be told
            continue
    posix._exit(0)
