"""Python handlers in the server's own process, for speed: a tool that says `inline` gives up that it can be ended.

The thread that read the request calls the handler; if that takes long, another thread serves on (`mcpc_runtime.turns`)
and the answer is handed over when it is there.  A handler that leaves or breaks the process takes the server along.
"""

from __future__ import annotations

import sys
from _contextvars import Context as Variables
from _signal import SIG_DFL, SIGINT, signal  # type: ignore[import-not-found]
from _thread import allocate_lock

from mcpc_runtime.bindings import BINDINGS, ArgumentError
from mcpc_runtime.commands import Returned
from mcpc_runtime.context import Context
from mcpc_runtime.handler_errors import Cancelled
from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.turns import Turns
from mcpc_runtime.worker.interruption import Region
from mcpc_runtime.worker.replies import error_of, is_meant, message_of, report, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable
    from typing import Any, Protocol

    from mcpc_runtime.commands import Invocation
    from mcpc_runtime.host import Host
    from mcpc_runtime.protocol.jsonrpc import Json

    Handler = tuple[Any, ...]
    """See `mcpc.emit.records.python_target`."""

    class Stage(Protocol):
        """What drives the server, by one thread at a time."""

        lock: LockType

        def take_over(self) -> None:
            """Serve on in this thread."""

        def ask(self, task: Callable[[], None]) -> None:
            """Have something done by the thread that serves, the lock held by the caller."""

    from mcpc_runtime.worker.process import carry
else:
    carry = lazy("mcpc_runtime.worker.process:carry")


LOOP = "loop"
NO_SURPRISE = (str, int, bool, type(None))
"""What is JSON as it is."""


class InlineRunner:
    """Calls functions on the engine's thread, by turns."""

    def __init__(self, host: Host, stage: Stage) -> None:
        self.stage = stage
        self._archive = host.image.archive
        self._functions: dict[Handler, Callable[..., Any]] = {}
        threads = getattr(stage, "turns", None)
        self._turns: Turns = (threads or Turns)(stage.take_over)
        self._has_loop = threads is not None
        if threads is None:  # else signals are the loop's affair
            signal(SIGINT, SIG_DFL)  # Ctrl-C ends the server, whatever handler it meets

    def make(self, invocation: Invocation, done: Callable[[Returned], None], note: Callable[[Any], None]) -> InlineCall:
        """Return a call that can be stopped, before it is run."""
        handler = (invocation.file, invocation.function, invocation.context, invocation.is_async, *invocation.binding)
        call = SpeakingCall(self, handler, invocation.arguments)
        call.done, call.note, call.name, call.meta = done, note, invocation.name, invocation.meta
        call.more = invocation.more
        return call

    def run(self, call: InlineCall, way: bool | str) -> bool:
        """Call the function; the lock is free meanwhile.  Raise Deposed if another thread serves when it is done.

        False: another thread calls it, because it was slow before.  `way`: `loop` for one that says it never waits; on
        pipes that changes nothing, because there the turn can be taken from it.
        """
        if self._has_loop and way == LOOP:
            call.run()
            return True
        lock = self.stage.lock
        lock.release()
        at_once = self._turns.run(call.handler, call.run, call.deliver_later)
        lock.acquire()
        return at_once

    def stop(self, call: InlineCall) -> None:
        """Ask the handler to end; whether it does is its own affair."""
        call.cancel()

    def answer(self, call: SpeakingCall, reply: int, result: dict[str, Json]) -> None:
        """Hand over what was answered to a note."""
        call.answered(reply, result)

    def close(self) -> None:
        """Leave threads where they are: the process ends."""

    def function(self, handler: Handler) -> Callable[..., Any]:
        """Return a function of a module, which is imported if it was not yet."""
        found = self._functions.get(handler)
        if found is None:
            if f"{self._archive}/handlers" not in sys.path:
                sys.stdout = sys.stderr
                sys.path.insert(0, f"{self._archive}/handlers")
                carry(self._archive)
            module = handler[0].removesuffix(".py").replace("/", ".")
            found = self._functions[handler] = resolve(f"{module}:{handler[1]}")
        return found


