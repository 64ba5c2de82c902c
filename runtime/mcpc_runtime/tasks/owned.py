"""The tasks that this server runs: each has a call here, a place, and a lease until it must have ended.

Whatever is to be kept of a running task is tried until it is kept, or until the task belongs to somebody else.
"""

from __future__ import annotations

from functools import partial
from time import monotonic

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, SharedPool
from mcpc_runtime.protocol import task_state
from mcpc_runtime.protocol.effects import DeliverAnswer, StartHandler, StopHandler
from mcpc_runtime.protocol.task_state import StaleTaskError, Task
from mcpc_runtime.protocol.tasks import status_event
from mcpc_runtime.tasks.calls import call_of
from mcpc_runtime.tasks.store import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from mcpc_runtime.interfaces import DriverInterface
    from mcpc_runtime.protocol.effects import Call, Request
    from mcpc_runtime.protocol.task_state import Step
    from mcpc_runtime.tasks.clerk import Problem, StoreThread
    from mcpc_runtime.tasks.questions import PendingQuestions
    from mcpc_runtime.tasks.store import Kept

    class TaskCalls(Protocol):
        """Where calls run."""

        def is_crowded(self, principal: str) -> bool:
            """Tell whether a call of this principal that is begun now would be refused."""
            ...


RETRY_SECONDS = 1.0
MOST_HERE = 128
"""So many tasks run here at once; others wait in the store, for whoever has room."""


class OwnedTask:
    """A task that runs here.

    `until`: when it must have ended if nothing more is heard of the store, because another server may begin it then.
    `questions`: what each question of a handler waits for, by its call and number.  `ending`: the step that ends it.
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
        """Whose task it is."""
        principal: str = self.call.request.session.principal
        return principal


class OwnedTasks:
    """The tasks of one server that it runs itself.

    `returning`: the ids of those that are being given back without having been begun.  `begun`: what is called when one
    is begun.
    """

    def __init__(self, driver: DriverInterface, calls: TaskCalls, clerk: StoreThread) -> None:
        self._driver = driver
        self._calls = calls
        self._clerk = clerk
        self._reactor = driver.watch()
        self._by_id: dict[str, OwnedTask] = {}
        self._by_request: dict[Request, OwnedTask] = {}
        is_shared = driver.is_shared  # by principals that are known apart
        self.places = SharedPool(MOST_HERE, TIMES_FREE if is_shared else MOST_HERE)
        self.returning: set[str] = set()
        self.begun: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        """Return how many tasks run here."""
        return len(self._by_id)

    @property
    def all(self) -> list[OwnedTask]:
        """The tasks that run here."""
        return list(self._by_id.values())

    def named(self, identifier: str) -> OwnedTask | None:
        """Return the task of this id, if it runs here."""
        return self._by_id.get(identifier)

    def of(self, call: Call) -> OwnedTask | None:
        """Return the task that a call belongs to, if it still runs here."""
        return self._by_request.get(call.request)

    def has_room(self, principal: str) -> bool:
        """Tell whether one more task of a principal may run here."""
        return self.places.has_room(principal) and not self._calls.is_crowded(principal)

    def begin(self, task: Task, kept: Kept, until: float) -> None:
        """Run a task that is this server's now, unless that took so long to be kept that it may be no more."""
        if monotonic() >= until:
            self._give_back(task)
            return
        call = call_of(self._driver.image, task, kept)
        if call is None:
            return  # it was another build that had this tool: its lease ends
        own = OwnedTask(task, call, until)
        self._by_id[own.identifier] = self._by_request[call.request] = own
        self.places.take(task.principal)
        self.begun()
        self._driver.post_effects([StartHandler(call)])

    def _give_back(self, task: Task) -> None:
        """Let others have a task at once; if that cannot be kept, they may have it when its lease ends."""
        self.returning.add(task.identifier)
        step = putting_back(task.fence)

        def done(outcome: Task | Problem | None) -> None:
            self.returning.discard(task.identifier)
            if isinstance(outcome, StoreError):
                self._clerk.warn(outcome)

        self._clerk.submit(lambda store: store.change(task.identifier, step), done)

    def persist(self, own: OwnedTask, step: Step) -> None:
        """Have a step be kept, however long that takes, unless the task is not this server's any more."""
        if self._by_id.get(own.identifier) is not own:
            return

        def came(outcome: Task | Problem | None) -> None:
            if isinstance(outcome, Task):
                self.changed(outcome)
            elif isinstance(outcome, StaleTaskError) or outcome is None:
                self.lose(own)
            else:
                self._clerk.warn(outcome)
                self._reactor.after(RETRY_SECONDS, partial(self.persist, own, step))

        self._clerk.submit(lambda store: store.change(own.identifier, step), came, own.principal)

    def changed(self, task: Task) -> None:
        """Take note of what a task is now: tell who listens, give the handler its answers, stop it if it lost."""
        self._driver.post_effects([status_event(task, task.updated)])
        own = self._by_id.get(task.identifier)
        if own is not None:
            self.compare(own, task)

    def compare(self, own: OwnedTask, task: Task) -> None:
        """Compare a task that runs here with what is kept of it."""
        if task.over or task.fence != own.fence:
            self.lose(own)
            return
        answers = own.call.answers
        answers.update(task.answers)
        for (call, number), put in list(own.questions.items()):
            found = put.answered(answers)
            if found is not None:
                del own.questions[call, number]
                self._driver.post_effects([DeliverAnswer(call, number, found)])

    def lose(self, own: OwnedTask) -> None:
        """Have nothing more to do with a task, and stop what still runs of it."""
        if self._by_id.pop(own.identifier, None) is own:
            del self._by_request[own.call.request]
            self.places.give_back(own.principal)
            if own.ending is None:
                self._driver.post_effects([StopHandler(own.call)])


def putting_back(fence: int) -> Step:
    """Return the step by which an owner gives back what it has not begun."""
    return lambda task, _: task_state.requeue(task, fence)
