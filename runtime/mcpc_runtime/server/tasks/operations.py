"""Requests about tasks: each is one operation on the store, whose result becomes the response.

A task of another principal is reported as unknown, like one that never existed; so is a task of a tool that the
request's token does not allow, since one principal may have several tokens.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.protocol import task_state
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Ending, Failure, FinishedResult, TaskRequest
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.task_state import StaleTaskError, Task
from mcpc_runtime.protocol.tasks import UNKNOWN, detailed_view, may_see
from mcpc_runtime.server.tasks.client_requests import invalid_answers
from mcpc_runtime.server.tasks.store import Store, TooSlowError

NOT_FOUND = "Internal error: the task cannot be read"


class UnusableAnswerError(Exception):
    """An answer of the client is invalid for its question."""


class OperationResult:
    """The result of a request: the task at `now`, None if unknown, and whether the request changed it."""

    __slots__ = ("has_changed", "now", "task")

    def __init__(self, task: Task | None, now: int, *, has_changed: bool) -> None:
        self.task = task
        self.now = now
        self.has_changed = has_changed


def operation_for(request: TaskRequest) -> Callable[[Store], OperationResult | UnusableAnswerError]:
    """Return the operation on the store for a request."""
    params, session = request.request.params, request.request.session
    identifier, step = str(params["taskId"]), STEPS[request.name]
    responses: Json = params.get("inputResponses")
    responses = responses if type(responses) is dict else {}

    def operation(store: Store) -> OperationResult | UnusableAnswerError:
        task = store.read(identifier)
        if task is None or not may_see(session, task.principal, task.tool):
            return OperationResult(None, 0, has_changed=False)
        if step is None:
            return OperationResult(task, store.now(), has_changed=False)
        try:
            return OperationResult(
                store.change(identifier, lambda task, now: step(task, responses, now)), 0, has_changed=True
            )
        except UnusableAnswerError as problem:
            return problem
        except StaleTaskError:  # it had ended, or had no such open question: the request has no effect
            return OperationResult(task, 0, has_changed=False)

    return operation


def operation_answer(request: TaskRequest, outcome: OperationResult | Exception) -> Ending:
    """Return the result of a request."""
    if isinstance(outcome, UnusableAnswerError):
        return Failure(INVALID_PARAMS, f"Invalid params: {outcome}")
    if isinstance(outcome, Exception):
        # Other messages may contain the location of the store, which is for the operator only.
        return Failure(INTERNAL_ERROR, f"{NOT_FOUND}: {outcome}" if isinstance(outcome, TooSlowError) else NOT_FOUND)
    if outcome.task is None:
        return Failure(INVALID_PARAMS, UNKNOWN)
    details = detailed_view(outcome.task, outcome.now) if STEPS[request.name] is None else {}
    return FinishedResult({"resultType": "complete", **details})


def update_task(task: Task, responses: dict[str, Json], now: int) -> Task:
    """Store all answers, or none if one is invalid."""
    problem = invalid_answers(task, responses)
    if problem:
        raise UnusableAnswerError(problem)
    return task_state.add_responses(task, responses, now)


STEPS: dict[str, Callable[[Task, dict[str, Json], int], Task] | None] = {
    "tasks/cancel": lambda task, _, now: task_state.cancel(task, now),
    "tasks/get": None,
    "tasks/update": update_task,
}
"""The step of each request, None if it only reads."""
