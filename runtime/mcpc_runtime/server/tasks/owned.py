"""The tasks that this server runs: each has a call, a place in the pool, and the time when its lease ends.

Storing a change of a running task is retried until it succeeds, or until another server owns the task.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, SharedPool
from mcpc_runtime.interfaces import DriverInterface, RunsCalls
from mcpc_runtime.protocol import task_state
from mcpc_runtime.protocol.effects import Call, DeliverAnswer, Request, StartHandler, StopHandler
from mcpc_runtime.protocol.task_state import StaleTaskError, Step, Task
from mcpc_runtime.protocol.tasks import status_event
from mcpc_runtime.server.tasks.client_requests import PendingQuestions
from mcpc_runtime.server.tasks.replay import restore_call
from mcpc_runtime.server.tasks.store import StoredCall, StoreError
from mcpc_runtime.server.tasks.store_thread import Problem, StoreThread

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
            return task_state.requeue(task, fence)

        def done(outcome: Task | Problem | None) -> None:
            self.returning.discard(task.identifier)
            if isinstance(outcome, StoreError):
                self._store_thread.warn(outcome)

        self._store_thread.submit(lambda store: store.change(task.identifier, step), done)

    def persist(self, owned: OwnedTask, step: Step) -> None:
        """Store a step, with retries, unless another server owns the task by then."""
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
            if owned.ending is None:
                self._driver.post_effects([StopHandler(owned.call)])
