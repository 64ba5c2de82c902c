"""Runs Python handlers in the server's own process, which is faster; they cannot be ended by force.

The thread that read the request calls the handler; if that is slow, another thread continues to serve
(`mcpc_runtime.concurrency.leader_followers`), and the answer is delivered later.  A handler that exits or
crashes the process ends the server.

Fast path for inline handlers: a call that finishes quickly is never registered with the dispatcher.

A call that is slow, because its thread lost the leadership or another thread runs it, is registered then, with a time
limit and everything else.
"""

from __future__ import annotations

import sys
from _contextvars import Context as Variables
from _signal import SIG_DFL, SIGINT, signal
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mcpc_runtime.concurrency.leader_followers import LeaderFollowers
from mcpc_runtime.handlers.python.bindings import BINDINGS, ArgumentError
from mcpc_runtime.handlers.python.context import Context
from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation, handlers_folder, parse_result
from mcpc_runtime.handlers.python.errors import Cancelled
from mcpc_runtime.handlers.python.execution import (
    InterruptibleSection,
    activate_packages,
    add_handlers,
    exception_message,
    is_intended,
    json_bytes,
    print_traceback,
    protocol_error_of,
    run_exit_functions,
)
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import DriverInterface, Note, Notify
from mcpc_runtime.lazy import resolve
from mcpc_runtime.log import attempt, finish_or_fail
from mcpc_runtime.protocol.calls import finish_with_text
from mcpc_runtime.protocol.effects import Call, Effect, Failure
from mcpc_runtime.protocol.jsonrpc import Json, parse

Handler = tuple[Any, ...]
"""See `mcpc.emit.records.python_target`."""
Answer = TypeVar("Answer")


LOOP = "loop"
JSON_TYPES = (str, int, bool, type(None))
"""Types whose values are JSON already."""


class InlineRunner:
    """Calls functions on the leader's thread."""

    def __init__(self, context: RunnerContext, driver: DriverInterface) -> None:
        self.driver = driver
        self._image = context.image
        self._functions: dict[Handler, Callable[..., object]] = {}
        self._preparing = allocate_lock()
        threads = driver.turns
        self._turns: LeaderFollowers = (threads or LeaderFollowers)(driver.serve_in_this_thread)
        self._has_loop = threads is not None
        if threads is None:  # else the event loop handles signals
            signal(SIGINT, SIG_DFL)  # Ctrl-C ends the server, whatever handler it meets

    def make(self, invocation: Invocation, done: Callable[[FunctionResult], None], note: Notify) -> InlineCall:
        """Return a call that is not run yet, but can be stopped."""
        handler = (invocation.file, invocation.function, invocation.context, invocation.is_async, *invocation.binding)
        call = ContextCall(self, handler, invocation.arguments)
        call.done, call.note, call.name, call.meta = done, note, invocation.name, invocation.meta
        call.more = invocation.more
        return call

    def run(self, call: InlineCall, inline: bool | str) -> bool:
        """Call the function with the lock free; raise LeadershipLost if another thread serves when it is done.

        Return False if another thread calls it, because it was slow before.  `inline`: `loop` for a function that never
        waits, which has no effect over stdio, because another thread can take over there.
        """
        if self._has_loop and inline == LOOP:
            call.run()
            return True
        lock = self.driver.lock
        # Not in a `with`: a thread that lost the leadership leaves by an exception, and the lock is the new leader's
        # then.
        lock.release()
        at_once = self._turns.run(call.handler, call.run, call.deliver_later)
        lock.acquire()
        return at_once

    def stop(self, call: InlineCall) -> None:
        """Interrupt the handler, which may ignore that."""
        call.cancel()

    def answer(self, call: ContextCall, reply: int, result: dict[str, Json]) -> None:
        """Deliver the answer to a note."""
        call.answered(reply, result)

    def close(self) -> None:
        """Call what handlers registered with `atexit`; threads end with the process."""
        run_exit_functions()

    def function(self, handler: Handler) -> Callable[..., object]:
        """Return a handler's function; its module is imported at the first use."""
        cached = self._functions.get(handler)
        if cached is None:
            with self._preparing:
                if add_handlers(self._image.archive, handlers_folder(self._image)):
                    # Over stdio, standard output has the messages of the protocol and nothing else.
                    sys.stdout = sys.stderr
                    activate_packages(self._image.archive)
            module = handler[0].removesuffix(".py").replace("/", ".")
            cached = self._functions[handler] = resolve(f"{module}:{handler[1]}")
        return cached


