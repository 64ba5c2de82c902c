"""The tasks of one server, and what is asked about tasks: each is kept before anybody hears of it.

Everything here happens in the thread that serves; what a store does, the clerk does.
"""

from __future__ import annotations

import posix
from contextlib import suppress
from time import monotonic

from mcpc_runtime.operator_log import log_line
from mcpc_runtime.protocol import task_state
from mcpc_runtime.protocol.client_requests.handler_requests import error_reply
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Failure, FinishedResult
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.protocol.task_state import StaleTaskError, Task
from mcpc_runtime.protocol.tasks import created_result, declares_tasks
from mcpc_runtime.tasks.calls import kept_of
from mcpc_runtime.tasks.clerk import StoreThread
from mcpc_runtime.tasks.leases import Leases
from mcpc_runtime.tasks.owned import RETRY_SECONDS, OwnedTasks
from mcpc_runtime.tasks.places import open_store
from mcpc_runtime.tasks.questions import PendingQuestions, asked
from mcpc_runtime.tasks.requests import OperationResult, UnusableAnswerError, answer_to, order_for
from mcpc_runtime.tasks.store import StoreError, StoreFullError, TooSlowError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.interfaces import DriverInterface
    from mcpc_runtime.protocol.client_requests.handler_requests import StateTokens
    from mcpc_runtime.protocol.effects import Call, Effect, Ending, TaskRequest
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.protocol.task_state import Step
    from mcpc_runtime.tasks.clerk import Problem
    from mcpc_runtime.tasks.owned import TaskCalls
    from mcpc_runtime.tasks.store import Kept, Store

CLOSING_SECONDS = 1.5
NOT_KEPT = "Internal error: the task cannot be stored"
DIGITS = 24
"""Bytes of chance in the id of a task."""


