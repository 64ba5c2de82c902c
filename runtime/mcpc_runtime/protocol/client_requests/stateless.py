"""Client requests in the stateless era: the call ends with them, and is run again with the answers.

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
)
from mcpc_runtime.protocol.client_requests.recorded_answers import ClientAnswers, root_call
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, Ending, Failure, FinishedResult
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse
from mcpc_runtime.protocol.purposes import token_purpose

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
    call.answers = ClientAnswers({**responses, **answers}, kept_keys)
    return None


def open_state(call: Call, state: Json, signer: StateTokens) -> tuple[list[str], Object] | str:
    """Return the keys requested in the last round and the answers of earlier ones; or why the state is refused."""
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
