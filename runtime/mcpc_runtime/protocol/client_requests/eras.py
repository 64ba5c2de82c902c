"""Client requests of a call in both eras: sent to the client, or returned as an `input_required` result.

In the handshake era the server sends requests to the client, and the handler waits. In the stateless era the call ends
with its client requests; the client repeats it with the answers, and the call is run again from its start: a request
that has been answered is not sent a second time. So a key stands for one request, in either era.

Client requests in the stateless era: the call ends with them, and is run again with the answers.

Answers of earlier rounds are stored in the state that the client returns, signed for this principal and this request;
answers of the client are validated only against the requests of the current run.
"""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import (
    Object,
    Questions,
    StateTokens,
    canonical_json,
    converted_params,
    error_reply,
    key_prefix,
)
from mcpc_runtime.protocol.client_requests.messages import form_mismatch, malformed_response, visible_response
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import (
    Activity,
    Call,
    DeliverAnswer,
    Effect,
    Ending,
    Failure,
    FinishedResult,
    SendMessage,
    SessionState,
)
from mcpc_runtime.protocol.jsonrpc import Json, encode, notification_line, parse
from mcpc_runtime.protocol.purposes import token_purpose


def ask_client(call: Call, number: int, questions: Questions, signer: StateTokens) -> Object | list[Effect] | Ending:
    """Return the answers for the handler, or the requests to the client, or the end of the call."""
    prefix = key_prefix(call, signer)
    recorded = find_answers(call, prefix, questions)
    if isinstance(recorded, Failure):
        return recorded
    unanswered = {key: question for key, question in questions.items() if key not in recorded}
    if not unanswered:
        return {"answers": record_answers(call, prefix, recorded)}
    # Answers in hand are recorded now, because the next round carries them in its state.
    record_answers(call, prefix, recorded)
    if call.request.wire.stateless:
        return input_required(call, prefix, unanswered, signer)
    round_ = RequestRound(call, number, prefix, unanswered)
    round_.answers = recorded
    return send_requests(round_, signer)


class ClientAnswers(dict[str, "Json"]):
    """The client's answers by key. `kept_keys`: the keys of answers that later rounds do not request again."""

    __slots__ = ("kept_keys",)

    def __init__(self, answers: Object, kept_keys: set[str]) -> None:
        super().__init__(answers)
        self.kept_keys = kept_keys


def root_call(call: Call) -> Call:
    """Return the client's own call, of which this may be a nested one: only that call is repeated."""
    if not call.chain:
        return call
    activity: Activity | None = call.request.session.running.get(call.request.identifier)
    return activity if isinstance(activity, Call) else call


def find_answers(call: Call, prefix: str, questions: Questions) -> Object | Failure:
    """Return the recorded answers to these requests.

    An answer that does not match its form is dropped, so that it is requested again; a malformed answer is an error.
    """
    answers, fitting = root_call(call).answers, {}
    for key, (method, params) in questions.items():
        if f"{prefix}{key}" not in answers:
            continue
        answer = answers[f"{prefix}{key}"]
        problem = malformed_response(method, params, answer)
        if problem:
            message = f"Invalid params: invalid answer to `{prefix}{key}`: {problem}"
            return Failure(INVALID_PARAMS, message)
        if form_mismatch(method, params, answer):
            forget_answer(root_call(call), f"{prefix}{key}")
        else:
            fitting[key] = visible_response(method, params, answer)
    return fitting


def record_answers(call: Call, prefix: str, answers: Object) -> Object:
    """Record answers for the handler and for the next round; return them."""
    root = root_call(call)
    keyed = {f"{prefix}{key}": answer for key, answer in answers.items()}
    root.answers.update(keyed)
    call.answers.update(answers)
    if isinstance(root.answers, ClientAnswers):
        root.answers.kept_keys.update(keyed)
    return answers


def forget_answer(root: Call, key: str) -> None:
    """Remove an answer, so that it is requested again."""
    del root.answers[key]
    if isinstance(root.answers, ClientAnswers):
        root.answers.kept_keys.discard(key)


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


