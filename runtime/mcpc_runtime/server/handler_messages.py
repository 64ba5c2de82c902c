"""Processes the notes that handlers send while they run: progress, logs, calls, client requests, changes.

Progress and log messages are throttled here, because a handler can send them faster than clients can use them; all
other notes are processed at once.

The client requests of calls, before their handler runs and while it does.

A call that waits for a person has a longer time limit meanwhile.  How requests and answers are transmitted depends on
the client's era; `mcpc_runtime.protocol.client_requests` implements it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from mcpc_runtime.interfaces import DriverInterface, Note
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.calls import nested_call
from mcpc_runtime.protocol.client_requests import eras
from mcpc_runtime.protocol.client_requests.eras import resume_call as stateless_resume
from mcpc_runtime.protocol.client_requests.handler_requests import (
    checked_requests,
    declared_requests,
    unanswered_ending,
)
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Call, CloseStream, Effect, Ending, Failure, FinishedResult, PublishChange
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.run_time_lists import list_at_run_time
from mcpc_runtime.server.replicas.signed_tokens import TokenSigner
from mcpc_runtime.server.replicas.signed_tokens import token_signer as seals_seals
from mcpc_runtime.server.running_calls import RunningCall, RunningCalls
from mcpc_runtime.server.tasks.manager import TaskManager

LISTS = ("tools", "prompts", "resources")
PROGRESS_SECONDS = 0.05
"""The minimum interval between progress notifications of one call; of faster ones only the last is sent."""
MAX_LOGS_PER_SECOND = 1000
CHANGE_SECONDS = 0.05
"""A change is sent at once; if it repeats within this time, once more at the end of it."""
MAX_CHANGES = 1000
"""How many different changes are sent within that time."""


class HandlerMessages:
    """Processes the notes of one server's handlers."""

    def __init__(
        self,
        driver: DriverInterface,
        running: RunningCalls,
        start_nested: Callable[[RunningCall, Call, Callable[[Note], None]], None],
        client_requests: Callable[[], ClientRequests],
    ) -> None:
        self._driver = driver
        self._running = running
        self._start_nested = start_nested
        self._client_requests = client_requests
        self._second, self._logs = 0.0, 0
        self._changes: dict[tuple[str, str], bool] = {}
        self._lost = 0

    def take(self, running_call: RunningCall, note: Note) -> None:
        """Process one note of a running handler."""
        if running_call.over:
            return
        kind = next((kind for kind in NOTES if kind in note), "")
        if kind:
            NOTES[kind](self, running_call, note)
        elif self._may_log():
            # A log message does not overtake the progress that was reported before it.
            self._running.send_held_progress(running_call)
            self._driver.post_effects(running_call.call.request.session.note(running_call.call, note))

    def _alive(self, running_call: RunningCall, note: Note) -> None:
        """Extend the time of a handler that makes progress without a message."""
        self._running.extend_limit(running_call)

    def _progress(self, running_call: RunningCall, note: Note) -> None:
        """Send progress now, or hold the newest until the interval is over."""
        self._running.extend_limit(running_call)
        parent = running_call.parent
        # The client knows the call that it made only: progress of a step is progress of the whole.
        of_parent = None if parent is None else getattr(parent.runner, "progress_of_step", None)
        if parent is not None and of_parent is not None:
            self._progress(parent, of_parent(parent.job, note))
            return
        now = monotonic()
        wait = running_call.progress_sent + PROGRESS_SECONDS - now
        if wait <= 0:
            running_call.progress_sent = now
            running_call.held_progress = note
            self._running.send_held_progress(running_call)
            return
        # One timer for each interval: the note that waits then is replaced by newer ones.
        if running_call.held_progress is None:
            self._driver.watch().after(wait, lambda: self._release(running_call))
        running_call.held_progress = note

    def _release(self, running_call: RunningCall) -> None:
        if running_call.held_progress is not None and not running_call.over:
            running_call.progress_sent = monotonic()
            self._running.send_held_progress(running_call)

    def _may_log(self) -> bool:
        """Return whether one more log message may be sent to the client; the number of dropped ones is logged."""
        now = monotonic()
        if now - self._second >= 1:
            if self._logs > MAX_LOGS_PER_SECOND:
                log_line(
                    f"{self._logs - MAX_LOGS_PER_SECOND} log messages were dropped: "
                    f"more than {MAX_LOGS_PER_SECOND} in a second"
                )
            self._second, self._logs = now, 0
        self._logs += 1
        return self._logs <= MAX_LOGS_PER_SECOND and not self._driver.full

    def _call_within(self, running_call: RunningCall, note: Note) -> None:
        """Run the tool that a handler calls, and deliver its result to the handler."""

        def answer(result: Note) -> None:
            running_call.answer_note(note.get("reply"), result)

        nested = nested_call(
            running_call.call.request.session, running_call.handler_call, note["call"], note.get("arguments")
        )
        if isinstance(nested, str):
            refusal: Note = {"content": [{"type": "text", "text": nested}], "isError": True}
            self._driver.ask(lambda: answer(refusal))  # not before the runner has returned its job
        else:
            self._driver.ask(lambda: self._start_nested(running_call, nested, answer))

    def _ask_note(self, running_call: RunningCall, note: Note) -> None:
        """Send the client requests of a handler, and deliver the answers to the handler."""
        requests = note["ask"]

        def take(answers: Note) -> None:
            running_call.answer_note(note.get("reply"), answers)

        if type(requests) is dict:
            self._client_requests().ask(running_call, requests, take)

    def _withdraw(self, running_call: RunningCall, note: Note) -> None:
        """Withdraw the client requests of a handler, which does not wait for them any more."""
        if running_call.questions:
            self._running.withdraw(running_call)

    def _publish(self, running_call: RunningCall, note: Note) -> None:
        """Notify all subscribed clients that a resource or a list has changed."""
        uri, kind = note.get("updated"), note.get("changed")
        if type(uri) is not str and kind not in LISTS:
            return
        change = ("resource", uri) if type(uri) is str else (str(kind), "")
        if type(uri) is not str:
            self._make_at_run_time(change[0])
        if not self._changes:
            self._driver.watch().after(CHANGE_SECONDS, self._publish_held)
        if change in self._changes:
            self._changes[change] = True
        elif len(self._changes) < MAX_CHANGES:
            self._changes[change] = False
            self._driver.post_effects([PublishChange(*change)])
        else:
            self._lost += 1

    def _list_anew(self, running_call: RunningCall, note: Note) -> None:
        """Ask the program for a list from now on, without a notification."""
        if note["relisted"] in LISTS:
            self._make_at_run_time(note["relisted"])

    def _make_at_run_time(self, kind: str) -> None:
        """Ask the program for a list from now on, if the server has one."""
        if "record" in self._driver.image.run_time:
            list_at_run_time(self._driver.image, kind)

    def _publish_held(self) -> None:
        """Send each change that was repeated meanwhile, once."""
        held = [change for change, again in self._changes.items() if again]
        self._changes = {}
        self._driver.post_effects([PublishChange(*change) for change in held])
        if self._lost:
            log_line(f"{self._lost} change notifications were dropped: more than {MAX_CHANGES} in {CHANGE_SECONDS} s")
            self._lost = 0

    def _close_stream(self, running_call: RunningCall, note: Note) -> None:
        """Close the request's stream, so that the client reconnects for the answer."""
        seconds = note["part"]
        # By the exact type: a bool is an int to `isinstance`.
        if (type(seconds) is int or type(seconds) is float) and not running_call.call.is_task:
            self._driver.post_effects([CloseStream(running_call.call.request, seconds)])


NOTES: dict[str, Callable[[HandlerMessages, RunningCall, Note], None]] = {
    "progress": HandlerMessages._progress,
    "alive": HandlerMessages._alive,
    "call": HandlerMessages._call_within,
    "ask": HandlerMessages._ask_note,
    "updated": HandlerMessages._publish,
    "changed": HandlerMessages._publish,
    "relisted": HandlerMessages._list_anew,
    "part": HandlerMessages._close_stream,
    "withdraw": HandlerMessages._withdraw,
}
"""The handling of each kind of note but log messages, by the member that only this kind has."""


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
        # Numbers are unique in the process, so that a late answer never meets the question of another call.
        self._number += 1
        signer = self.token_signer
        asked: dict[str, Json] | list[Effect] | Ending | None = None
        if signer is None:
            asked = signing_failure()
        else:
            questions, asked = checked_requests(call, requests)
            if asked is None:
                ask = self._tasks().ask if call.is_task else eras.ask_client
                asked = ask(call, self._number, questions, signer)
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
