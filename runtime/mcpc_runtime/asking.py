"""What calls ask of their client: before their handler runs, and while it does.

A call that waits for a person waits longer than its own limit.  What the answer to a question is depends on the
client's era; `mcpc_runtime.protocol.asks` knows.
"""

from __future__ import annotations

from mcpc_runtime.errors import tell
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Failure, Ready
from mcpc_runtime.protocol.facts import INTERNAL_ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.effects import Call
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.work import Work

    Take = Callable[[dict[str, Json]], None]
    from mcpc_runtime.protocol import asks
    from mcpc_runtime.protocol.asks import declared, not_answered
    from mcpc_runtime.protocol.asks import resume as asks_resume
    from mcpc_runtime.protocol.asks import withdraw as asks_withdraw
    from mcpc_runtime.seals import seals as seals_seals
else:
    asks_resume = lazy("mcpc_runtime.protocol.asks:resume", "asks_resume")
    asks_withdraw = lazy("mcpc_runtime.protocol.asks:withdraw", "asks_withdraw")
    declared = lazy("mcpc_runtime.protocol.asks:declared")
    not_answered = lazy("mcpc_runtime.protocol.asks:not_answered")
    seals_seals = lazy("mcpc_runtime.seals:seals", "seals_seals")
    asks = lazy("mcpc_runtime.protocol.asks")

ASK_SECONDS = 600.0
"""How long a call may wait for a person."""
TASK_SECONDS = 86_400.0
"""How long a task may: nothing but its handler waits."""


class Asking:
    """The questions of one server's calls."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._number = 0

    @property
    def seals(self) -> Any:
        """What signs state that a client keeps for us; None if the keys that the server was given cannot do that."""
        try:
            return seals_seals()
        except ValueError as problem:
            tell(f"nobody can be asked: {problem}")
            return None

    def resume(self, call: Call) -> Failure | None:
        """Take what the client answered in earlier rounds of a call; return why that cannot be taken."""
        seals = self.seals
        refused: Failure | None = asks_resume(call, seals) if seals else unsigned()
        return refused

    def ask(self, work: Work, requests: dict[str, Json], take: Take) -> None:
        """Ask the client for what a call wants of it; `take` is called with `{"answers": …}` or `{"error": …}`."""
        call = work.call
        self._number += 1
        ask = self._dispatcher.tasks.ask if call.is_task else asks.ask
        seals = self.seals
        made = ask(call, self._number, requests, seals) if seals else unsigned()
        if isinstance(made, dict):
            take(made)
        elif isinstance(made, list):
            work.questions[self._number] = take
            self._dispatcher.wait(work, TASK_SECONDS if call.is_task else ASK_SECONDS)
            self._dispatcher.engine.effects += made
        else:
            self._dispatcher.end_whole(work, made, "input_required" if isinstance(made, Ready) else "error")

    def ask_first(self, work: Work, then: Callable[[], None]) -> None:
        """Ask what a call's definition asks before its handler is run."""

        def take(given: dict[str, Json]) -> None:
            if "error" in given:
                self._dispatcher.end(work, not_answered(work.call, given["error"]), "error")
            else:
                work.asked = True
                then()

        self.ask(work, declared(work.call), take)

    def withdraw(self, work: Work) -> None:
        """Tell the client that nobody waits for its answers any more."""
        self._dispatcher.go_on(work, len(work.questions))
        work.questions = {}
        if not work.call.is_task:
            self._dispatcher.engine.effects += asks_withdraw(work.call)


def unsigned() -> Failure:
    """Return the refusal of a server whose keys cannot be used; why is for whoever runs it."""
    return Failure(INTERNAL_ERROR, "Internal error: the server cannot sign what it asks")
