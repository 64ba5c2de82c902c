"""The tasks that this server runs, and what is asked about tasks: each is kept before anybody hears of it.

A task has one owner at a time, which says again and again that it still lives.  One whose owner does not is taken by
another server, and begins again, or ends where it must not.  Whatever is to be kept of a running task is tried until it
is kept, or until the task belongs to somebody else.  Everything here happens in the thread that serves; what a store
does, the clerk does.
"""

from __future__ import annotations

import posix
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic

from mcpc_runtime.errors import tell
from mcpc_runtime.identity import server_name
from mcpc_runtime.protocol import course
from mcpc_runtime.protocol.asks import failed
from mcpc_runtime.protocol.course import LONGEST_MS, StaleError, Task
from mcpc_runtime.protocol.effects import Failure, Give, Ready, Start, Stop
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.protocol.tasks import created, declares, status_event
from mcpc_runtime.shares import TIMES_FREE, Shares
from mcpc_runtime.tasks.calls import call_of, kept_of
from mcpc_runtime.tasks.clerk import Clerk
from mcpc_runtime.tasks.places import open_store
from mcpc_runtime.tasks.questions import Asked, asked
from mcpc_runtime.tasks.requests import Found, answer_to, order_for
from mcpc_runtime.tasks.store import FullError, StoreError, TooSlowError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from mcpc_runtime.interfaces import Driver
    from mcpc_runtime.protocol.course import Step
    from mcpc_runtime.protocol.effects import Call, Effect, Ending, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.tasks.store import Kept, Store

    class Calls(Protocol):
        """Where calls run."""

        def is_crowded(self, principal: str) -> bool:
            """Tell whether a call of this principal that is begun now would be refused."""
            ...


LEASE_SECONDS = 5.0
"""How long a task stays with an owner of whom nothing is heard."""
LEASE_VARIABLE = b"MCPC_TASKS_LEASE"
LEAST_LEASE, MOST_LEASE = 0.5, 3600.0
TICK_SECONDS = 0.25
"""How often others' changes are looked for while a task runs here, and how often otherwise."""
IDLE_SECONDS = 1.0
SCAN_SECONDS = 2.0
RETRY_SECONDS = 1.0
CLOSING_SECONDS = 1.5
MOST_HERE = 128
"""So many tasks run here at once; others wait in the store, for whoever has room."""
NOT_KEPT = "Internal error: the task cannot be kept"
TOLD_SECONDS = 30.0
DIGITS = 24
"""Bytes of chance in the id of a task."""


class Own:
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
        self.questions: dict[tuple[Call, int], Asked] = {}
        self.ending: Step | None = None


