"""Make tasks of calls, and answer requests about tasks; a task is stored before its client gets its id.

All of this runs on the main thread; the store thread runs the operations on the store.

Requests about tasks: each is one operation on the store, whose result becomes the response.

A task of another principal is reported as unknown, like one that never existed; so is a task of a tool that the
request's token does not allow, since one principal may have several tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from mcpc_runtime.interfaces import DriverInterface, RunsCalls
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol import tasks
from mcpc_runtime.protocol.client_requests.handler_requests import Questions, StateTokens, error_reply
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, Effect, Ending, Failure, FinishedResult, TaskRequest
from mcpc_runtime.protocol.jsonrpc import Json, parse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.tasks import (
    UNKNOWN,
    StaleTaskError,
    Step,
    Task,
    created_result,
    declares_tasks,
    detailed_view,
    may_see,
)
from mcpc_runtime.server.tasks.leases import Leases
from mcpc_runtime.server.tasks.open_store import open_store
from mcpc_runtime.server.tasks.owned import (
    RETRY_SECONDS,
    OwnedTasks,
    invalid_answers,
    pending_questions,
    stored_call,
)
from mcpc_runtime.server.tasks.store import (
    Problem,
    Store,
    StoredCall,
    StoreError,
    StoreFullError,
    StoreThread,
    TooSlowError,
)
from mcpc_runtime.transports.platforms import system

CLOSING_SECONDS = 1.5
NOT_STORED = "Internal error: the task cannot be stored"
IDENTIFIER_BYTES = 24
"""Random bytes in the id of a task."""


class TaskManager:
    """Makes tasks of calls, ends them, and answers requests about them."""

    def __init__(self, driver: DriverInterface, calls: RunsCalls) -> None:
        self._driver = driver
        self._reactor = driver.watch()
        self._unanswered = 0
        image = driver.image
        is_shared = driver.is_shared  # by principals that are distinguished
        self._store_thread = StoreThread(
            self._reactor, lambda: open_store(image.server_name, image.archive), is_shared=is_shared
        )
        self._owned = OwnedTasks(driver, calls, self._store_thread)
        self._leases = Leases(driver, self._store_thread, self._owned)

    @property
    def busy(self) -> bool:
        """Whether a client waits for the id of a task, or the end of one is not stored yet."""
        return self._unanswered > 0 or any(owned.ending is not None for owned in self._owned.all)

    def open(self) -> None:
        """Start looking for tasks without an owner, and for changes by other servers."""
        self._leases.open()

    def takes(self, call: Call) -> bool:
        """Make a task of a call, if its client supports tasks; its request is answered when the task is stored."""
        if not declares_tasks(call.request):
            return False
        self.open()
        self._unanswered += 1
        task = new_task(call)
        if self._owned.has_room(task.principal):
            task.owner, task.fence, task.begun = self._leases.owner, 1, True
            self._owned.places.take(task.principal)
        stored = stored_call(call)
        until = self._reactor.clock() + self._leases.safe

        def add(store: Store) -> Task:
            # By the clock of the store, which all its servers share.
            task.created = task.updated = store.now()
            task.lease = task.created + self._leases.milliseconds if task.owner else 0
            store.add(task, stored)
            return task

        def done(outcome: Task | Problem) -> None:
            self._unanswered -= 1
            if task.begun:
                self._owned.places.give_back(task.principal)  # `begin` takes it again
            if isinstance(outcome, Task):
                self._added(call, task, stored, until)
            else:
                self._not_added(call, task, outcome)

        self._store_thread.submit(add, done, task.principal)
        return True

    def _added(self, call: Call, task: Task, stored: StoredCall, until: float) -> None:
        """Answer the request whose task is stored now, and run it."""
        session: Session = call.request.session
        answers = session.finish(call, FinishedResult(created_result(task, task.created)))
        self._driver.post_effects(answers)
        if not answers:
            self._undo(task.identifier)  # the client has cancelled the request and does not know the id
        elif task.begun:
            self._owned.begin(task, stored, until)

    def _not_added(self, call: Call, task: Task, problem: Problem) -> None:
        """Answer the request whose task could not be stored."""
        session: Session = call.request.session
        self._store_thread.warn(problem)
        if isinstance(problem, StoreFullError | TooSlowError):
            self._driver.post_effects(session.finish(call, Failure(INTERNAL_ERROR, f"{NOT_STORED}: {problem}")))
        else:  # the location of the store is for the operator only
            self._driver.post_effects(session.finish(call, Failure(INTERNAL_ERROR, NOT_STORED)))
            self._undo(task.identifier)  # it may have been stored anyway

    def _undo(self, identifier: str) -> None:
        """Remove a task whose id no client knows."""

        def done(outcome: Problem | None) -> None:
            if isinstance(outcome, StoreError):
                self._reactor.after(RETRY_SECONDS, lambda: self._undo(identifier))

        self._store_thread.submit(lambda store: store.remove(identifier), done)

    def ask(self, call: Call, number: int, questions: Questions, tokens: StateTokens) -> dict[str, Json] | list[Effect]:
        """Ask the client; return the answers or an error, or no effects if the answers are delivered later."""
        owned = self._owned.of(call)
        if owned is None:
            return error_reply(INTERNAL_ERROR, "Internal error: the task has ended")
        pending = pending_questions(call, questions, tokens)
        replies = pending.answers_by_key(owned.call.answers)
        if replies is not None:
            return replies
        open_questions = {
            name: question for name, question in pending.questions.items() if name not in owned.call.answers
        }
        if not open_questions:
            return error_reply(INVALID_PARAMS, "an earlier answer under this key does not match this request")
        owned.questions[call, number] = pending
        self._owned.persist(owned, lambda task, now: tasks.request_input(task, owned.fence, open_questions, now))
        return []

    def finish(self, call: Call, ending: bytes | Failure) -> None:
        """Store the result or error of a task."""
        owned = self._owned.of(call)
        if owned is None:
            return
        error: dict[str, Json] | None = None
        result: Json = None
        if isinstance(ending, Failure):
            error = {"code": ending.code, "message": ending.message}
            if ending.data is not None:
                error["data"] = ending.data
            if ending.log:
                log_line(ending.log)
        else:
            result = parse(ending)

        def step(task: Task, now: int) -> Task:
            return tasks.finish(task, owned.fence, result, error, now)

        owned.ending = step
        self._owned.persist(owned, step)

    def close(self) -> None:
        """Release every task that runs here: another server runs it, or it ends."""
        # Made here: the store thread must not read what belongs to this one.
        last_steps = {owned.identifier: owned.ending or release_step(owned.fence) for owned in self._owned.all}

        def last(store: Store) -> None:
            for identifier, step in last_steps.items():
                with suppress(StaleTaskError):
                    store.change(identifier, step)

        self._store_thread.close(last, CLOSING_SECONDS)

    def perform(self, request: TaskRequest, done: Callable[[Ending], None]) -> None:
        """Run a request about a task; report its changes to subscribers and to the handler."""
        self.open()

        def completed(outcome: OperationResult | UnusableAnswerError | Problem) -> None:
            if isinstance(outcome, StoreError):
                self._store_thread.warn(outcome)
            elif isinstance(outcome, OperationResult) and outcome.has_changed and outcome.task is not None:
                self._owned.changed(outcome.task)
            done(operation_answer(request, outcome))

        self._store_thread.submit(operation_for(request), completed, request.request.session.principal)


def new_task(call: Call) -> Task:
    """Return a new task for a call, with the answers that the client gave before."""
    task = Task(system.urandom(IDENTIFIER_BYTES).hex(), call.request.session.principal, call.definition.name, 0)
    task.again = call.definition.again
    task.answers = {key: call.answers[key] for key, _, _ in call.definition.asks if key in call.answers}
    return task


def release_step(fence: int) -> Step:
    """Return the step by which an owner releases a task."""
    return lambda task, now: tasks.release(task, fence, now)


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
    return tasks.add_responses(task, responses, now)


STEPS: dict[str, Callable[[Task, dict[str, Json], int], Task] | None] = {
    "tasks/cancel": lambda task, _, now: tasks.cancel(task, now),
    "tasks/get": None,
    "tasks/update": update_task,
}
"""The step of each request, None if it only reads."""
