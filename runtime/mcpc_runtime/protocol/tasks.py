"""Tasks (io.modelcontextprotocol/tasks): what clients see of them, and the three requests about them.

A request may become a task, and may ask about one, if it says itself that its client knows tasks.
"""

from __future__ import annotations

from datetime import UTC, datetime

from mcpc_runtime.protocol.course import COMPLETED, FAILED, INPUT_REQUIRED, KEPT_MS
from mcpc_runtime.protocol.effects import Call, Failure, Publish, text_outcome
from mcpc_runtime.protocol.facts import CAPABILITIES_KEY, INVALID_PARAMS, MISSING_CAPABILITY, TASKS_EXTENSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.course import Task
    from mcpc_runtime.protocol.effects import Outcome, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session_state import SessionState

POLL_MS = 1000
"""How often a client should look."""
OPERATION_SECONDS = 15.0
MOST_LETTERS = 200
"""How long the id of a task may be; ours have 48."""
UNKNOWN = "Invalid params: there is no such task, or it was kept long enough"


def shown(task: Task, now: int) -> dict[str, Json]:
    """Return a task as clients see it, without its details."""
    ttl = task.ttl if task.over else max(task.ttl, now - task.created + KEPT_MS)
    view: dict[str, Json] = {"taskId": task.identifier, "status": task.status}
    if task.message:
        view["statusMessage"] = task.message
    view.update(createdAt=instant(task.created), lastUpdatedAt=instant(task.updated), ttlMs=ttl, pollIntervalMs=POLL_MS)
    return view


def created(task: Task, now: int) -> dict[str, Json]:
    """Return what a request is answered with that became a task."""
    return {"resultType": "task", **shown(task, now)}


def detailed(task: Task, now: int) -> dict[str, Json]:
    """Return a task with what its status wants: what is open, the result, or the error."""
    view = shown(task, now)
    if task.status == INPUT_REQUIRED:
        view["inputRequests"] = task.requests
    elif task.status == COMPLETED:
        view["result"] = task.result
    elif task.status == FAILED:
        view["error"] = task.error
    return view


def instant(moment: int) -> str:
    """Return a time as ISO 8601 writes it."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TaskChanged(Publish):
    """A task is not what it was: `uri` is its id, `task` what clients see of it.

    Only its principal may, with a token that allows its tool.
    """

    __slots__ = ("principal", "task", "tool")

    def __init__(self, identifier: str, principal: str, tool: str, task: dict[str, Json]) -> None:
        super().__init__("task", identifier)
        self.principal = principal
        self.tool = tool
        self.task = task


def status_event(task: Task, now: int) -> TaskChanged:
    """Return the event of a task that changed: `notifications/tasks` has its `task` as parameters."""
    return TaskChanged(task.identifier, task.principal, task.tool, detailed(task, now))


def may_see(session: SessionState, principal: str, tool: str) -> bool:
    """Tell whether a conversation may know of a principal's task of this tool."""
    return session.principal == principal and (session.allows is None or session.allows(tool))


def seen_by(session: SessionState, event: Publish) -> dict[str, Json] | None:
    """Return what a conversation may know of a task that changed; None if it may not see it."""
    if not isinstance(event, TaskChanged) or not may_see(session, event.principal, event.tool):
        return None
    return event.task


class Operation:
    """What a request about a task runs in the place of a handler (see `Definition` in `ports`)."""

    contract = "tasks"
    handler: tuple[str, ...] = ()
    seconds = OPERATION_SECONDS
    inline = isolated = again = False
    environment = 0
    requires: tuple[tuple[str, str], ...] = ()
    asks: tuple[tuple[str, str, bytes], ...] = ()
    task = mime = ""
    headers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arguments: tuple[tuple[str, bool], ...] = ()
    input = output = None

    def __init__(self, name: str) -> None:
        self.name = name


def declares(request: Request) -> bool:
    """Tell whether the client of this request knows tasks; what it said earlier does not count."""
    meta = request.params.get("_meta")
    capabilities = meta.get(CAPABILITIES_KEY) if request.wire.stateless and type(meta) is dict else None
    extensions = capabilities.get("extensions") if type(capabilities) is dict else None
    return type(extensions) is dict and type(extensions.get(TASKS_EXTENSION)) is dict


def missing() -> Failure:
    """Return the refusal of a request that only a client can make that knows tasks."""
    required: Json = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
    return Failure(MISSING_CAPABILITY, f"Missing required client capability: the extension {TASKS_EXTENSION}", required)


def lacking(call: Call) -> Outcome | Failure | None:
    """Return the refusal of a call that can only be a task where the client knows none."""
    if call.definition.task != "required" or declares(call.request):
        return None
    if call.request.wire.stateless:
        return missing()
    words = f"{call.definition.name} runs as a task, which this revision of the protocol does not have"
    return text_outcome(words, is_error=True)


def get(session: SessionState, request: Request) -> Failure | Call:
    """Look at a task."""
    return operation(request)


def cancel(session: SessionState, request: Request) -> Failure | Call:
    """Have a task end, if it has not yet."""
    return operation(request)


def update(session: SessionState, request: Request) -> Failure | Call:
    """Take answers of the client, each an object."""
    responses = request.params.get("inputResponses")
    checked = operation(request)
    if isinstance(checked, Call) and (
        type(responses) is not dict or any(type(one) is not dict for one in responses.values())
    ):
        return Failure(INVALID_PARAMS, "Invalid params: `inputResponses` must be an object of objects")
    return checked


def operation(request: Request) -> Failure | Call:
    """Return the call of a request about a task."""
    if not declares(request):
        return missing()
    identifier = request.params.get("taskId")
    if type(identifier) is not str:
        return Failure(INVALID_PARAMS, "Invalid params: `taskId` must be a string")
    if not (0 < len(identifier) <= MOST_LETTERS and identifier.isascii() and identifier.isalnum()):
        return Failure(INVALID_PARAMS, UNKNOWN)
    return Call(request, Operation(request.method), {})
