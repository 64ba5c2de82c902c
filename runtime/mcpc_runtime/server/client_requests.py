"""The client requests of calls, before their handler runs and while it does.

A call that waits for a person has a longer time limit meanwhile.  How requests and answers are transmitted depends on
the client's era; `mcpc_runtime.protocol.client_requests` implements it.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.interfaces import DriverInterface
from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.protocol.client_requests import eras
from mcpc_runtime.protocol.client_requests.definitions import declared_requests, unanswered_ending
from mcpc_runtime.protocol.client_requests.stateless import resume_call as stateless_resume
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Call, Failure, FinishedResult
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.server.replicas.signed_tokens import TokenSigner
from mcpc_runtime.server.replicas.signed_tokens import token_signer as seals_seals
from mcpc_runtime.server.running_calls import RunningCall, RunningCalls
from mcpc_runtime.server.tasks.manager import TaskManager

Take = Callable[[dict[str, Json]], None]


ASK_SECONDS = 600.0
"""Time limit of a call that waits for a person."""
TASK_SECONDS = 86_400.0
"""The same for a task, for which only its handler waits."""


class ClientRequests:
    """Sends the client requests of one server's calls."""

    def __init__(self, driver: DriverInterface, running: RunningCalls, tasks: Callable[[], TaskManager]) -> None:
        self._driver = driver
        self._running = running
        self._tasks = tasks
        self._number = 0

    @property
    def token_signer(self) -> TokenSigner | None:
        """The signer of request states; None if the configured keys are invalid, which is logged."""
        try:
            return seals_seals()
        except ValueError as problem:
            log_line(f"requests to the client are disabled: {problem}")
            return None

    def take_responses(self, call: Call) -> Failure | None:
        """Add the client's answers from earlier rounds to a call; return why they are refused, or None."""
        signer = self.token_signer
        failure: Failure | None = stateless_resume(call, signer) if signer else signing_failure()
        return failure

    def ask(self, running_call: RunningCall, requests: dict[str, Json], take: Take) -> None:
        """Send client requests of a call; `take` is called with `{"answers": …}` or `{"error": …}`."""
        call = running_call.handler_call
        self._number += 1
        ask = self._tasks().ask if call.is_task else eras.ask_client
        signer = self.token_signer
        asked = ask(call, self._number, requests, signer) if signer else signing_failure()
        if isinstance(asked, dict):
            take(asked)
        elif isinstance(asked, list):
            running_call.questions[self._number] = take
            self._running.suspend(running_call, TASK_SECONDS if call.is_task else ASK_SECONDS)
            self._driver.post_effects(asked)
        else:
            status = "input_required" if isinstance(asked, FinishedResult) else "error"
            self._running.end_client_call(running_call, asked, status)

    def ask_first(self, running_call: RunningCall, then: Callable[[], None]) -> None:
        """Send the client requests of a call's definition; call `then` when they are answered."""

        def take(answers: dict[str, Json]) -> None:
            if "error" in answers:
                self._running.end(running_call, unanswered_ending(running_call.handler_call, answers["error"]), "error")
            else:
                running_call.asked = True
                then()

        self.ask(running_call, declared_requests(running_call.handler_call), take)


def signing_failure() -> Failure:
    """Return the error of a server whose keys are invalid; the reason is only in the operator's log."""
    return Failure(INTERNAL_ERROR, "Internal error: the server cannot sign its request state")
