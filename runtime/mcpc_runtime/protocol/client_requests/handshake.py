"""Client requests in the handshake era: they are sent to the client, and the handler waits for the responses."""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import (
    Object,
    Questions,
    StateTokens,
    converted_params,
    error_reply,
)
from mcpc_runtime.protocol.client_requests.recorded_answers import record_answers
from mcpc_runtime.protocol.client_requests.responses import form_mismatch, malformed_response, visible_response
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, DeliverAnswer, Effect, SendMessage
from mcpc_runtime.protocol.jsonrpc import Json, encode, notification_line
from mcpc_runtime.protocol.session_state import SessionState


class RequestRound:
    """Client requests that were sent together in the handshake era; `open` maps their ids to keys."""

    __slots__ = ("answers", "call", "number", "open", "prefix", "questions")

    def __init__(self, call: Call, number: int, prefix: str, questions: Questions) -> None:
        self.call = call
        self.number = number
        self.prefix = prefix
        self.questions = questions
        self.open: dict[str, str] = {}
        self.answers: Object = {}


def send_requests(round_: RequestRound, signer: StateTokens) -> list[Effect]:
    """Return the requests to the client, all at once."""
    call = round_.call
    effects: list[Effect] = []
    session = call.request.session
    for key, (method, params) in round_.questions.items():
        identifier = f"mcpc-{signer.unique()}"
        round_.open[identifier] = key
        session.asked[identifier] = round_
        line = request_line(identifier, method, converted_params(call, method, params, signer))
        effects.append(SendMessage(line, session, call.request))
    return effects


def request_line(identifier: str, method: str, params: Object) -> bytes:
    """Return a request line."""
    parts = encode(identifier), encode(method), encode(params)
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}\n' % parts


def take_response(session: SessionState, message: Object) -> list[Effect]:
    """Handle a response of the client; a response to no open request is ignored."""
    identifier = message.get("id")
    round_: RequestRound | None = session.asked.pop(identifier, None) if type(identifier) is str else None
    if round_ is None or type(identifier) is not str:
        return []
    key = round_.open.pop(identifier)
    method, params = round_.questions[key]
    error = client_error(message["error"]) if "error" in message else None
    if error is None:
        answer = message["result"]
        problem = malformed_response(method, params, answer) or form_mismatch(method, params, answer)
        error = error_reply(INVALID_PARAMS, f"invalid answer of the client to `{key}`: {problem}") if problem else None
        if not problem:
            round_.answers[key] = visible_response(method, params, answer)
    if error is not None:
        return [*cancel_round(session, round_), DeliverAnswer(round_.call, round_.number, error)]
    if round_.open:
        return []
    answers = record_answers(round_.call, round_.prefix, round_.answers)
    return [DeliverAnswer(round_.call, round_.number, {"answers": answers})]


def client_error(error: Json) -> Object:
    """Return the client's error in the form that its handler receives."""
    details: Object = error if type(error) is dict else {}
    code, message = details.get("code"), details.get("message")
    reason = message if type(message) is str and message else "no reason given"
    return error_reply(
        code if type(code) is int else INTERNAL_ERROR, f"The client did not answer: {reason}", details.get("data")
    )


def cancel_round(session: SessionState, round_: RequestRound) -> list[Effect]:
    """Return the notifications that cancel a round's open requests."""
    effects: list[Effect] = []
    for identifier in round_.open:
        session.asked.pop(identifier, None)
        params: Json = {"requestId": identifier, "reason": "the answer is no longer needed"}
        effects.append(SendMessage(notification_line("notifications/cancelled", params), session, round_.call.request))
    round_.open = {}
    return effects


def withdraw_requests(call: Call) -> list[Effect]:
    """Return the notifications that cancel all open client requests of a call."""
    session = call.request.session
    rounds = dict.fromkeys(round_ for round_ in session.asked.values() if round_.call is call)
    return [effect for round_ in rounds for effect in cancel_round(session, round_)]
