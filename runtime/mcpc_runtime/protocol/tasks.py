"""Tasks (io.modelcontextprotocol/tasks): what clients see of them, and the three requests about them.

A request may become a task, or be about a task, only if it declares itself that its client supports tasks.

The state machine of a task: its data and its transitions.

A task changes in steps: functions that take a task and the time and return the changed task, or raise `StaleTaskError`
if the step is not possible any more. A store applies one step at a time and saves its result, so the table below holds
in every store. `fence` increases whenever the owner of a task changes: updates of a former owner are refused by it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, INVALID_PARAMS, MISSING_CAPABILITY, TASKS_EXTENSION
from mcpc_runtime.protocol.effects import Call, Failure, Outcome, PublishChange, SessionState, TaskRequest, text_outcome
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request

WORKING, INPUT_REQUIRED, COMPLETED, FAILED, CANCELLED = "working", "input_required", "completed", "failed", "cancelled"
TRANSITIONS = {
    WORKING: (WORKING, INPUT_REQUIRED, COMPLETED, FAILED, CANCELLED),
    INPUT_REQUIRED: (INPUT_REQUIRED, WORKING, COMPLETED, FAILED, CANCELLED),
    COMPLETED: (),
    FAILED: (),
    CANCELLED: (),
}
"""The possible next states; a task that has ended does not change."""
RETENTION_MS = 3_600_000
"""How long a task is kept after its last change, in milliseconds."""
MAX_DURATION_MS = 86_400_000
"""The maximum duration of a task, with all client requests, in milliseconds."""
INTERRUPTED = "the server that ran this task has ended, and the tool is not marked as safe to run again"
OVERDUE = "the task exceeded the time limit of tasks"
MAX_OWNERS = 50
"""How often the owner of a task may change: a task that ends every server that runs it must not be retried for ever."""
TOO_MANY_OWNERS = "every server that ran this task has ended before the task did"


class StaleTaskError(Exception):
    """A step is not possible: the task has ended, has another owner now, or does not exist."""


class Task:
    """The changing part of a task; its call is stored separately.

    Times are milliseconds since 1970. `owner` runs it until `lease`, unless the lease is renewed; `begun`: a handler
    may have run for it. `requests` are open, `answers` are the received answers. `result` or `error` is its end.
    `version` counts changes.
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
        self.ttl = RETENTION_MS
        self.again = self.begun = False
        self.owner = ""
        self.fence = self.lease = self.version = 0
        self.requests: dict[str, Json] = {}
        self.answers: dict[str, Json] = {}
        self.result: Json = None
        self.error: Json = None

    @property
    def is_finished(self) -> bool:
        """Whether the task has ended."""
        return not TRANSITIONS[self.status]

    @property
    def expires(self) -> int:
        """When it may be deleted."""
        return self.created + (self.ttl if self.is_finished else MAX_DURATION_MS + RETENTION_MS)

    def record(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def from_record(record: Json) -> Task:
    """Return the task of a record; raise ValueError if the record is not a task."""
    if type(record) is not dict or not record.keys() >= set(Task.__slots__) or record["status"] not in TRANSITIONS:
        raise ValueError("not a task")
    task = Task("", "", "", 0)
    for name in Task.__slots__:
        setattr(task, name, record[name])
    return task


def change_status(task: Task, status: str, now: int) -> Task:
    """Return the task with another status; its retention period starts again."""
    if status not in TRANSITIONS[task.status]:
        raise StaleTaskError(f"a task cannot change from {task.status} to {status}")
    task.status = status
    # The clocks of two servers may differ: for a client time does not go back.
    task.updated = max(now, task.updated)
    task.ttl = max(task.ttl, task.updated - task.created + RETENTION_MS)
    task.version += 1
    return task


def check_owner(task: Task, fence: int) -> None:
    """Refuse an update by a server that is not the owner any more."""
    if task.is_finished or task.fence != fence:
        raise StaleTaskError("the task has ended or is owned by another server")


def acquire(task: Task, owner: str, lease: int, now: int) -> Task:
    """Take a task whose lease has expired: run it, or end it if it was begun and may not be run again."""
    if task.is_finished or task.lease > now:
        raise StaleTaskError("the task has ended or is running")
    # Even if it fails below: its former owner must not change it any more.
    task.fence += 1
    if now - task.created > MAX_DURATION_MS:
        return fail(task, OVERDUE, now)
    if task.begun and not task.again:
        return fail(task, INTERRUPTED, now)
    if task.fence > MAX_OWNERS:
        return fail(task, TOO_MANY_OWNERS, now)
    task.owner, task.lease, task.begun = owner, lease, True
    task.version += 1
    return task


def fail(task: Task, why: str, now: int) -> Task:
    """End a task with an error of the server itself."""
    task.error = {"code": -32603, "message": f"Internal error: {why}"}
    return clear_ended(change_status(task, FAILED, now), why)


def fail_unstorable(task: Task, why: str) -> Task:
    """End a task, or replace its end, because the result of a step cannot be stored."""
    # Not by `change_status`: the step that cannot be stored may have ended the task.
    task.status, task.result, task.answers = FAILED, None, {}
    task.error = {"code": -32603, "message": f"Internal error: {why}"}
    return clear_ended(task, why)


def release(task: Task, fence: int, now: int) -> Task:
    """Release a task because its owner ends: another server may run it again at once, or it ends."""
    check_owner(task, fence)
    task.lease = 0
    # Acquired by nobody, with a lease that is over: the limits of `acquire` hold here, too.
    return acquire(task, "", 0, now)


def requeue(task: Task, fence: int) -> Task:
    """Release a task that was acquired and not begun: any server may begin it."""
    check_owner(task, fence)
    task.owner, task.lease, task.begun = "", 0, False
    task.fence += 1
    task.version += 1
    return task


def request_input(task: Task, fence: int, requests: dict[str, Json], now: int) -> Task:
    """Add client requests; those that were answered before are not added again."""
    check_owner(task, fence)
    task.requests.update({key: value for key, value in requests.items() if key not in task.answers})
    return change_status(task, INPUT_REQUIRED if task.requests else task.status, now)


def add_responses(task: Task, responses: dict[str, Json], now: int) -> Task:
    """Add the responses to open requests; ignore all others."""
    fitting = {key: value for key, value in responses.items() if key in task.requests}
    if task.is_finished or not fitting:
        raise StaleTaskError("no such open request")
    task.answers.update(fitting)
    for key in fitting:
        del task.requests[key]
    return change_status(task, INPUT_REQUIRED if task.requests else WORKING, now)


def finish(task: Task, fence: int, result: Json, error: Json, now: int) -> Task:
    """End a task with a result, or an error if there is none."""
    check_owner(task, fence)
    task.result, task.error = result, error
    message = error.get("message") if type(error) is dict else ""
    return clear_ended(
        change_status(task, FAILED if error is not None else COMPLETED, now), message if type(message) is str else ""
    )


def cancel(task: Task, now: int) -> Task:
    """End a task that the client cancelled; its owner will notice."""
    return clear_ended(change_status(task, CANCELLED, now), "")


def clear_ended(task: Task, message: str) -> Task:
    """Return a task that has ended, without the data that only a running task needs."""
    task.message = message
    task.requests = {}
    task.owner, task.lease = "", 0
    task.fence += 1
    return task


Step = Callable[[Task, int], Task]
"""One step of a task at a time; it may change the task that it receives, which is a copy of the stored one."""


POLL_MS = 1000
"""How often a client should poll, in milliseconds."""
MAX_ID_LENGTH = 200
"""Maximum length of the id of a task; generated ids have 48 characters."""
UNKNOWN = "Invalid params: unknown or expired task"


def task_view(task: Task, now: int) -> dict[str, Json]:
    """Return a task as clients see it, without its details."""
    ttl = task.ttl if task.is_finished else max(task.ttl, now - task.created + RETENTION_MS)
    view: dict[str, Json] = {"taskId": task.identifier, "status": task.status}
    if task.message:
        view["statusMessage"] = task.message
    view.update(
        createdAt=iso_time(task.created), lastUpdatedAt=iso_time(task.updated), ttlMs=ttl, pollIntervalMs=POLL_MS
    )
    return view


def created_result(task: Task, now: int) -> dict[str, Json]:
    """Return the result of a request that became a task."""
    return {"resultType": "task", **task_view(task, now)}


def detailed_view(task: Task, now: int) -> dict[str, Json]:
    """Return a task with the details of its status: open requests, result, or error."""
    view = task_view(task, now)
    if task.status == INPUT_REQUIRED:
        view["inputRequests"] = task.requests
    elif task.status == COMPLETED:
        view["result"] = task.result
    elif task.status == FAILED:
        view["error"] = task.error
    return view


def iso_time(moment: int) -> str:
    """Return a time in ISO 8601."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TaskChanged(PublishChange):
    """A task has changed: `uri` is its id, `task` what clients see of it.

    It is visible only to its principal, with a token that allows its tool.
    """

    __slots__ = ("principal", "task", "tool")

    def __init__(self, identifier: str, principal: str, tool: str, task: dict[str, Json]) -> None:
        super().__init__("task", identifier)
        self.principal = principal
        self.tool = tool
        self.task = task


def status_event(task: Task, now: int) -> TaskChanged:
    """Return the event of a changed task; its `task` is the params of `notifications/tasks`."""
    return TaskChanged(task.identifier, task.principal, task.tool, detailed_view(task, now))


def may_see(session: SessionState, principal: str, tool: str) -> bool:
    """Tell whether a conversation may see a principal's task of this tool."""
    return session.principal == principal and (session.allows is None or session.allows(tool))


def visible_task(session: SessionState, event: PublishChange) -> dict[str, Json] | None:
    """Return what a conversation may see of a changed task; None if it may not see it."""
    if not isinstance(event, TaskChanged) or not may_see(session, event.principal, event.tool):
        return None
    return event.task


def declares_tasks(request: Request) -> bool:
    """Tell whether the client declares tasks in this request; earlier declarations do not count."""
    meta = request.params.get("_meta")
    capabilities = meta.get(CAPABILITIES_KEY) if request.wire.stateless and type(meta) is dict else None
    extensions = capabilities.get("extensions") if type(capabilities) is dict else None
    return type(extensions) is dict and type(extensions.get(TASKS_EXTENSION)) is dict


def missing_extension() -> Failure:
    """Return the refusal of a request that needs a client with tasks."""
    required: Json = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
    return Failure(MISSING_CAPABILITY, f"Missing required client capability: the extension {TASKS_EXTENSION}", required)


def required_task_refusal(call: Call) -> Outcome | Failure | None:
    """Return the refusal of a call that must be a task if the client does not support tasks."""
    if call.definition.task != "required" or declares_tasks(call.request):
        return None
    if call.request.wire.stateless:
        return missing_extension()
    message = f"{call.definition.name} runs as a task, which this revision of the protocol does not support"
    return text_outcome(message, is_error=True)


def get_task(session: SessionState, request: Request) -> Failure | TaskRequest:
    """Handle `tasks/get`."""
    return task_request(request)


def cancel_task(session: SessionState, request: Request) -> Failure | TaskRequest:
    """Handle `tasks/cancel`."""
    return task_request(request)


def update_task(session: SessionState, request: Request) -> Failure | TaskRequest:
    """Handle `tasks/update`: answers of the client, each an object."""
    responses = request.params.get("inputResponses")
    checked = task_request(request)
    if isinstance(checked, TaskRequest) and (
        type(responses) is not dict or any(type(response) is not dict for response in responses.values())
    ):
        return Failure(INVALID_PARAMS, "Invalid params: `inputResponses` must be an object of objects")
    return checked


def task_request(request: Request) -> Failure | TaskRequest:
    """Return the request for the task manager; refuse one whose task cannot exist."""
    if not declares_tasks(request):
        return missing_extension()
    identifier = request.params.get("taskId")
    if type(identifier) is not str:
        return Failure(INVALID_PARAMS, "Invalid params: `taskId` must be a string")
    if not (0 < len(identifier) <= MAX_ID_LENGTH and identifier.isascii() and identifier.isalnum()):
        return Failure(INVALID_PARAMS, UNKNOWN)
    return TaskRequest(request)
