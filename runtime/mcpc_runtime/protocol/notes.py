"""What a handler says while it runs, as notifications: only to a client that asked for them, in order, nothing twice.

Progress goes to a request that gave a token, and only ever grows; a log message to a client that wants its level.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Say
from mcpc_runtime.protocol.facts import LOG_LEVEL_KEY, LOG_LEVELS
from mcpc_runtime.protocol.jsonrpc import notification_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call, Effect, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session_state import SessionState

USUAL_LEVEL = "info"
"""What a client of the handshake era sees that never said; a stateless request that does not say wants none."""
OTHER_LEVELS = {"warn": "warning", "err": "error", "fatal": "critical", "trace": "debug"}
"""What other systems call a level."""


def note(session: SessionState, call: Call, said: dict[str, Json]) -> list[Effect]:
    """Return the effects of one note; what is no note, or not asked for, has none."""
    if session.running.get(call.request.identifier) is None or call.is_task:
        return []
    return progress(call, said) if "progress" in said else log(session, call, said) if "log" in said else []


def progress(call: Call, said: dict[str, Json]) -> list[Effect]:
    """Return a progress notification, if the client wants one and there is progress."""
    meta = call.request.params.get("_meta")
    token = meta.get("progressToken") if type(meta) is dict else None
    value = number(said["progress"])
    if value is None or (type(token) is not str and type(token) is not int) or call.chain:
        return []
    if call.progress is not None and value <= call.progress:
        return []
    call.progress = value
    params: dict[str, Json] = {"progressToken": token, "progress": value}
    total, message = number(said.get("total")), said.get("message")
    if total is not None:
        params["total"] = total
    if type(message) is str and message and call.request.wire.progress_message:
        params["message"] = message
    return [Say(notification_line("notifications/progress", params), call.request.session, call.request)]


def log(session: SessionState, call: Call, said: dict[str, Json]) -> list[Effect]:
    """Return a log message, if the client wants its level; a level nobody knows is `info`."""
    level = said["log"]
    name = OTHER_LEVELS.get(level, level) if type(level) is str else "info"
    if name not in LOG_LEVELS:
        name = "info"
    if not shows_log(session, call.request, name):
        return []
    logger = said.get("logger")
    params: Json = {
        "level": name,
        "logger": logger if type(logger) is str and logger else call.definition.name,
        "data": said.get("data", ""),
    }
    return [Say(notification_line("notifications/message", params), session, call.request)]


def number(value: Json) -> int | float | None:
    """Return a number, None for anything else."""
    return value if type(value) is int or type(value) is float else None


def shows_log(session: SessionState, request: Request, level: str) -> bool:
    """Tell whether the client wants to see a message of this level about this request."""
    if not request.wire.logging:
        return False
    wanted: Json = session.log_level or USUAL_LEVEL
    if request.wire.stateless:
        meta = request.params["_meta"]
        wanted = meta.get(LOG_LEVEL_KEY) if type(meta) is dict else None
    return wanted in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)
