"""Notifications of a running handler: progress and log messages, sent only to a client that requested them, in order.

Progress is sent for a request with a progress token, and its value only increases; a log message is sent to a client
that requested its level.
"""

from __future__ import annotations

from mcpc_runtime.protocol.constants import LOG_LEVEL_KEY, LOG_LEVELS
from mcpc_runtime.protocol.effects import Activity, Call, Effect, SendMessage, SessionState, TaskRequest
from mcpc_runtime.protocol.jsonrpc import Json, notification_line
from mcpc_runtime.protocol.requests import Request

DEFAULT_LEVEL = "info"
"""The level of a handshake-era client that set none; a stateless request without a level receives no log messages."""
LEVEL_ALIASES = {"warn": "warning", "err": "error", "fatal": "critical", "trace": "debug"}
"""Names of levels in other systems."""


def notification_effects(session: SessionState, call: Activity, values: dict[str, Json]) -> list[Effect]:
    """Return the effects of one handler message; none for other values, or if the client did not request it."""
    if session.running.get(call.request.identifier) is None or call.is_task or isinstance(call, TaskRequest):
        return []
    if "progress" in values:
        return progress_notification(call, values)
    return log_notification(session, call, values) if "log" in values else []


def progress_notification(call: Call, values: dict[str, Json]) -> list[Effect]:
    """Return a progress notification, if the client requested it and the value increased."""
    meta = call.request.params.get("_meta")
    token = meta.get("progressToken") if type(meta) is dict else None
    value = number_or_none(values["progress"])
    # What a nested call reports is not on the scale of the request.
    if value is None or (type(token) is not str and type(token) is not int) or call.chain:
        return []
    # The value must increase with each notification (MCP 2025-06-18, Progress).
    if call.progress is not None and value <= call.progress:
        return []
    call.progress = value
    params: dict[str, Json] = {"progressToken": token, "progress": value}
    total, message = number_or_none(values.get("total")), values.get("message")
    if total is not None:
        params["total"] = total
    if type(message) is str and message and call.request.wire.progress_message:
        params["message"] = message
    return [SendMessage(notification_line("notifications/progress", params), call.request.session, call.request)]


def log_notification(session: SessionState, call: Call, values: dict[str, Json]) -> list[Effect]:
    """Return a log message, if the client requested its level; an unknown level counts as `info`."""
    level = values["log"]
    name = LEVEL_ALIASES.get(level, level) if type(level) is str else "info"
    if name not in LOG_LEVELS:
        name = "info"
    if not shows_log(session, call.request, name):
        return []
    logger = values.get("logger")
    params: Json = {
        "level": name,
        "logger": logger if type(logger) is str and logger else call.definition.name,
        "data": values.get("data", ""),
    }
    return [SendMessage(notification_line("notifications/message", params), session, call.request)]


def number_or_none(value: Json) -> int | float | None:
    """Return a number, None for any other value."""
    return value if type(value) is int or type(value) is float else None


def shows_log(session: SessionState, request: Request, level: str) -> bool:
    """Tell whether the client receives messages of this level about this request."""
    if not request.wire.logging:
        return False
    requested_level: Json = session.log_level or DEFAULT_LEVEL
    if request.wire.stateless:
        meta = request.params["_meta"]
        requested_level = meta.get(LOG_LEVEL_KEY) if type(meta) is dict else None
    return requested_level in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(requested_level)