class TaskManager:
    """Makes tasks of calls, ends them, and answers requests about them."""

    def __init__(self, driver: DriverInterface, calls: TaskCalls) -> None:
        self._driver = driver
        self._reactor = driver.watch()
        self._unanswered = 0
        image = driver.image
        is_shared = driver.is_shared  # by principals that are known apart
        self._clerk = StoreThread(
            self._reactor, lambda: open_store(image.server_name, image.archive), is_shared=is_shared
        )
        self._owned = OwnedTasks(driver, calls, self._clerk)
        self._leases = Leases(driver, self._clerk, self._owned)

    @property
    def busy(self) -> bool:
        """Whether somebody waits for the answer that names a task, or the end of one is not kept yet."""
        return self._unanswered > 0 or any(own.ending is not None for own in self._owned.all)

    def open(self) -> None:
        """Look from now on for tasks that nobody runs, and for what others do with tasks."""
        self._leases.open()

    def takes(self, call: Call) -> bool:
        """Make a task of a call, if its client knows tasks; its request is answered when the task is kept."""
        if not declares_tasks(call.request):
            return False
        self.open()
        self._unanswered += 1
        task = task_of(call)
        if self._owned.has_room(task.principal):
            task.owner, task.fence, task.begun = self._leases.owner, 1, True
            self._owned.places.take(task.principal)
        kept = kept_of(call)
        until = monotonic() + self._leases.safe

        def order(store: Store) -> Task:
            task.created = task.updated = store.now()
            task.lease = task.created + self._leases.milliseconds if task.owner else 0
            store.add(task, kept)
            return task

        def done(outcome: Task | Problem) -> None:
            self._unanswered -= 1
            if task.begun:
                self._owned.places.give_back(task.principal)  # `begin` takes it again
            if isinstance(outcome, Task):
                self._added(call, task, kept, until)
            else:
                self._not_added(call, task, outcome)

        self._clerk.submit(order, done, task.principal)
        return True

    def _added(self, call: Call, task: Task, kept: Kept, until: float) -> None:
        """Answer the request whose task is kept now, and run it."""
        session: Session = call.request.session
        answers = session.finish(call, FinishedResult(created_result(task, task.created)))
        self._driver.post_effects(answers)
        if not answers:
            self._undo(task.identifier)  # nobody waits for it any more, and nobody knows its name
        elif task.begun:
            self._owned.begin(task, kept, until)

    def _not_added(self, call: Call, task: Task, problem: Problem) -> None:
        """Answer the request whose task could not be kept."""
        session: Session = call.request.session
        self._clerk.warn(problem)
        if isinstance(problem, StoreFullError | TooSlowError):
            self._driver.post_effects(session.finish(call, Failure(INTERNAL_ERROR, f"{NOT_KEPT}: {problem}")))
        else:  # where the store is, is for who runs the server
            self._driver.post_effects(session.finish(call, Failure(INTERNAL_ERROR, NOT_KEPT)))
            self._undo(task.identifier)  # it may be there all the same

    def _undo(self, identifier: str) -> None:
        """Have a task be forgotten that nobody will ever ask for."""

        def done(outcome: Problem | None) -> None:
            if isinstance(outcome, StoreError):
                self._reactor.after(RETRY_SECONDS, lambda: self._undo(identifier))

        self._clerk.submit(lambda store: store.remove(identifier), done)

    def ask(
        self, call: Call, number: int, requests: dict[str, Json], seals: StateTokens
    ) -> dict[str, Json] | list[Effect]:
        """Ask the client; return the answers or what is wrong, else nothing: the answers are given when they come."""
        own = self._owned.of(call)
        if own is None:
            return error_reply(INTERNAL_ERROR, "Internal error: the task has ended")
        put = asked(call, requests, seals)
        if not isinstance(put, PendingQuestions):
            return put
        found = put.answered(own.call.answers)
        if found is not None:
            return found
        still = {name: one for name, one in put.questions.items() if name not in own.call.answers}
        if not still:
            return error_reply(INVALID_PARAMS, "an earlier answer under this key does not match this request")
        own.questions[call, number] = put
        self._owned.persist(own, lambda task, now: task_state.request_input(task, own.fence, still, now))
        return []

    def finish(self, call: Call, made: bytes | Failure) -> None:
        """Keep what became of a task."""
        own = self._owned.of(call)
        if own is None:
            return
        error: dict[str, Json] | None = None
        result: Json = None
        if isinstance(made, Failure):
            error = {"code": made.code, "message": made.message}
            if made.data is not None:
                error["data"] = made.data
            if made.log:
                log_line(made.log)
        else:
            result = parse(made)

        def step(task: Task, now: int) -> Task:
            return task_state.finish(task, own.fence, result, error, now)

        own.ending = step
        self._owned.persist(own, step)

    def close(self) -> None:
        """Let go of every task that runs here: another server begins it, or it ends."""
        last_steps = {own.identifier: own.ending or releasing(own.fence) for own in self._owned.all}

        def last(store: Store) -> None:
            for identifier, step in last_steps.items():
                with suppress(StaleTaskError):
                    store.change(identifier, step)

        self._clerk.close(last, CLOSING_SECONDS)

    def perform(self, asked: TaskRequest, done: Callable[[Ending], None]) -> None:
        """Do what a request about a task wants; what it changed is told to whom it concerns."""
        self.open()

        def came(outcome: OperationResult | UnusableAnswerError | Problem) -> None:
            if isinstance(outcome, StoreError):
                self._clerk.warn(outcome)
            elif isinstance(outcome, OperationResult) and outcome.has_changed and outcome.task is not None:
                self._owned.changed(outcome.task)
            done(answer_to(asked, outcome))

        self._clerk.submit(order_for(asked), came, asked.request.session.principal)


def task_of(call: Call) -> Task:
    """Return a new task for a call, with what was answered before it became one."""
    task = Task(posix.urandom(DIGITS).hex(), call.request.session.principal, call.definition.name, 0)
    task.again = call.definition.again
    task.answers = {key: call.answers[key] for key, _, _ in call.definition.asks if key in call.answers}
    return task


def releasing(fence: int) -> Step:
    """Return the step by which an owner lets go of a task."""
    return lambda task, now: task_state.release(task, fence, now)
