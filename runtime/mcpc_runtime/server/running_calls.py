"""The calls that run or wait: the state of each, how many run, their time limits, and how they end.

Every call that is not answered yet is registered in `RunningCalls`.  Each ends once: it is answered or abandoned, and
releases what it holds; all calls that it made end with it.  A call that waits for the client's answer gets a longer
time limit meanwhile, and so does every call that waits for it.  Memory: O(registered calls).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from mcpc_runtime import log
from mcpc_runtime.handlers.contracts import CallBinding
from mcpc_runtime.interfaces import DriverInterface, Job, JobControl, Note, Observer, ReactorInterface
from mcpc_runtime.protocol.calls import make_result, nested_result
from mcpc_runtime.protocol.client_requests.eras import withdraw_requests as handshake_withdraw
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, TIMEOUT_KEY
from mcpc_runtime.protocol.effects import Activity, Call, Ending, Failure, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.kept_results import Account


class Admission(Protocol):
    """Decides which calls run and which wait: `FirstComeAdmission`, or `FairAdmission` over HTTP.

    A running call occupies a slot.  The length is the number of waiting calls.
    """

    @property
    def running(self) -> int:
        """How many slots are occupied."""
        ...

    @property
    def is_roomy(self) -> bool:
        """Whether an inline call may run without a slot."""
        ...

    def __len__(self) -> int:
        """Return how many calls wait."""
        ...

    def admits(self, running_call: RunningCall) -> bool:
        """Return whether a call may run now."""
        ...

    def refusal(self, principal: str) -> str:
        """Return why no more calls of a principal may wait, or an empty string."""
        ...

    def wait(self, running_call: RunningCall) -> None:
        """Add a call to the waiting ones."""

    def enter(self, running_call: RunningCall) -> None:
        """Give a call a slot, even over the limit."""

    def put_back(self, running_call: RunningCall) -> None:
        """Take a call's slot away and make it the first of those that wait."""

    def leave(self, running_call: RunningCall) -> bool:
        """Remove a call; return whether it had a slot."""
        ...

    def next(self) -> RunningCall | None:
        """Remove and return the waiting call to run now; None if no call waits, or there is no free slot."""
        ...


CANCELLED = "cancelled"
MAX_RUNNING = 256
"""How many calls run at once; more wait."""
MAX_WAITING = 4096
BUSY = f"the server is busy: {MAX_WAITING} calls wait; call again later"


class RunningCall:
    """One call that runs or waits.

    `answer`: for a nested call, the function that takes its result; `parent`: the call that made it.  `questions`:
    functions that take the client's answers, by request number; `open`: how many client requests of this call and of
    those that it made wait.  `asked`: whether the client requests of its definition are answered.  `seconds`: its own
    time limit; `limit`: the one that holds now, which is longer while it waits for a person.  `account`: what is
    charged for the stored output of its handler.  `handler_call`: the call, unless it is a request about a task.
    """

    __slots__ = ("account", "answer", "asked", "began", "binding", "call", "children", "handler_call",
                 "held_progress", "job", "limit", "open", "over", "parent", "progress_sent", "questions", "runner",
                 "seconds")  # fmt: skip

    def __init__(
        self, call: Activity, answer: Callable[[dict[str, Json]], None] | None = None, parent: RunningCall | None = None
    ) -> None:
        self.account: Account | None = None
        self.call = call
        if isinstance(call, Call):
            self.handler_call = call
        self.answer = answer
        self.parent = parent
        self.began = monotonic()
        meta = call.request.params.get("_meta")
        seconds = call.seconds
        requested = meta.get(TIMEOUT_KEY) if type(meta) is dict else None
        # A client may shorten the time limit, but not extend it.
        if (type(requested) is int or type(requested) is float) and 0 < requested < seconds:
            seconds = requested
        self.seconds = self.limit = seconds
        self.asked = False
        self.open = 0
        self.questions: dict[int, Callable[[dict[str, Json]], None]] = {}
        self.over = False
        self.binding: CallBinding | None = None
        self.runner: JobControl | None = None
        self.job: Job = None
        self.progress_sent = 0.0
        self.held_progress: dict[str, Json] | None = None
        self.children: list[RunningCall] = []

    def stop(self) -> None:
        """Stop the job that runs for it."""
        if self.runner is not None and self.job is not None:
            self.runner.stop(self.job)

    def answer_note(self, reply: Json, result: Note) -> None:
        """Deliver the answer to a note of its handler, if that still runs."""
        answer = getattr(self.runner, "answer", None)
        if answer is not None and not self.over:
            answer(self.job, reply, result)


