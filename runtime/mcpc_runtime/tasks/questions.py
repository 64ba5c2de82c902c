"""What a task asks its client, and which answers it takes: the same questions as those of any other call.

A key stands for one question as long as the task lives, so what was answered once is not asked again, not even of a
task that began again from its beginning.
"""

from __future__ import annotations

from mcpc_runtime.protocol.answers import complaint, seen
from mcpc_runtime.protocol.asks import failed, missing, prefix_of, shown, wrong
from mcpc_runtime.protocol.facts import INVALID_PARAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.protocol.course import Task
    from mcpc_runtime.protocol.effects import Call
    from mcpc_runtime.protocol.jsonrpc import Json

    Object = dict[str, Json]


class Asked:
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


def asked(call: Call, requests: Object, seals: Any) -> Asked | Object:
    """Return what a handler asks, or the error that it is given because that cannot be asked."""
    problem = wrong(call, requests)
    if problem:
        return failed(INVALID_PARAMS, problem)
    questions: Any = {key: (one["method"], one.get("params", {})) for key, one in requests.items()}  # type: ignore[index,union-attr,call-overload]
    lacking = missing(call, questions)
    if lacking:
        return lacking
    prefix = prefix_of(call, seals)
    found: Object = {
        f"{prefix}{key}": {"method": method, "params": shown(call, method, params, seals)}
        for key, (method, params) in questions.items()
    }
    return Asked({f"{prefix}{key}": key for key in questions}, found)


def fits(question: Any, answer: Json) -> bool:
    """Tell whether an answer is one to this question."""
    return not complaint(question["method"], question["params"], answer)


def told(question: Any, answer: Json) -> Json:
    """Return what the handler sees of an answer to this question."""
    return seen(question["method"], question["params"], answer)


def unfit(task: Task, responses: Object) -> str:
    """Return what is wrong with the answers to what a task has asked, or nothing; others are passed over."""
    for name, answer in responses.items():
        question: Any = task.requests.get(name)
        problem = "" if question is None else complaint(question["method"], question["params"], answer)
        if problem:
            return f"the answer to `{name}` cannot be used: {problem}"
    return ""
