"""What clients ask about tasks: each request is one order for the clerk, and an answer made of what came of it.

A task that belongs to another principal is as unknown as one that never was, and so is one of a tool that the token of
this request does not allow: several tokens may be one principal's.
"""

from __future__ import annotations

from mcpc_runtime.protocol import course
from mcpc_runtime.protocol.course import StaleError
from mcpc_runtime.protocol.effects import Failure, Ready
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.tasks import UNKNOWN, detailed, may_see
from mcpc_runtime.tasks.questions import unfit
from mcpc_runtime.tasks.store import TooSlowError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.course import Task
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.tasks.store import Store

NOT_FOUND = "Internal error: the task cannot be looked up"


class UnfitError(Exception):
    """An answer of the client is none to what it was asked."""


class Found:
    """What came of a request: the task as it is at `now`, and whether the request changed it; no task if unknown."""

    __slots__ = ("has_changed", "now", "task")

    def __init__(self, task: Task | None, now: int, *, has_changed: bool) -> None:
        self.task = task
        self.now = now
        self.has_changed = has_changed


def order_for(call: Call) -> Callable[[Store], Found | UnfitError]:
    """Return what the clerk has to do."""
    identifier, session = str(call.request.params["taskId"]), call.request.session
    step = STEPS[call.request.method]
    given: Json = call.request.params.get("inputResponses")
    responses = given if type(given) is dict else {}

    def order(store: Store) -> Found | UnfitError:
        task = store.read(identifier)
        if task is None or not may_see(session, task.principal, task.tool):
            return Found(None, 0, has_changed=False)
        if step is None:
            return Found(task, store.now(), has_changed=False)
        try:
            return Found(store.change(identifier, lambda task, now: step(task, responses, now)), 0, has_changed=True)
        except UnfitError as problem:
            return problem
        except StaleError:  # it was over before, or nothing of this was open: that is as good as done
            return Found(task, 0, has_changed=False)

    return order


def answer_to(call: Call, outcome: Found | Exception) -> Ending:
    """Return the answer to a request."""
    if isinstance(outcome, UnfitError):
        return Failure(INVALID_PARAMS, f"Invalid params: {outcome}")
    if isinstance(outcome, Exception):
        # What else is wrong with a store may say where it is, and that is for who runs the server.
        return Failure(INTERNAL_ERROR, f"{NOT_FOUND}: {outcome}" if isinstance(outcome, TooSlowError) else NOT_FOUND)
    if outcome.task is None:
        return Failure(INVALID_PARAMS, UNKNOWN)
    shown = detailed(outcome.task, outcome.now) if STEPS[call.request.method] is None else {}
    return Ready({"resultType": "complete", **shown})


def update(task: Task, responses: dict[str, Json], now: int) -> Task:
    """Take answers, all or none."""
    problem = unfit(task, responses)
    if problem:
        raise UnfitError(problem)
    return course.update(task, responses, now)


def cancel(task: Task, _: dict[str, Json], now: int) -> Task:
    """End a task."""
    return course.cancel(task, now)


STEPS: dict[str, Callable[[Task, dict[str, Json], int], Task] | None] = {
    "tasks/cancel": cancel,
    "tasks/get": None,
    "tasks/update": update,
}
"""What each request changes."""
