"""What clients ask about tasks: each request is one order for the clerk, and an answer made of what came of it.

A task that belongs to another principal is as unknown as one that never was, and so is one of a tool that the token of
this request does not allow: several tokens may be one principal's.
"""

from __future__ import annotations

from mcpc_runtime.protocol import task_state
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Failure, FinishedResult
from mcpc_runtime.protocol.task_state import StaleTaskError
from mcpc_runtime.protocol.tasks import UNKNOWN, detailed_view, may_see
from mcpc_runtime.tasks.questions import unfit
from mcpc_runtime.tasks.store import TooSlowError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.effects import Ending, TaskRequest
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.task_state import Task
    from mcpc_runtime.tasks.store import Store

NOT_FOUND = "Internal error: the task cannot be read"


class UnusableAnswerError(Exception):
    """An answer of the client is none to what it was asked."""


class OperationResult:
    """What came of a request: the task as it is at `now`, and whether the request changed it; no task if unknown."""

    __slots__ = ("has_changed", "now", "task")

    def __init__(self, task: Task | None, now: int, *, has_changed: bool) -> None:
        self.task = task
        self.now = now
        self.has_changed = has_changed


def order_for(asked: TaskRequest) -> Callable[[Store], OperationResult | UnusableAnswerError]:
    """Return what the clerk has to do."""
    params, session = asked.request.params, asked.request.session
    identifier, step = str(params["taskId"]), STEPS[asked.name]
    given: Json = params.get("inputResponses")
    responses = given if type(given) is dict else {}

    def order(store: Store) -> OperationResult | UnusableAnswerError:
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
        except StaleTaskError:  # it was over before, or nothing of this was open: that is as good as done
            return OperationResult(task, 0, has_changed=False)

    return order


def answer_to(asked: TaskRequest, outcome: OperationResult | Exception) -> Ending:
    """Return the answer to a request."""
    if isinstance(outcome, UnusableAnswerError):
        return Failure(INVALID_PARAMS, f"Invalid params: {outcome}")
    if isinstance(outcome, Exception):
        # What else is wrong with a store may say where it is, and that is for who runs the server.
        return Failure(INTERNAL_ERROR, f"{NOT_FOUND}: {outcome}" if isinstance(outcome, TooSlowError) else NOT_FOUND)
    if outcome.task is None:
        return Failure(INVALID_PARAMS, UNKNOWN)
    shown = detailed_view(outcome.task, outcome.now) if STEPS[asked.name] is None else {}
    return FinishedResult({"resultType": "complete", **shown})


def update(task: Task, responses: dict[str, Json], now: int) -> Task:
    """Take answers, all or none."""
    problem = unfit(task, responses)
    if problem:
        raise UnusableAnswerError(problem)
    return task_state.add_responses(task, responses, now)


def cancel(task: Task, _: dict[str, Json], now: int) -> Task:
    """End a task."""
    return task_state.cancel(task, now)


STEPS: dict[str, Callable[[Task, dict[str, Json], int], Task] | None] = {
    "tasks/cancel": cancel,
    "tasks/get": None,
    "tasks/update": update,
}
"""What each request changes."""