class FirstComeAdmission:
    """Admits calls first come, first served, for servers with one principal; as many run at once as there are slots."""

    __slots__ = ("_slots", "_waiting", "is_roomy", "running")

    def __init__(self, slots: int) -> None:
        self._slots = slots
        # A serial server has one slot, and its inline calls need it, too.
        self.is_roomy = slots > 1
        self.running = 0
        self._waiting: dict[RunningCall, None] = {}

    def __len__(self) -> int:
        """Return how many calls wait."""
        return len(self._waiting)

    def admits(self, running_call: RunningCall) -> bool:
        """Return whether a call may run now."""
        # A free slot belongs to those that wait already.
        return self.running < self._slots and not self._waiting

    def refusal(self, principal: str) -> str:
        """Return why no more calls of a principal may wait, or an empty string."""
        return BUSY if len(self._waiting) >= MAX_WAITING else ""

    def wait(self, running_call: RunningCall) -> None:
        """Add a call to the waiting ones."""
        self._waiting[running_call] = None

    def enter(self, running_call: RunningCall) -> None:
        """Give a call a slot, even over the limit."""
        self.running += 1

    def put_back(self, running_call: RunningCall) -> None:
        """Take a call's slot away and make it the first of those that wait."""
        self.running -= 1
        self._waiting = {running_call: None, **self._waiting}

    def leave(self, running_call: RunningCall) -> bool:
        """Remove a call; return whether it had a slot."""
        if running_call in self._waiting:
            del self._waiting[running_call]
            return False
        self.running -= 1
        return True

    def next(self) -> RunningCall | None:
        """Remove and return the waiting call to run now; None if no call waits, or there is no free slot."""
        if not self._waiting or self.running >= self._slots:
            return None
        running_call = next(iter(self._waiting))
        del self._waiting[running_call]
        return running_call


def slots_of(image: Image) -> int:
    """Return how many calls of a server run at once: those of a serial one begin when the one before has ended."""
    return 1 if image.index.get("serial") else MAX_RUNNING


class Deadlines:
    """Time limits with one timer for all; `expire` is called with each call whose time is over.

    Calls with the same limit expire in the order in which they were added, so each limit has one queue, and only the
    heads of the queues are compared.  Adding and removing cost O(1), arming the timer O(different limits).
    """

    def __init__(self, reactor: ReactorInterface, expire: Callable[[RunningCall], None]) -> None:
        self._reactor = reactor
        self._expire = expire
        self._queues: dict[float, dict[RunningCall, float]] = {}
        self._armed = float("inf")

    def add(self, running_call: RunningCall, seconds: float) -> None:
        """Let a call expire so many seconds from now."""
        due = monotonic() + seconds
        self._queues.setdefault(seconds, {})[running_call] = due
        if due < self._armed:
            self._arm(due)

    def remove(self, running_call: RunningCall, seconds: float) -> None:
        """Remove a call that was added with so many seconds, if it is still there."""
        queue = self._queues.get(seconds)
        if queue is not None:
            queue.pop(running_call, None)
            # The last queue is kept: most servers have one limit, and would make it anew with each call.
            if not queue and len(self._queues) > 1:
                del self._queues[seconds]

    def _arm(self, due: float) -> None:
        self._armed = due
        self._reactor.after(max(0.0, due - monotonic()), lambda: self._expire_due(due))

    def _expire_due(self, due: float) -> None:
        if due != self._armed:
            return  # an earlier timer was armed since
        self._armed = float("inf")
        now = monotonic()
        # Copies: a call that ends may make others end, or start some with a limit of their own.
        for queue in list(self._queues.values()):
            for running_call in due_calls(queue, now):
                if queue.pop(running_call, None) is not None:  # what expired before it may have removed it
                    self._expire(running_call)
        heads = [next(iter(queue.values())) for queue in self._queues.values() if queue]
        if heads and min(heads) < self._armed:
            self._arm(min(heads))