class InlineCall:
    """One call of a function that needs nothing but its arguments."""

    __slots__ = ("arguments", "cancelled", "done", "handler", "region", "returned", "runner")

    def __init__(self, runner: InlineRunner, handler: Handler, arguments: dict[str, Json]) -> None:
        self.runner = runner
        self.handler = handler
        self.arguments = arguments
        self.region = InterruptibleSection()
        self.cancelled = False
        self.returned: FunctionResult
        self.done: Callable[[FunctionResult], None]

    def run(self) -> None:
        """Call the function, in this thread, without the lock."""
        try:
            self._guarded()
        except BaseException as problem:  # noqa: BLE001 - interrupted between the end of the handler and its result
            self.returned = failed(problem)

    def _guarded(self) -> None:
        self.region.enter()
        try:
            value: Any = Variables().run(self.call_function)
            self.returned = FunctionResult(value if type(value) in JSON_TYPES else parse(json_bytes(value)))
        except ArgumentError as problem:
            self.returned = FunctionResult(refused=str(problem))
        except BaseException as problem:  # noqa: BLE001 - any failure of the handler is its answer
            if not is_intended(problem):
                print_traceback(problem)
            self.returned = failed(problem)
        # Outside of the try block: what is raised here is not the handler's, and `run` catches it.
        self.region.leave()

    def call_function(self) -> object:
        """Call the function, and return its result."""
        handler = self.handler
        if len(handler) > 4:
            return self.call_bound({})
        return self.runner.function(handler)(**self.arguments)

    def call_bound(self, contexts: Mapping[str, Context]) -> object:
        """Call the function through its binding, which converts the arguments."""
        binding = self.handler[4:]
        return resolve(BINDINGS[binding[0]])(self.runner.function(self.handler), self.arguments, contexts, *binding[1:])

    def deliver_later(self) -> None:
        """Deliver the result to the serving thread, which is not this one any more."""
        self.hand_over(lambda: self.done(self.returned))

    def hand_over(self, task: Callable[[], None]) -> None:
        """Queue a callback for the serving thread."""
        driver = self.runner.driver
        with driver.lock:
            driver.ask(task)

    def cancel(self) -> None:
        """Raise Cancelled in the handler."""
        self.cancelled = True
        self.region.interrupt(Cancelled)


class ContextCall(InlineCall):
    """A call of a function with a context, for which it sends notes."""

    __slots__ = ("answers", "meta", "more", "name", "note", "over")

    def __init__(self, runner: InlineRunner, handler: Handler, arguments: dict[str, Json]) -> None:
        super().__init__(runner, handler, arguments)
        self.answers: dict[int, Reply] = {}
        self.over = False
        self.name = ""
        self.meta: dict[str, Json] = {}
        self.more: dict[str, Json] = {}
        self.note: Notify

    def run(self) -> None:
        """Call the function; notes after its end are dropped."""
        super().run()
        self.over = True

    def call_function(self) -> object:
        """Call the function, and return its result."""
        context = self.handler[2]
        more = {context: Context(self, self.name, self.meta, self.more)} if context else {}
        if len(self.handler) > 4:
            return self.call_bound(more)
        return self.runner.function(self.handler)(**self.arguments, **more)

    def cancel(self) -> None:
        """Raise Cancelled in the handler, and end its waiting for answers."""
        super().cancel()
        for reply in list(self.answers):
            self.answered(reply, None)

    def say(self, note: Mapping[str, object]) -> None:
        """Send a note, unless the call has ended; the thread is not interrupted meanwhile."""
        # A copy, as a note of a worker is: the handler may change its object before this one is sent.
        message = parse(json_bytes(note))
        if self.over or type(message) is not dict:
            return
        mine = self.region.mine
        if mine and not self.region.pause():
            raise Cancelled
        try:
            self.hand_over(lambda: self.note(message))
        finally:
            if mine:
                self.region.resume()
        if self.cancelled:
            raise Cancelled

    def ask(self, note: Mapping[str, object], read: Callable[[Note], Answer]) -> Answer:
        """Send a note that is answered: by another tool, or by the client."""
        reply = len(self.answers) + 1
        # Before it is sent, so that a cancellation meanwhile ends the waiting.
        waiting = self.answers[reply] = Reply()
        self.say({**note, "reply": reply})
        waiting.bell.acquire()
        if waiting.result is None:
            raise Cancelled
        return read(waiting.result)

    def answered(self, reply: int, result: Note | None) -> None:
        """Take the first answer to a note."""
        waiting = self.answers.get(reply)
        if waiting is not None and not waiting.is_there:
            waiting.is_there, waiting.result = True, result
            waiting.bell.release()


class Reply:
    """The answer to a note, None if there will be none; `bell` is released when it `is_there`."""

    __slots__ = ("bell", "is_there", "result")

    def __init__(self) -> None:
        self.bell = allocate_lock()
        self.bell.acquire()
        self.is_there = False
        self.result: Note | None = None


def failed(problem: BaseException) -> FunctionResult:
    """Return the result of a function that raised an exception."""
    returned = FunctionResult(problem=exception_message(problem))
    returned.raised = protocol_error_of(problem)
    return returned


class InlineFastPath:
    """Runs inline handlers that need nothing but their arguments."""

    def __init__(
        self, driver: DriverInterface, runner: InlineRunner, adopt: Callable[[Call, InlineCall], None]
    ) -> None:
        self._driver = driver
        self._runner = runner
        self._adopt = adopt
        self._current: tuple[Call, InlineCall] | None = None

    def start(self, call: Call) -> None:
        """Call the handler; LeadershipLost passes through if it was slow and another thread serves now."""
        inline_call = InlineCall(self._runner, call.definition.handler, call.arguments)
        # For the thread that takes over if the handler is slow: it registers the call (`adopt`).
        self._current = call, inline_call
        if not self._runner.run(inline_call, call.definition.inline):
            self.adopt()
            return
        self._current = None
        self._driver.post_effects(self._answer(call, inline_call.returned))

    def adopt(self) -> None:
        """Register the call whose handler still runs with the dispatcher."""
        if self._current is not None:
            call, inline_call = self._current
            self._current = None
            self._adopt(call, inline_call)

    def _answer(self, call: Call, returned: FunctionResult) -> list[Effect]:
        value = returned.value
        if type(value) is str and not returned.problem and call.definition.output is None:
            effects = attempt(lambda: finish_with_text(call.request.session, call, value))
            if not isinstance(effects, Failure):
                return effects
            return finish_or_fail(call, effects)
        return finish_or_fail(call, attempt(lambda: parse_result(call, returned)))
