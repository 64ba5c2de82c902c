"""The client requests of a task, and the validation of their answers.

A key identifies one question for the lifetime of the task: what was answered once is not asked again, even if the task
is run again from its beginning.
"""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import (
    StateTokens,
    converted_params,
    error_reply,
    key_prefix,
    missing_capabilities,
    parse_requests,
    requests_problem,
)
from mcpc_runtime.protocol.client_requests.responses import response_problem, visible_response
from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.task_state import Task

Object = dict[str, Json]


class PendingQuestions:
    """Questions that were asked together, as the client sees them, by their names in the task.

    `keys`: the handler's keys, by the same names.
    """

    __slots__ = ("keys", "questions")

    def __init__(self, keys: dict[str, str], questions: Object) -> None:
        self.keys = keys
        self.questions = questions

    def answers_by_key(self, answers: Object) -> Object | None:
        """Return the answers by the handler's keys, None if one is missing or invalid."""
        visible: Object = {}
        for name, key in self.keys.items():
            method, params = method_and_params(self.questions[name])
            if name not in answers or response_problem(method, params, answers[name]):
                return None
            visible[key] = visible_response(method, params, answers[name])
        return {"answers": visible}


def prepare_questions(call: Call, requests: Object, tokens: StateTokens) -> PendingQuestions | Object:
    """Return the questions of a handler, or the error result if they cannot be asked."""
    problem = requests_problem(call, requests)
    if problem:
        return error_reply(INVALID_PARAMS, problem)
    questions = parse_requests(requests)
    lacking = missing_capabilities(call, questions)
    if lacking:
        return lacking
    prefix = key_prefix(call, tokens)
    requested: Object = {
        f"{prefix}{key}": {"method": method, "params": converted_params(call, method, params, tokens)}
        for key, (method, params) in questions.items()
    }
    return PendingQuestions({f"{prefix}{key}": key for key in questions}, requested)


def method_and_params(question: Json) -> tuple[str, Object]:
    """Return the method and the params of a question."""
    method, params = (question["method"], question["params"]) if type(question) is dict else ("", {})
    return str(method), params if type(params) is dict else {}


def invalid_answers(task: Task, responses: Object) -> str:
    """Return what is wrong with the answers to a task's questions, or nothing; other answers are ignored."""
    for name, answer in responses.items():
        question = task.requests.get(name)
        problem = "" if question is None else response_problem(*method_and_params(question), answer)
        if problem:
            return f"the answer to `{name}` cannot be used: {problem}"
    return ""
