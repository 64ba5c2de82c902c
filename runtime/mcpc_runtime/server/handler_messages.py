"""Processes the notes that handlers send while they run: progress, logs, calls, client requests, changes.

Progress and log messages are throttled here, because a handler can send them faster than clients can use them; all
other notes are processed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from mcpc_runtime.interfaces import DriverInterface, Note
from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.protocol.calls import nested_call
from mcpc_runtime.protocol.effects import Call, CloseStream, PublishChange
from mcpc_runtime.protocol.run_time_lists import list_at_run_time
from mcpc_runtime.server.client_requests import ClientRequests
from mcpc_runtime.server.running_calls import RunningCall, RunningCalls

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
            self._running.send_held_progress(running_call)
            self._driver.post_effects(running_call.call.request.session.note(running_call.call, note))

    def _alive(self, running_call: RunningCall, note: Note) -> None:
        """Extend the time of a handler that makes progress without a message."""
        self._running.extend_limit(running_call)

    def _progress(self, running_call: RunningCall, note: Note) -> None:
        """Send progress now, or hold the newest until the interval is over."""
        self._running.extend_limit(running_call)
        now = monotonic()
        wait = running_call.progress_sent + PROGRESS_SECONDS - now
        if wait <= 0:
            running_call.progress_sent = now
            running_call.held_progress = note
            self._running.send_held_progress(running_call)
            return
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
            answer({"content": [{"type": "text", "text": nested}], "isError": True})
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