PURPOSE = "ask"
STATE, RESPONSES = "requestState", "inputResponses"
STATE_SECONDS = 3600.0
MAX_STATE_BYTES = 256 << 10
"""Maximum size of the answers in a state that the client stores."""


def input_required(call: Call, prefix: str, questions: Questions, signer: StateTokens) -> Ending:
    """Return the result with the client requests, and the state that the next round needs."""
    root = root_call(call)
    kept_keys = root.answers.kept_keys if isinstance(root.answers, ClientAnswers) else root.answers.keys()
    requested: list[Json] = [f"{prefix}{key}" for key in questions]
    answers: Object = {key: answer for key, answer in root.answers.items() if key in kept_keys}
    # Only answers to questions of this call: a client may send others, which nothing has validated.
    payload = encode([*state_binding(root, signer), requested, answers])
    if len(payload) > MAX_STATE_BYTES:
        message = f"Internal error: the answers so far take {len(payload)} bytes; the maximum is {MAX_STATE_BYTES}"
        return Failure(INTERNAL_ERROR, message)
    requests: Object = {
        f"{prefix}{key}": {"method": method, "params": converted_params(call, method, params, signer)}
        for key, (method, params) in questions.items()
    }
    state = signer.sign(token_purpose(PURPOSE, root.request.session.image), payload, STATE_SECONDS)
    return FinishedResult({"resultType": "input_required", "inputRequests": requests, STATE: state})


def state_binding(root: Call, signer: StateTokens) -> list[Json]:
    """Return what a state is bound to: a principal, and a request with its arguments in canonical form."""
    params = root.request.params
    # Without `_meta` and the answers, which differ from round to round.
    subject = [root.request.method, params.get("name"), params.get("uri"), params.get("arguments")]
    return [
        signer.digest(root.request.session.principal.encode("utf-8", "replace")),
        signer.digest(canonical_json(subject)),
    ]


def resume_call(call: Call, signer: StateTokens) -> Failure | None:
    """Restore the answers of earlier rounds; return a failure if they are invalid."""
    params = call.request.params
    responses = params.get(RESPONSES, {})
    if type(responses) is not dict:
        return Failure(INVALID_PARAMS, f"Invalid params: `{RESPONSES}` must be an object")
    for key, answer in responses.items():
        if type(answer) is not dict:
            return Failure(
                INVALID_PARAMS, f"Invalid params: `{RESPONSES}` must contain objects, but `{key[:64]}` is not one"
            )
    requested: list[str] = []
    answers: Object = {}
    if STATE in params:
        opened = open_state(call, params[STATE], signer)
        if isinstance(opened, str):
            return Failure(INVALID_PARAMS, f"Invalid params: `{STATE}` is not valid: {opened}")
        requested, answers = opened
    kept_keys = {*answers, *(key for key in requested if key in responses)}
    # What was signed comes last: a client cannot replace an answer that was validated.
    call.answers = ClientAnswers({**responses, **answers}, kept_keys)
    return None


def open_state(call: Call, state: Json, signer: StateTokens) -> tuple[list[str], Object] | str:
    """Return the keys requested in the last round and the answers of earlier ones; or why the state is refused."""
    # Twice, because a token is base64 of its payload, with a signature.
    if type(state) is not str or len(state) > 2 * MAX_STATE_BYTES:
        return "it must be a string issued by this server"
    payload = signer.verify(token_purpose(PURPOSE, call.request.session.image), state)
    if isinstance(payload, str):
        return payload
    fields = parse(payload)
    principal, subject, requested, answers = fields if type(fields) is list else [None] * 4
    own_principal, own_subject = state_binding(call, signer)
    if principal != own_principal:
        return "it belongs to another client"
    if subject != own_subject:
        return "it belongs to another request"
    names = [key for key in requested if type(key) is str] if type(requested) is list else []
    return names, answers if type(answers) is dict else {}
