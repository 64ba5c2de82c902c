"""Tasks (io.modelcontextprotocol/tasks): what clients see of them, and the three requests about them.

A request may become a task, or be about a task, only if it declares itself that its client supports tasks.
"""

from __future__ import annotations

from datetime import UTC, datetime

from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, INVALID_PARAMS, MISSING_CAPABILITY, TASKS_EXTENSION
from mcpc_runtime.protocol.effects import Call, Failure, Outcome, PublishChange, Request, TaskRequest, text_outcome
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.session_state import SessionState
from mcpc_runtime.protocol.task_state import COMPLETED, FAILED, INPUT_REQUIRED, RETENTION_MS, Task

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
