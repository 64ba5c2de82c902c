"""The call of a task: what is kept of it, and how any server with the same tools makes it again from that."""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Call, Request
from mcpc_runtime.protocol.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image.image import Image
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.task_state import Task
    from mcpc_runtime.tasks.store import Kept

NOT_KEPT = ("progressToken",)
"""What of a request's `_meta` means nothing once it was answered."""


def kept_of(call: Call) -> Kept:
    """Return what has to be kept of a call."""
    meta = call.request.params.get("_meta")
    kept = {key: value for key, value in meta.items() if key not in NOT_KEPT} if type(meta) is dict else {}
    return {"version": call.request.wire.version, "arguments": call.arguments, "meta": kept}


def call_of(image: Image, task: Task, kept: Kept) -> Call | None:
    """Return the call of a task, in a conversation of its own; None if this server has not got its tool."""
    tool = image.tool(task.tool)
    version, arguments = kept.get("version"), kept.get("arguments")
    if tool is None or version not in image.stateless_versions or type(arguments) is not dict:
        return None
    session = Session(image)
    session.principal = task.principal
    params: dict[str, Json] = {"name": task.tool, "arguments": arguments, "_meta": kept.get("meta")}
    call = Call(Request(session, task.identifier, "tools/call", params, image.wire(str(version))), tool, arguments)
    call.is_task = True
    call.answers = dict(task.answers)
    return call