class RunningCalls:
    """The registered calls of one server, by call.

    The result of a call is sent to the client, to the call that made it, or to `finish_task` if it is a task; the task
    manager sets that.  `slot_freed` is called when a waiting call may have a slot.
    """

    def __init__(
        self,
        driver: DriverInterface,
        observers: Sequence[Observer],
        admission: Admission,
        slot_freed: Callable[[], None],
    ) -> None:
        self._driver = driver
        self._admission = admission
        self._slot_freed = slot_freed
        self.by_call: dict[Activity, RunningCall] = {}
        self.observers = observers
        self.deadlines = Deadlines(driver.watch(), self._expire)
        self.finish_task: Callable[[Call, bytes | Failure], None]

    def add(self, running_call: RunningCall) -> RunningCall:
        """Register a call, and report its beginning."""
        self.by_call[running_call.call] = running_call
        for observer in self.observers:
            observer.began(running_call.call)
        return running_call

    def end(self, running_call: RunningCall, ending: Ending, status: str = "") -> None:
        """Answer a call, unless it is over."""
        if running_call.over:
            return
        if running_call.held_progress is not None:
            self.send_held_progress(running_call)
        self._release(running_call)
        if self.observers:
            self._report_end(running_call, status, ending)
        call = running_call.call
        if running_call.answer is not None:
            if running_call.parent is not None:
                running_call.parent.children.remove(running_call)
            running_call.answer(nested_result(running_call.handler_call, ending))
        elif call.is_task:
            self.finish_task(running_call.handler_call, log.attempt(lambda: make_result(call, ending)))
        else:
            self._driver.post_effects(log.finish_or_fail(call, ending))
        if self._admission:
            self._slot_freed()

    def end_client_call(self, running_call: RunningCall, ending: Ending, status: str) -> None:
        """Stop and answer the call that the client made, from which this one may be nested."""
        while running_call.parent is not None:
            running_call = running_call.parent
        if not running_call.over:
            running_call.stop()
        self.end(running_call, ending, status)

    def end_as_task(self, running_call: RunningCall) -> None:
        """Release a call that has become a task."""
        self._report_end(running_call, "task", None)
        self._release(running_call)
        if self._admission:
            self._slot_freed()

    def conclude(self, running_call: RunningCall, result: object) -> None:
        """Answer a call with the result of its runner."""
        binding = running_call.binding
        if running_call.over or binding is None:
            return
        self.end(running_call, log.attempt(lambda: binding.parse_result(running_call.handler_call, result)))

    def abandon(self, running_call: RunningCall) -> None:
        """Stop a cancelled call without an answer."""
        if running_call.over:
            return
        self._release(running_call, stops=True)
        self._report_end(running_call, CANCELLED, None)
        if self._admission:
            self._slot_freed()

    def _expire(self, running_call: RunningCall) -> None:
        """Stop a call whose time is over, and answer it."""
        binding = running_call.binding
        expired = binding.expired if binding is not None and not running_call.open else None
        ending = log.attempt(lambda: expired(running_call)) if expired else None
        running_call.stop()
        if ending is None:
            call = running_call.call
            reason = "the client did not answer its request within" if running_call.open else "its timeout is"
            ending = tool_error_or_failure(call, f"{call.name} was stopped: {reason} {running_call.limit:g} s")
        self.end(running_call, ending, "timeout")

    def withdraw(self, running_call: RunningCall) -> None:
        """Cancel all open client requests of a call."""
        self.resume(running_call, len(running_call.questions))
        running_call.questions = {}
        if not running_call.call.is_task:
            self._driver.post_effects(handshake_withdraw(running_call.handler_call))

    def _release(self, running_call: RunningCall, *, stops: bool = False) -> None:
        """Release what a call holds, abandon every call that it made, and stop its job if it `stops`."""
        # First of all: what follows cannot end the call again, nor set a new limit.
        running_call.over = True
        del self.by_call[running_call.call]
        self.deadlines.remove(running_call, running_call.limit)
        if running_call.account is not None:
            running_call.account.end()
        has_run = self._admission.leave(running_call)
        if running_call.questions:
            self.withdraw(running_call)
        for child in running_call.children:
            self.abandon(child)
        running_call.children = []
        if stops and has_run:
            running_call.stop()
        running_call.job = None  # which refers to this call: a cycle would keep its message until garbage is collected

    def _report_end(self, running_call: RunningCall, status: str, ending: Ending | None) -> None:
        """Report the end of a call to the observers; the status is empty for the default one of its ending."""
        for observer in self.observers:
            seconds = monotonic() - running_call.began
            observer.ended(running_call.call, status or status_of(ending), seconds, ending)

    def set_limit(self, running_call: RunningCall, seconds: float) -> None:
        """Let a call's time end so many seconds from now."""
        self.deadlines.remove(running_call, running_call.limit)
        running_call.limit = seconds
        self.deadlines.add(running_call, seconds)

    def suspend(self, running_call: RunningCall, seconds: float) -> None:
        """Let the time of a call, and of those that wait for it, end so many seconds from now: it asks the client."""
        waiting: RunningCall | None = running_call
        while waiting is not None:
            waiting.open += 1
            if waiting.open == 1:
                self.set_limit(waiting, seconds)
            waiting = waiting.parent

    def resume(self, running_call: RunningCall, answered: int = 1) -> None:
        """Note that so many client requests of a call are over; a call with no others has its own limit again."""
        waiting: RunningCall | None = running_call
        while waiting is not None:
            waiting.open -= answered
            if waiting.open == 0 and not waiting.over:
                self.set_limit(waiting, waiting.seconds)
            waiting = waiting.parent

    def send_held_progress(self, running_call: RunningCall) -> None:
        """Send the progress of a call that was held back, before any later message."""
        held, running_call.held_progress = running_call.held_progress, None
        if held is not None:
            self._driver.post_effects(running_call.call.request.session.note(running_call.call, held))

    def extend_limit(self, running_call: RunningCall) -> None:
        """Extend a call's time after it reported progress, if its contract extends it."""
        extended = running_call.binding and running_call.binding.extended
        if extended and not running_call.open:
            seconds = extended(running_call.handler_call, monotonic() - running_call.began)
            if seconds is not None:
                self.set_limit(running_call, seconds)


def due_calls(queue: dict[RunningCall, float], now: float) -> list[RunningCall]:
    """Return the calls at the head of a queue whose time is over."""
    due_now = []
    for running_call, due in queue.items():
        if due > now:
            break
        due_now.append(running_call)
    return due_now


def tool_error_or_failure(call: Activity, message: str) -> Ending:
    """Return a tool error, which a model can read; an internal error for requests without such results."""
    return (
        text_outcome(message, is_error=True) if call.is_tool else Failure(INTERNAL_ERROR, f"Internal error: {message}")
    )


def status_of(ending: Ending | None) -> str:
    """Return the status by which observers classify an ending: `failure`, `error` or `success`."""
    return "failure" if isinstance(ending, Failure) else "error" if getattr(ending, "is_error", False) else "success"
