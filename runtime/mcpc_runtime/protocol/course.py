"""The course of a task: what it is, and what may become of it.

A task changes in steps: functions from a task and what happened to the task as it is then, or `StaleError` where that
cannot happen any more.  Whoever keeps tasks does one step at a time and keeps what comes of it, so the table below
holds wherever they are kept.  `fence` grows whenever a task changes hands: what a former owner brings is refused by it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.jsonrpc import Json

WORKING, INPUT_REQUIRED, COMPLETED, FAILED, CANCELLED = "working", "input_required", "completed", "failed", "cancelled"
TRANSITIONS = {
    WORKING: (WORKING, INPUT_REQUIRED, COMPLETED, FAILED, CANCELLED),
    INPUT_REQUIRED: (INPUT_REQUIRED, WORKING, COMPLETED, FAILED, CANCELLED),
    COMPLETED: (),
    FAILED: (),
    CANCELLED: (),
}
"""What may become of a task; one that is over stays as it is."""
KEPT_MS = 3_600_000
"""How long a task is kept after the last thing that happened to it."""
LONGEST_MS = 86_400_000
"""How long a task may take, with all that people are asked."""
INTERRUPTED = "the server that ran this task has ended, and the tool does not say that it may be run again"
OVERDUE = "the task has not ended in the time that tasks have"
MOST_HANDS = 50
"""So often a task may change hands: one that ends every server that runs it must not go on for ever."""
DEADLY = "every server that ran this task has ended before the task did"


class StaleError(Exception):
    """A step cannot be done: the task is over, belongs to somebody else now, or is not there."""


class Task:
    """The changing part of a task; what it calls is kept beside it.

    Times are milliseconds since 1970.  `owner` runs it, until `lease`, unless that is put off; `begun`: a handler may
    have run for it.  `requests` are open, `answers` came.  `result` or `error` is its end.  `version` counts changes.
    """

    __slots__ = ("again", "answers", "begun", "created", "error", "fence", "identifier", "lease", "message", "owner",
                 "principal", "requests", "result", "status", "tool", "ttl", "updated", "version")  # fmt: skip

    def __init__(self, identifier: str, principal: str, tool: str, now: int) -> None:
        self.identifier = identifier
        self.principal = principal
        self.tool = tool
        self.status = WORKING
        self.message = ""
        self.created = self.updated = now
        self.ttl = KEPT_MS
        self.again = self.begun = False
        self.owner = ""
        self.fence = self.lease = self.version = 0
        self.requests: dict[str, Json] = {}
        self.answers: dict[str, Json] = {}
        self.result: Json = None
        self.error: Json = None

    @property
    def over(self) -> bool:
        """Whether nothing will become of it any more."""
        return not TRANSITIONS[self.status]

    @property
    def expires(self) -> int:
        """When nobody needs to keep it any longer."""
        return self.created + (self.ttl if self.over else LONGEST_MS + KEPT_MS)

    def record(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def from_record(record: Json) -> Task:
    """Return the task of a record; raise ValueError if it is none."""
    if type(record) is not dict or not record.keys() >= set(Task.__slots__) or record["status"] not in TRANSITIONS:
        raise ValueError("this is no task")
    task = Task("", "", "", 0)
    for name in Task.__slots__:
        setattr(task, name, record[name])
    return task


def move(task: Task, status: str, now: int) -> Task:
    """Return the task with another status; it is kept for as long as one whose last change is now."""
    if status not in TRANSITIONS[task.status]:
        raise StaleError(f"a task that is {task.status} does not become {status}")
    task.status = status
    task.updated = max(now, task.updated)
    task.ttl = max(task.ttl, task.updated - task.created + KEPT_MS)
    task.version += 1
    return task


def held(task: Task, fence: int) -> None:
    """Refuse what somebody brings who is not the owner any more."""
    if task.over or task.fence != fence:
        raise StaleError("the task is over, or somebody else has it")


def claim(task: Task, owner: str, lease: int, now: int) -> Task:
    """Take a task that nobody runs: run it, or end it if it was begun and may not be run again."""
    if task.over or task.lease > now:
        raise StaleError("the task is over, or somebody runs it")
    task.fence += 1
    if now - task.created > LONGEST_MS:
        return fail(task, OVERDUE, now)
    if task.begun and not task.again:
        return fail(task, INTERRUPTED, now)
    if task.fence > MOST_HANDS:
        return fail(task, DEADLY, now)
    task.owner, task.lease, task.begun = owner, lease, True
    task.version += 1
    return task


def fail(task: Task, why: str, now: int) -> Task:
    """End a task with an error of the server's own."""
    task.error = {"code": -32603, "message": f"Internal error: {why}"}
    return closed(move(task, FAILED, now), why)


def unkept(task: Task, why: str) -> Task:
    """End a task, or change its end, because what a step made of it cannot be kept."""
    task.status, task.result, task.answers = FAILED, None, {}
    task.error = {"code": -32603, "message": f"Internal error: {why}"}
    return closed(task, why)


def release(task: Task, fence: int, now: int) -> Task:
    """Let go of a task because its owner ends: somebody else may run it again at once, or it ends."""
    held(task, fence)
    task.lease = 0
    return claim(task, "", 0, now)


def put_back(task: Task, fence: int) -> Task:
    """Let go of a task that was taken and not begun: anybody may begin it."""
    held(task, fence)
    task.owner, task.lease, task.begun = "", 0, False
    task.fence += 1
    task.version += 1
    return task


def ask(task: Task, fence: int, requests: dict[str, Json], now: int) -> Task:
    """Ask the client; what it has answered before is not asked again."""
    held(task, fence)
    task.requests.update({key: value for key, value in requests.items() if key not in task.answers})
    return move(task, INPUT_REQUIRED if task.requests else task.status, now)


def update(task: Task, responses: dict[str, Json], now: int) -> Task:
    """Take the answers to what is open; pass over all others."""
    fitting = {key: value for key, value in responses.items() if key in task.requests}
    if task.over or not fitting:
        raise StaleError("none of this is open")
    task.answers.update(fitting)
    for key in fitting:
        del task.requests[key]
    return move(task, INPUT_REQUIRED if task.requests else WORKING, now)


def finish(task: Task, fence: int, result: Json, error: Json, now: int) -> Task:
    """End a task with a result, or an error if there is none."""
    held(task, fence)
    task.result, task.error = result, error
    message = error.get("message") if type(error) is dict else ""
    return closed(move(task, FAILED if error is not None else COMPLETED, now), message if type(message) is str else "")


def cancel(task: Task, now: int) -> Task:
    """End a task that the client does not want any more; its owner notices."""
    return closed(move(task, CANCELLED, now), "")


def closed(task: Task, message: str) -> Task:
    """Return a task that is over without what only a running one needs."""
    task.message = message
    task.requests = {}
    task.owner, task.lease = "", 0
    task.fence += 1
    return task


if TYPE_CHECKING:
    Step = Callable[[Task, int], Task]
    """What happens to a task now; it may change the task it is given, which is a copy of the one that is kept."""