class Keeper:
    """The tasks of one server."""

    def __init__(self, driver: Driver, calls: Calls) -> None:
        self._driver = driver
        self._calls = calls
        self._reactor = driver.watch()
        self._name = posix.urandom(8).hex()
        self._lease = lease_seconds(posix.environ.get(LEASE_VARIABLE, b""))
        self._own: dict[str, Own] = {}
        self._of: dict[Request, Own] = {}
        self._returning: set[str] = set()
        is_shared = getattr(driver, "places", None) is not None  # by principals that are known apart
        self._places = Shares(MOST_HERE, TIMES_FREE if is_shared else MOST_HERE)
        self._unanswered = self._armed = 0
        self._beats = self._scans = self._told = 0.0
        self._due = inf
        self._beating = self._looking = self._ticking = False
        image = driver.image
        self._clerk = Clerk(self._reactor, lambda: open_store(server_name(image), image.archive), is_shared=is_shared)

    @property
    def busy(self) -> bool:
        """Whether somebody waits for the answer that names a task, or the end of one is not kept yet."""
        return self._unanswered > 0 or any(own.ending is not None for own in self._own.values())

    def open(self) -> None:
        """Look from now on for tasks that nobody runs, and for what others do with tasks."""
        if not self._ticking:
            self._ticking = True
            self._tick(self._armed)

    def takes(self, call: Call) -> bool:
        """Make a task of a call, if its client knows tasks; its request is answered when the task is kept."""
        if not declares(call.request):
            return False
        self.open()
        self._unanswered += 1
        task = Task(posix.urandom(DIGITS).hex(), call.request.session.principal, call.definition.name, 0)
        task.again = call.definition.again
        task.answers = {key: call.answers[key] for key, _, _ in call.definition.asks if key in call.answers}
        if self._has_room(task.principal):
            task.owner, task.fence, task.begun = self._name, 1, True
            self._places.take(task.principal)
        kept = kept_of(call)
        until = monotonic() + self._safe

        def order(store: Store) -> Task:
            task.created = task.updated = store.now()
            task.lease = task.created + self._milliseconds if task.owner else 0
            store.add(task, kept)
            return task

        self._clerk.tell(order, lambda outcome: self._added(call, task, kept, (outcome, until)), task.principal)
        return True

    def _added(self, call: Call, task: Task, kept: Kept, came: tuple[Any, float]) -> None:
        """Answer the request whose task is kept now, and run it."""
        outcome, until = came
        self._unanswered -= 1
        if task.begun:
            self._places.give_back(task.principal)  # `_begin` takes it again
        session: Session = call.request.session
        if isinstance(outcome, Task):
            answers = session.finish(call, Ready(created(task, task.created)))
            self._driver.effects += answers
            if not answers:
                self._undo(task.identifier)  # nobody waits for it any more, and nobody knows its name
            elif task.begun:
                self._begin(task, kept, until)
            return
        self._warn(outcome)
        if isinstance(outcome, FullError | TooSlowError):
            self._driver.effects += session.finish(call, Failure(INTERNAL_ERROR, f"{NOT_KEPT}: {outcome}"))
        else:  # where the store is, is for who runs the server
            self._driver.effects += session.finish(call, Failure(INTERNAL_ERROR, NOT_KEPT))
            self._undo(task.identifier)  # it may be there all the same

    def _undo(self, identifier: str) -> None:
        """Have a task be forgotten that nobody will ever ask for."""

        def done(outcome: Any) -> None:
            if isinstance(outcome, StoreError):
                self._reactor.after(RETRY_SECONDS, lambda: self._undo(identifier))

        self._clerk.tell(lambda store: store.remove(identifier), done)

    def ask(self, call: Call, number: int, requests: dict[str, Json], seals: Any) -> dict[str, Json] | list[Effect]:
        """Ask the client; return the answers or what is wrong, else nothing: the answers are given when they come."""
        own = self._of.get(call.request)
        if own is None:
            return failed(INTERNAL_ERROR, "Internal error: the task is over")
        put = asked(call, requests, seals)
        if not isinstance(put, Asked):
            return put
        found = put.answered(own.call.answers)
        if found is not None:
            return found
        still = {name: one for name, one in put.questions.items() if name not in own.call.answers}
        if not still:
            return failed(INVALID_PARAMS, "what was asked before by this name had an answer that is none to this")
        own.questions[call, number] = put
        self._persist(own, lambda task, now: course.ask(task, own.fence, still, now))
        return []

    def finish(self, call: Call, made: bytes | Failure) -> None:
        """Keep what became of a task."""
        own = self._of.get(call.request)
        if own is None:
            return
        error: Json = None
        result: Json = None
        if isinstance(made, Failure):
            error = {"code": made.code, "message": made.message}
            if made.data is not None:
                error["data"] = made.data
            if made.log:
                tell(made.log)
        else:
            result = parse(made)

        def step(task: Task, now: int) -> Task:
            return course.finish(task, own.fence, result, error, now)

        own.ending = step
        self._persist(own, step)

    def close(self) -> None:
        """Let go of every task that runs here: another server begins it, or it ends."""
        last_steps = {own.identifier: own.ending or releasing(own.fence) for own in self._own.values()}

        def last(store: Store) -> None:
            for identifier, step in last_steps.items():
                with suppress(StaleError):
                    store.change(identifier, step)

        self._clerk.close(last, CLOSING_SECONDS)

    def perform(self, call: Call, done: Callable[[Ending], None]) -> None:
        """Do what a request about a task wants; what it changed is told to whom it concerns."""
        self.open()

        def came(outcome: Any) -> None:
            if isinstance(outcome, StoreError):
                self._warn(outcome)
            elif isinstance(outcome, Found) and outcome.has_changed and outcome.task is not None:
                self._changed(outcome.task)
            done(answer_to(call, outcome))

        self._clerk.tell(order_for(call), came, call.request.session.principal)

    def _has_room(self, principal: str) -> bool:
        """Tell whether one more task of a principal may run here."""
        return self._places.has_room(principal) and not self._calls.is_crowded(principal)

    @property
    def _milliseconds(self) -> int:
        return int(self._lease * 1000)

    @property
    def _safe(self) -> float:
        """How long after its lease was put off a task may run without a word: to end it takes some time, too."""
        return self._lease * 2 / 3

    def _begin(self, task: Task, kept: Kept, until: float) -> None:
        """Run a task that is this server's now, unless that took so long to be kept that it may be no more."""
        if monotonic() >= until:
            self._returning.add(task.identifier)
            order = putting_back(task.fence)
            done = partial(self._put_back, task.identifier)
            self._clerk.tell(lambda store: store.change(task.identifier, order), done)
            return
        call = call_of(self._driver.image, task, kept)
        if call is None:
            return  # it was another build that had this tool: its lease ends
        own = Own(task, call, until)
        self._own[own.identifier] = self._of[call.request] = own
        self._places.take(task.principal)
        self._arm(min(TICK_SECONDS, self._lease / 8))  # it may have been armed when nothing ran here
        self._driver.effects.append(Start(call))

    def _put_back(self, identifier: str, outcome: Any) -> None:
        """Take note of whether others may have a task now; if not, they may when its lease ends."""
        self._returning.discard(identifier)
        if isinstance(outcome, StoreError):
            self._warn(outcome)

    def _persist(self, own: Own, step: Step) -> None:
        """Have a step be kept, however long that takes, unless the task is not this server's any more."""

        def attempt() -> None:
            if self._own.get(own.identifier) is own:
                principal = own.call.request.session.principal
                self._clerk.tell(lambda store: store.change(own.identifier, step), came, principal)

        def came(outcome: Any) -> None:
            if isinstance(outcome, Task):
                self._changed(outcome)
            elif isinstance(outcome, StaleError) or outcome is None:
                self._lose(own)
            else:
                self._warn(outcome)
                self._reactor.after(RETRY_SECONDS, attempt)

        attempt()

    def _changed(self, task: Task) -> None:
        """Take note of what a task is now: tell who listens, give the handler its answers, stop it if it lost."""
        self._driver.effects.append(status_event(task, task.updated))
        own = self._own.get(task.identifier)
        if own is not None:
            self._look(own, task)

    def _look(self, own: Own, task: Task) -> None:
        if task.over or task.fence != own.fence:
            self._lose(own)
            return
        answers = own.call.answers
        answers.update(task.answers)
        for (call, number), put in list(own.questions.items()):
            found = put.answered(answers)
            if found is not None:
                del own.questions[call, number]
                self._driver.effects.append(Give(call, number, found))

    def _lose(self, own: Own) -> None:
        """Have nothing more to do with a task, and stop what still runs of it."""
        if self._own.pop(own.identifier, None) is own:
            del self._of[own.call.request]
            self._places.give_back(own.call.request.session.principal)
            if own.ending is None:
                self._driver.effects.append(Stop(own.call))

    def _arm(self, seconds: float) -> None:
        """Look again after so many seconds, unless that is to be done earlier anyway."""
        due = monotonic() + seconds
        if due < self._due:
            self._due = due
            self._armed += 1
            self._reactor.after(seconds, partial(self._tick, self._armed))

    def _tick(self, number: int) -> None:
        """Do what is done again and again: beat, scan, hear the news."""
        if number != self._armed:
            return
        now, self._due = monotonic(), inf
        self._arm(min(TICK_SECONDS, self._lease / 8) if self._own else IDLE_SECONDS)
        for own in list(self._own.values()):
            if own.until < now and own.again and own.ending is None:
                self._lose(own)  # another server may begin it from now on
        if self._own and now >= self._beats and not self._beating:
            self._beats, self._beating = now + self._lease / 3, True
            self._beat(now)
        if now >= self._scans:
            self._scans = now + SCAN_SECONDS
            self._scan()
        if not self._looking:
            self._looking = True
            self._clerk.tell(lambda store: store.news(), self._heard)

    def _beat(self, now: float) -> None:
        """Say that the tasks that run here still do."""
        fences = {own.identifier: own.fence for own in self._own.values()}
        sent = list(self._own.values())

        def done(outcome: Any) -> None:
            self._beating = False
            if isinstance(outcome, Exception):
                self._warn(outcome)
                return
            for own in sent:
                task = outcome.get(own.identifier)
                if self._own.get(own.identifier) is not own:
                    continue
                if task is None:
                    self._lose(own)
                else:
                    own.until = now + self._safe
                    self._look(own, task)

        self._clerk.tell(lambda store: store.renew(fences, self._milliseconds), done)

    def _heard(self, outcome: Any) -> None:
        self._looking = False
        if isinstance(outcome, Exception):
            self._warn(outcome)
            return
        for task in outcome:
            self._changed(task)

    def _scan(self) -> None:
        """Look for tasks that nobody runs, but not for those of principals that have no room here."""
        if not self._places.is_full:
            most = 4 * (MOST_HERE - self._places.used)
            without = frozenset(one for one in self._places.holders if not self._has_room(one))
            self._clerk.tell(lambda store: store.due(most, without), self._found)

    def _found(self, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._warn(outcome)
            return
        for task in outcome:
            if task.identifier in self._returning or (task.identifier in self._own and not is_overdue(task)):
                continue  # it is here: its end is about to be kept, its lease put off, or it is given back
            ends = task.begun and not task.again
            is_ours = ends or self._driver.image.tool(task.tool) is not None or is_overdue(task)
            if is_ours and self._has_room(task.principal):
                self._take(task.identifier, task.principal)

    def _take(self, identifier: str, principal: str) -> None:
        """Take over a task, unless somebody else is quicker."""
        self._places.take(principal)
        until = monotonic() + self._safe

        def step(task: Task, now: int) -> Task:
            return course.claim(task, self._name, now + self._milliseconds, now)

        def order(store: Store) -> tuple[Task | None, Kept]:
            task = store.change(identifier, step)
            return task, {} if task is None or task.over else store.called(identifier)

        def done(outcome: Any) -> None:
            self._places.give_back(principal)  # `_begin` takes it again
            if isinstance(outcome, Exception):
                if not isinstance(outcome, StaleError):
                    self._warn(outcome)
                return
            task, kept = outcome
            if task is not None and task.over:
                self._changed(task)
            elif task is not None and self._own.get(identifier) is None:
                self._begin(task, kept, until)

        self._clerk.tell(order, done, principal)

    def _warn(self, problem: object) -> None:
        """Say what is wrong with the store, not too often."""
        now = monotonic()
        if now >= self._told:
            self._told = now + TOLD_SECONDS
            tell(f"tasks: {problem}")


def releasing(fence: int) -> Step:
    """Return the step by which an owner lets go of a task."""
    return lambda task, now: course.release(task, fence, now)


def putting_back(fence: int) -> Step:
    """Return the step by which an owner gives back what it has not begun."""
    return lambda task, _: course.put_back(task, fence)


def is_overdue(task: Task) -> bool:
    """Tell whether a task has not ended in its time, so that it is ended by whoever sees it."""
    return task.updated - task.created > LONGEST_MS


def lease_seconds(said: bytes) -> float:
    """Return how long leases are: what the environment says, if that is a sensible number of seconds."""
    try:
        return min(max(float(said), LEAST_LEASE), MOST_LEASE)
    except ValueError:
        return LEASE_SECONDS
