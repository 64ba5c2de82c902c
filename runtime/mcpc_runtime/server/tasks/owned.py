"""The tasks that this server runs: each has a call, a place in the pool, and the time when its lease ends.

Storing a change of a running task is retried until it succeeds, or until another server owns the task.

The client requests of a task, and the validation of their answers.

A key identifies one question for the lifetime of the task: what was answered once is not asked again, even if the task
is run again from its beginning.

Store the call of a task, and restore it on any server with the same tools.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, SharedPool
from mcpc_runtime.interfaces import DriverInterface, RunsCalls
from mcpc_runtime.protocol import tasks
from mcpc_runtime.protocol.client_requests.handler_requests import (
    Questions,
    StateTokens,
    converted_params,
    key_prefix,
)
from mcpc_runtime.protocol.client_requests.messages import response_problem, visible_response
from mcpc_runtime.protocol.effects import Call, DeliverAnswer, StartHandler, StopHandler
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.tasks import StaleTaskError, Step, Task, status_event
from mcpc_runtime.server.tasks.store import Problem, StoredCall, StoreError, StoreThread

RETRY_SECONDS = 1.0
MAX_OWNED = 128
"""The most tasks that run here at once; others wait in the store for a server with room."""


class OwnedTask:
    """A task that runs here.

    `until`: when it must have ended unless its lease is renewed, because another server may run it then.
    `questions`: the pending questions of its handler, by call and number.  `ending`: the step that ends it.
    """

    __slots__ = ("again", "call", "ending", "fence", "identifier", "questions", "until")

    def __init__(self, task: Task, call: Call, until: float) -> None:
        self.identifier = task.identifier
        self.fence = task.fence
        self.again = task.again
        self.call = call
        self.until = until
        self.questions: dict[tuple[Call, int], PendingQuestions] = {}
        self.ending: Step | None = None

    @property
    def principal(self) -> str:
        """The principal that owns the task."""
        principal: str = self.call.request.session.principal
        return principal


class OwnedTasks:
    """The tasks of one server that it runs itself.

    `returning`: the ids of those that are returned to the store unstarted.  `begun`: called when a task is started.
    """

    def __init__(self, driver: DriverInterface, calls: RunsCalls, store_thread: StoreThread) -> None:
        self._driver = driver
        self._calls = calls
        self._store_thread = store_thread
        self._reactor = driver.watch()
        self._by_id: dict[str, OwnedTask] = {}
        self._by_request: dict[Request, OwnedTask] = {}
        is_shared = driver.is_shared  # by principals that are distinguished
        self.places = SharedPool(MAX_OWNED, TIMES_FREE if is_shared else MAX_OWNED)
        self.returning: set[str] = set()
        self.begun: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        """Return how many tasks run here."""
        return len(self._by_id)

    @property
    def all(self) -> list[OwnedTask]:
        """The tasks that run here."""
        return list(self._by_id.values())

    def by_id(self, identifier: str) -> OwnedTask | None:
        """Return the task of this id, if it runs here."""
        return self._by_id.get(identifier)

    def of(self, call: Call) -> OwnedTask | None:
        """Return the task of a call, if it still runs here."""
        return self._by_request.get(call.request)

    def has_room(self, principal: str) -> bool:
        """Tell whether one more task of a principal may run here."""
        return self.places.has_room(principal) and not self._calls.is_crowded(principal)

    def begin(self, task: Task, stored: StoredCall, until: float) -> None:
        """Run a task that this server now owns; return it to the store if its lease may have expired meanwhile."""
        if self._reactor.clock() >= until:
            self._give_back(task)
            return
        call = restore_call(self._driver.image, task, stored)
        if call is None:
            return  # this build lacks the tool; the lease expires
        owned = OwnedTask(task, call, until)
        self._by_id[owned.identifier] = self._by_request[call.request] = owned
        self.places.take(task.principal)
        self.begun()
        self._driver.post_effects([StartHandler(call)])

    def _give_back(self, task: Task) -> None:
        """Return a task to the store at once; if that fails, others may take it when its lease expires."""
        self.returning.add(task.identifier)
        fence = task.fence

        def step(task: Task, _: int) -> Task:
            return tasks.requeue(task, fence)

        def done(outcome: Task | Problem | None) -> None:
            self.returning.discard(task.identifier)
            if isinstance(outcome, StoreError):
                self._store_thread.warn(outcome)

        self._store_thread.submit(lambda store: store.change(task.identifier, step), done)

    def persist(self, owned: OwnedTask, step: Step) -> None:
        """Store a step, with retries, unless another server owns the task by then."""
        # A retry may come when the task was lost, or even runs here again.
        if self._by_id.get(owned.identifier) is not owned:
            return

        def done(outcome: Task | Problem | None) -> None:
            if isinstance(outcome, Task):
                self.changed(outcome)
            elif isinstance(outcome, StaleTaskError) or outcome is None:
                self.lose(owned)
            else:
                self._store_thread.warn(outcome)
                self._reactor.after(RETRY_SECONDS, partial(self.persist, owned, step))

        self._store_thread.submit(lambda store: store.change(owned.identifier, step), done, owned.principal)

    def changed(self, task: Task) -> None:
        """Handle a new state: notify subscribers, deliver answers to the handler, stop a task that was lost."""
        self._driver.post_effects([status_event(task, task.updated)])
        owned = self._by_id.get(task.identifier)
        if owned is not None:
            self.compare(owned, task)

    def compare(self, owned: OwnedTask, task: Task) -> None:
        """Compare a task that runs here with its stored state."""
        if task.is_finished or task.fence != owned.fence:
            self.lose(owned)
            return
        answers = owned.call.answers
        answers.update(task.answers)
        for (call, number), pending in list(owned.questions.items()):
            replies = pending.answers_by_key(answers)
            if replies is not None:
                del owned.questions[call, number]
                self._driver.post_effects([DeliverAnswer(call, number, replies)])

    def lose(self, owned: OwnedTask) -> None:
        """Forget a task, and stop its call."""
        if self._by_id.pop(owned.identifier, None) is owned:
            del self._by_request[owned.call.request]
            self.places.give_back(owned.principal)
            # With an ending its call is over already.
            if owned.ending is None:
                self._driver.post_effects([StopHandler(owned.call)])


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


def pending_questions(call: Call, questions: Questions, tokens: StateTokens) -> PendingQuestions:
    """Return the questions of a handler under the keys that the client sees."""
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


NOT_STORED = ("progressToken",)
"""Keys of a request's `_meta` that are meaningless after its response."""


def stored_call(call: Call) -> StoredCall:
    """Return the stored form of a call."""
    meta = call.request.params.get("_meta")
    stored_meta = {key: value for key, value in meta.items() if key not in NOT_STORED} if type(meta) is dict else {}
    return {"version": call.request.wire.version, "arguments": call.arguments, "meta": stored_meta}


def restore_call(image: Image, task: Task, stored: StoredCall) -> Call | None:
    """Return the call of a task, in a new session; None if this server lacks its tool."""
    tool = image.any_tool(task.tool)
    version, arguments = stored.get("version"), stored.get("arguments")
    if tool is None or version not in image.stateless_versions or type(arguments) is not dict:
        return None
    session = Session(image)
    session.principal = task.principal
    params: dict[str, Json] = {"name": task.tool, "arguments": arguments, "_meta": stored.get("meta")}
    call = Call(Request(session, task.identifier, "tools/call", params, image.revision(str(version))), tool, arguments)
    call.is_task = True
    call.answers = dict(task.answers)
    return call
