"""Inline handlers by the shortest way: of a call that is quick nothing is kept, and nothing has to be removed after it.

Only when one turns out to be slow, because its thread lost the turn or was not given it, does it become a task of the
dispatcher's, with a limit and all else; by then what a task costs does not matter.
"""

from __future__ import annotations

from mcpc_runtime.contracts.python import conclude
from mcpc_runtime.protocol.calls import finish_text
from mcpc_runtime.protocol.effects import internal_error
from mcpc_runtime.runners.inline import InlineCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Returned
    from mcpc_runtime.interfaces import Driver
    from mcpc_runtime.protocol.effects import Call, Effect
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.runners.inline import InlineRunner


class Straight:
    """Runs inline handlers that want nothing but their arguments."""

    def __init__(self, engine: Driver, runner: InlineRunner, adopt: Callable[[Call, InlineCall], None]) -> None:
        self._engine = engine
        self._runner = runner
        self._adopt = adopt
        self._current: tuple[Call, InlineCall] | None = None

    def start(self, call: Call) -> None:
        """Call the handler; Deposed passes through if that took long, and another thread serves by then."""
        made = InlineCall(self._runner, call.definition.handler, call.arguments)
        self._current = call, made
        if not self._runner.run(made, call.definition.inline):
            self.adopt()
            return
        self._current = None
        self._engine.effects += self._answer(call, made.returned)

    def adopt(self) -> None:
        """Give the call whose handler still runs to the dispatcher."""
        if self._current is not None:
            call, made = self._current
            self._current = None
            self._adopt(call, made)

    def _answer(self, call: Call, returned: Returned) -> list[Effect]:
        value: Any = returned.value
        session: Session = call.request.session
        try:
            if type(value) is str and not returned.problem and call.definition.output is None:
                return finish_text(session, call, value)
            return session.finish(call, conclude(call, returned))
        except Exception as problem:  # noqa: BLE001 - as everywhere: what goes wrong is this request's own error
            return session.finish(call, internal_error(problem))
