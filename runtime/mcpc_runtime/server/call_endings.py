"""How calls end: each is answered once or abandoned, and releases what it holds.

The result of a call is sent to the client, to the call that made it, or to the task manager if it is a task.  When a
call ends, all calls that it made end with it.
"""

from __future__ import annotations

from mcpc_runtime import failures
from mcpc_runtime.lazy import lazy
from mcpc_runtime.server.running_calls import tool_error_or_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.interfaces import DriverInterface
    from mcpc_runtime.protocol.calls import finish_call, make_result, nested_result
    from mcpc_runtime.protocol.client_requests.handshake import withdraw_requests as handshake_withdraw
    from mcpc_runtime.protocol.effects import Call, Ending, Failure
    from mcpc_runtime.server.running_calls import Admission, RunningCall, RunningCalls
else:
    finish_call = lazy("mcpc_runtime.protocol.calls:finish_call")
    handshake_withdraw = lazy("mcpc_runtime.protocol.client_requests.handshake:withdraw_requests", "handshake_withdraw")
    make_result = lazy("mcpc_runtime.protocol.calls:make_result")
    nested_result = lazy("mcpc_runtime.protocol.calls:nested_result")

CANCELLED = "cancelled"


class CallEndings:
    """Ends the calls of one server.

    `slot_freed` is called when a waiting call may have a slot; `finish_task` takes the result of a call that is a task,
    and is set by the task manager.
    """

    def __init__(
        self, driver: DriverInterface, running: RunningCalls, admission: Admission, slot_freed: Callable[[], None]
    ) -> None:
        self._driver = driver
        self._running = running
        self._admission = admission
        self._slot_freed = slot_freed
        self.finish_task: Callable[[Call, bytes | Failure], None]

    def end(self, running_call: RunningCall, ending: Ending, status: str = "") -> None:
        """Answer a call, unless it is over."""
        if running_call.over:
            return
        if running_call.held_progress is not None:
            self._running.send_held_progress(running_call)
        self._release(running_call)
        if self._running.observers:
            self._running.report_end(running_call, status, ending)
        call = running_call.call
        if running_call.answer is not None:
            running_call.answer(nested_result(running_call.handler_call, ending))
        elif call.is_task:
            self.finish_task(running_call.handler_call, failures.attempt(lambda: make_result(call, ending)))
        else:
            session = call.request.session
            try:
                effects = finish_call(session, call, ending)
            except Exception as problem:  # noqa: BLE001 - a result that cannot be made is that request's own error
                effects = finish_call(session, call, failures.failure_of(problem))
            self._driver.post_effects(effects)
        if self._admission:
            self._slot_freed()

    def end_client_call(self, running_call: RunningCall, ending: Ending, status: str) -> None:
        """Stop and answer the call that the client made, from which this one may be nested."""
        while running_call.parent is not None:
            running_call = running_call.parent
        if not running_call.over:
            running_call.stop()
        self.end(running_call, ending, status)

    def end_as_task(self, running_call: RunningCall) -> None:
        """Release a call that has become a task."""
        self._running.report_end(running_call, "task", None)
        self._release(running_call)
        if self._admission:
            self._slot_freed()

    def conclude(self, running_call: RunningCall, result: object) -> None:
        """Answer a call with the result of its runner."""
        binding = running_call.binding
        if running_call.over or binding is None:
            return
        try:
            ending = binding.parse_result(running_call.handler_call, result)
        except Exception as problem:  # noqa: BLE001 - an error in one call must not end the server
            ending = failures.failure_of(problem)
        self.end(running_call, ending)

    def abandon(self, running_call: RunningCall) -> None:
        """Stop a cancelled call without an answer."""
        if running_call.over:
            return
        if self._release(running_call):
            running_call.stop()
        self._running.report_end(running_call, CANCELLED, None)
        if self._admission:
            self._slot_freed()

    def expire(self, running_call: RunningCall) -> None:
        """Stop a call whose time is over, and answer it."""
        binding = running_call.binding
        expired = binding.expired if binding is not None and not running_call.open else None
        ending = failures.attempt(lambda: expired(running_call)) if expired else None
        running_call.stop()
        if ending is None:
            call = running_call.call
            reason = "the client did not answer its request within" if running_call.open else "its timeout is"
            ending = tool_error_or_failure(call, f"{call.name} was stopped: {reason} {running_call.limit:g} s")
        self.end(running_call, ending, "timeout")

    def withdraw(self, running_call: RunningCall) -> None:
        """Cancel all open client requests of a call."""
        self._running.resume(running_call, len(running_call.questions))
        running_call.questions = {}
        if not running_call.call.is_task:
            self._driver.post_effects(handshake_withdraw(running_call.handler_call))

    def _release(self, running_call: RunningCall) -> bool:
        """Release what a call holds, and abandon every call that it made; return whether it had a slot."""
        running_call.over = True
        self._running.remove(running_call)
        if running_call.account is not None:
            running_call.account.end()
        has_run = self._admission.leave(running_call)
        if running_call.questions:
            self.withdraw(running_call)
        for child in running_call.children:
            self.abandon(child)
        running_call.children = []
        return has_run
