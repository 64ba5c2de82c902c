"""What calls ask of their client: before their handler runs, and while it does.

A call that waits for a person waits longer than its own limit.  What the answer to a question is depends on the
client's era; `mcpc_runtime.protocol.asks` knows.
"""

from __future__ import annotations

from mcpc_runtime.errors import tell
from mcpc_runtime.protocol.effects import Failure, Ready
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.effects import Call
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.work import Work

    Take = Callable[[dict[str, Json]], None]

ASK = "mcpc_runtime.protocol.asks:ask"
DECLARED = "mcpc_runtime.protocol.asks:declared"
NOT_ANSWERED = "mcpc_runtime.protocol.asks:not_answered"
RESUME = "mcpc_runtime.protocol.asks:resume"
WITHDRAW = "mcpc_runtime.protocol.asks:withdraw"
SEALS = "mcpc_runtime.seals:seals"
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
            return resolve(SEALS)()
        except ValueError as problem:
            tell(f"nobody can be asked: {problem}")
            return None

    def resume(self, call: Call) -> Failure | None:
        """Take what the client answered in earlier rounds of a call; return why that cannot be taken."""
        seals = self.seals
        refused: Failure | None = resolve(RESUME)(call, seals) if seals else unsigned()
        return refused

    def ask(self, work: Work, requests: dict[str, Json], take: Take) -> None:
        """Ask the client for what a call wants of it; `take` is called with `{"answers": …}` or `{"error": …}`."""
        call = work.call
        self._number += 1
        ask = self._dispatcher.tasks.ask if call.is_task else resolve(ASK)
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
                self._dispatcher.end(work, resolve(NOT_ANSWERED)(work.call, given["error"]), "error")
            else:
                work.asked = True
                then()

        self.ask(work, resolve(DECLARED)(work.call), take)

    def withdraw(self, work: Work) -> None:
        """Tell the client that nobody waits for its answers any more."""
        self._dispatcher.go_on(work, len(work.questions))
        work.questions = {}
        if not work.call.is_task:
            self._dispatcher.engine.effects += resolve(WITHDRAW)(work.call)


def unsigned() -> Failure:
    """Return the refusal of a server whose keys cannot be used; why is for whoever runs it."""
    return Failure(INTERNAL_ERROR, "Internal error: the server cannot sign what it asks")
