"""The client's answers that a call has recorded: they are not requested again, and checked at each use."""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import Object, Questions
from mcpc_runtime.protocol.client_requests.responses import form_mismatch, malformed_response, visible_response
from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Activity, Call, Failure
from mcpc_runtime.protocol.jsonrpc import Json


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
