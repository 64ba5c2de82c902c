"""What a task asks its client, and which answers it takes: the same questions as those of any other call.

A key stands for one question as long as the task lives, so what was answered once is not asked again, not even of a
task that began again from its beginning.
"""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import (
    converted_params,
    error_reply,
    key_prefix,
    missing_capabilities,
    parse_requests,
    requests_problem,
)
from mcpc_runtime.protocol.client_requests.responses import response_problem, visible_response
from mcpc_runtime.protocol.constants import INVALID_PARAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.client_requests.handler_requests import StateTokens
    from mcpc_runtime.protocol.effects import Call
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.task_state import Task

    Object = dict[str, Json]


class PendingQuestions:
    """Questions that were put at once: each as the client sees it, by its name in the task; `keys`: the handler's."""

    __slots__ = ("keys", "questions")

    def __init__(self, keys: dict[str, str], questions: Object) -> None:
        self.keys = keys
        self.questions = questions

    def answered(self, answers: Object) -> Object | None:
        """Return the answers by the handler's keys, None if one is missing or does not fit."""
        if not all(name in answers and fits(self.questions[name], answers[name]) for name in self.keys):
            return None
        return {"answers": {key: told(self.questions[name], answers[name]) for name, key in self.keys.items()}}


def asked(call: Call, requests: Object, seals: StateTokens) -> PendingQuestions | Object:
    """Return what a handler asks, or the error that it is given because that cannot be asked."""
    problem = requests_problem(call, requests)
    if problem:
        return error_reply(INVALID_PARAMS, problem)
    questions = parse_requests(requests)
    lacking = missing_capabilities(call, questions)
    if lacking:
        return lacking
    prefix = key_prefix(call, seals)
    found: Object = {
        f"{prefix}{key}": {"method": method, "params": converted_params(call, method, params, seals)}
        for key, (method, params) in questions.items()
    }
    return PendingQuestions({f"{prefix}{key}": key for key in questions}, found)


def parts(question: Json) -> tuple[str, Object]:
    """Return the method and the params of a question."""
    method, params = (question["method"], question["params"]) if type(question) is dict else ("", {})
    return str(method), params if type(params) is dict else {}


def fits(question: Json, answer: Json) -> bool:
    """Tell whether an answer is one to this question."""
    return not response_problem(*parts(question), answer)


def told(question: Json, answer: Json) -> Json:
    """Return what the handler sees of an answer to this question."""
    return visible_response(*parts(question), answer)


def unfit(task: Task, responses: Object) -> str:
    """Return what is wrong with the answers to what a task has asked, or nothing; others are passed over."""
    for name, answer in responses.items():
        question = task.requests.get(name)
        problem = "" if question is None else response_problem(*parts(question), answer)
        if problem:
            return f"the answer to `{name}` cannot be used: {problem}"
    return ""
