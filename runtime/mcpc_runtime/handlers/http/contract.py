"""The contract of requests: the runner sends a plan with a call's arguments, and returns the result of the tool."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from mcpc_runtime.handlers.contracts import ExpiredCall
from mcpc_runtime.handlers.http.curl import curl_command
from mcpc_runtime.handlers.http.paging import kept_fields
from mcpc_runtime.handlers.http.request import OutgoingRequest, RequestRefused
from mcpc_runtime.handlers.http.results import outcome_of
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.http.wire import HttpAnswer, agent_of
from mcpc_runtime.handlers.shell_words import DryRun
from mcpc_runtime.protocol.effects import ABSENT, Call, Ending, Outcome, text, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.validation_errors import error_lines
from mcpc_runtime.transports.platforms import system

GRACE = 1.0
"""The seconds after the time of a call at which its thread gives up: before, the dispatcher has stopped it."""


class RequestInvocation:
    """A request to make: its plan (see `mcpc.lower.requests`), the arguments of the call, and its end."""

    __slots__ = ("_origin", "arguments", "deadline", "plan")

    def __init__(self, call: Call) -> None:
        self.plan: dict[str, Any] = call.definition.handler[1]
        self.arguments = call.arguments
        self.deadline = monotonic() + call.seconds + GRACE
        self._origin = call.request.origin

    def client_header(self, name: str) -> str:
        """Return a header of the client's HTTP request, an empty text if there is none."""
        read = getattr(self._origin, "header", None)
        return "" if read is None else str(read(name.encode()), "latin-1")

    def refused(self, reason: str) -> Outcome:
        """Return the result of a request without an answer."""
        return text_outcome(reason, is_error=True)

    def answered(self, request: OutgoingRequest, answer: HttpAnswer, more: str, secrets: SecretTexts) -> Outcome:
        """Return the result of an answer; made in the thread of the request, for an answer may be large."""
        outcome = outcome_of(request, answer, secrets, kept_fields(self.plan, self.arguments))
        outcome.content += [text(secrets.hide(more))] if more else []
        return outcome


def build_invocation(call: Call, image: Image) -> RequestInvocation:
    """Return the request of a call."""
    return RequestInvocation(call)


def parse_result(call: Call, outcome: Outcome) -> Ending:
    """Return the result; one that does not fit the output schema is an error that has the answer."""
    schema = call.definition.output
    if schema is None or outcome.is_error:
        return outcome
    if outcome.structured is not ABSENT and schema.accepts(outcome.structured):
        return outcome
    value = outcome.structured
    problems = [] if value is ABSENT else error_lines(value, schema.errors(value))[0]
    message = "\n".join(["The answer does not have the form that the tool declares:", *problems])
    return Outcome([*outcome.content, text(message)], is_error=True)


def expired(running_call: ExpiredCall) -> Ending:
    """Return the ending of a call without an answer in time."""
    call = running_call.handler_call
    plan, seconds = call.definition.handler[1], call.seconds
    path = "".join(piece if type(piece) is str else f"{{{piece[0]}}}" for piece in plan["path"])
    return text_outcome(f"{plan['method']} {path}: no answer within {seconds:g} s", is_error=True)


def dry_run(call: Call, image: Image, stand_in: Callable[[str], str]) -> DryRun:
    """Return the command of curl that sends the request of a call."""
    names = [row[0] for row in image.index.get("settings", ())]
    values = {name: system.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape") for name in names}
    settings = {name: value for name, value in values.items() if value}
    try:
        return curl_command(call, settings, agent_of(image), stand_in)
    except RequestRefused as refused:
        return [], [f"it would not be sent: {refused}"]
