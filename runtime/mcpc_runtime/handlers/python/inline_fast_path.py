"""Fast path for inline handlers: a call that finishes quickly is never registered with the dispatcher.

A call that is slow, because its thread lost the leadership or another thread runs it, is registered then, with a time
limit and everything else.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.handlers.python.contract import FunctionResult, parse_result
from mcpc_runtime.handlers.python.inline_runner import InlineCall, InlineRunner
from mcpc_runtime.interfaces import DriverInterface
from mcpc_runtime.log.failures import attempt, finish_or_fail
from mcpc_runtime.protocol.calls import finish_with_text
from mcpc_runtime.protocol.effects import Call, Effect, Failure


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