class InlineCall:
    """One call of a function that wants nothing but its arguments."""

    __slots__ = ("arguments", "cancelled", "done", "handler", "region", "returned", "runner")

    def __init__(self, runner: InlineRunner, handler: Handler, arguments: dict[str, Json]) -> None:
        self.runner = runner
        self.handler = handler
        self.arguments = arguments
        self.region = Region()
        self.cancelled = False
        self.returned: Returned
        self.done: Callable[[Returned], None]

    def run(self) -> None:
        """Call the function, in this thread, without the lock."""
        try:
            self._guarded()
        except BaseException as problem:  # noqa: BLE001 - interrupted when the handler was done, before its answer was
            self.returned = failed(problem)

    def _guarded(self) -> None:
        self.region.enter()
        try:
            value = Variables().run(self.called)
            self.returned = Returned(value if type(value) in NO_SURPRISE else parse(written(value)))
        except ArgumentError as problem:
            self.returned = Returned(refused=str(problem))
        except BaseException as problem:  # noqa: BLE001 - the handler's own failure, whatever it is, is its answer
            if not is_meant(problem):
                report(problem)
            self.returned = failed(problem)
        self.region.leave()

    def called(self) -> Any:
        """Return what the function returns."""
        handler = self.handler
        if len(handler) > 4:
            return self.bound({})
        return self.runner.function(handler)(**self.arguments)

    def bound(self, more: dict[str, Any]) -> Any:
        """Call the function with the arguments that its binding makes."""
        binding = self.handler[4:]
        return resolve(BINDINGS[binding[0]])(self.runner.function(self.handler), self.arguments, more, *binding[1:])

    def deliver_later(self) -> None:
        """Have the engine's thread take the answer: this is not it any more."""
        self.hand_over(lambda: self.done(self.returned))

    def hand_over(self, task: Callable[[], None]) -> None:
        """Have the engine's thread do something, now or when it is done with what it does."""
        stage = self.runner.stage
        with stage.lock:
            stage.ask(task)

    def cancel(self) -> None:
        """Raise Cancelled in the handler."""
        self.cancelled = True
        self.region.interrupt(Cancelled)


class SpeakingCall(InlineCall):
    """A call of a function that has a context, and what that speaks to."""

    __slots__ = ("answers", "meta", "more", "name", "note", "over")

    def __init__(self, runner: InlineRunner, handler: Handler, arguments: dict[str, Json]) -> None:
        super().__init__(runner, handler, arguments)
        self.answers: dict[int, list[Any]] = {}
        self.over = False
        self.name = ""
        self.meta: dict[str, Json] = {}
        self.more: dict[str, Json] = {}
        self.note: Callable[[Any], None]

    def run(self) -> None:
        """Call the function; it says nothing after that."""
        super().run()
        self.over = True

    def called(self) -> Any:
        """Return what the function returns."""
        context = self.handler[2]
        more = {context: Context(self, self.name, self.meta, self.more)} if context else {}
        if len(self.handler) > 4:
            return self.bound(more)
        return self.runner.function(self.handler)(**self.arguments, **more)

    def cancel(self) -> None:
        """Raise Cancelled in the handler, and let it wait for nothing."""
        super().cancel()
        for reply in list(self.answers):
            self.answered(reply, None)

    def say(self, note: dict[str, Any]) -> None:
        """Hand over a note, unless the call has ended; a thread is not interrupted meanwhile."""
        plain = parse(written(note))
        if self.over:
            return
        mine = self.region.mine
        if mine and not self.region.pause():
            raise Cancelled
        try:
            self.hand_over(lambda: self.note(plain))
        finally:
            if mine:
                self.region.resume()
        if self.cancelled:
            raise Cancelled

    def ask(self, note: dict[str, Any], read: Callable[[Any], Any]) -> Any:
        """Send a note that is answered: by another tool, or by the client."""
        bell = allocate_lock()
        bell.acquire()
        reply = len(self.answers) + 1
        self.answers[reply] = [bell]
        self.say({**note, "reply": reply})
        bell.acquire()
        result = self.answers[reply][1]
        if result is None:
            raise Cancelled
        return read(result)

    def answered(self, reply: int, result: dict[str, Json] | None) -> None:
        """Take what was answered to a note, the first time."""
        waiting = self.answers.get(reply)
        if waiting is not None and len(waiting) == 1:
            waiting.append(result)
            waiting[0].release()


def failed(problem: BaseException) -> Returned:
    """Return what an exception amounts to."""
    returned = Returned(problem=message_of(problem))
    returned.raised = error_of(problem)
    return returned
