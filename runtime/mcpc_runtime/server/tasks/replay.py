"""Store the call of a task, and restore it on any server with the same tools."""

from __future__ import annotations

from mcpc_runtime.artifact.image.image import Image
from mcpc_runtime.protocol.effects import Call, Request
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.task_state import Task
from mcpc_runtime.server.tasks.store import StoredCall

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
