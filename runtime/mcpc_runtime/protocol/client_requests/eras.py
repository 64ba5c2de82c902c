"""Client requests of a call in both eras: sent to the client, or returned as an `input_required` result.

In the handshake era the server sends requests to the client, and the handler waits. In the stateless era the call ends
with its client requests; the client repeats it with the answers, and the call is run again from its start: a request
that has been answered is not sent a second time. So a key stands for one request, in either era.
"""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import (
    Object,
    StateTokens,
    error_reply,
    key_prefix,
    missing_capabilities,
    parse_requests,
    requests_problem,
)
from mcpc_runtime.protocol.client_requests.handshake import RequestRound, send_requests
from mcpc_runtime.protocol.client_requests.recorded_answers import find_answers, record_answers
from mcpc_runtime.protocol.client_requests.stateless import input_required
from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, Effect, Ending, Failure


def ask_client(call: Call, number: int, requests: Object, signer: StateTokens) -> Object | list[Effect] | Ending:
    """Return the answers or an error for the handler, or the requests to the client, or the end of the call."""
    problem = requests_problem(call, requests)
    if problem:
        return error_reply(INVALID_PARAMS, problem)
    questions = parse_requests(requests)
    missing = missing_capabilities(call, questions)
    if missing:
        return missing
    prefix = key_prefix(call, signer)
    recorded = find_answers(call, prefix, questions)
    if isinstance(recorded, Failure):
        return recorded
    unanswered = {key: question for key, question in questions.items() if key not in recorded}
    if not unanswered:
        return {"answers": record_answers(call, prefix, recorded)}
    record_answers(call, prefix, recorded)
    if call.request.wire.stateless:
        return input_required(call, prefix, unanswered, signer)
    round_ = RequestRound(call, number, prefix, unanswered)
    round_.answers = recorded
    return send_requests(round_, signer)
