"""The call log: one line of JSON per call, for operators; off unless MCPC_CALL_LOG names a file or `stderr`.

    {"time": "2026-01-02T03:04:05.678Z", "tool": "greet", "chain": [], "arguments": {"name": 7}, "status": "success",
     "milliseconds": 1.25, "id": 3, "principal": "token ann", "client": "192.0.2.7", "session": "8c0f2a41"}

`arguments` are sizes in bytes; values only if MCPC_CALL_LOG_VALUES is `1`.  `chain`: the tools that called this one.
`id` is that of the client's request.  Optional members: `client`, the address of an HTTP request; `session`, a digest
of the id of its session; `principal`, the owner of the request; `error`, the text of the error; `trace`, the request's
`traceparent`.
"""

from __future__ import annotations

from time import gmtime, strftime, time

from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.effects import Activity, Ending, Failure
from mcpc_runtime.protocol.jsonrpc import Json, encode
from mcpc_runtime.transports.platforms import system

FILE_VARIABLE, VALUES_VARIABLE = b"MCPC_CALL_LOG", b"MCPC_CALL_LOG_VALUES"
MAX_ID_LENGTH = 64
"""Longer request ids are cut, because clients choose them."""
MAX_ERROR_LENGTH = 2000
"""Longer error texts are cut."""


class CallLog:
    """An observer that writes a line for each call that ended."""

    def __init__(self, descriptor: int, values: bool) -> None:
        self._descriptor = descriptor
        self._values = values

    def began(self, call: Activity) -> None:
        """Do nothing: the line is written at the end."""

    def ended(self, call: Activity, status: str, seconds: float, ending: Ending | None) -> None:
        """Write the line."""
        line = encode(log_entry(call, status, seconds, ending, self._values)) + b"\n"
        try:
            # One write in append mode: lines of several processes do not mix.  A full disk does not disturb calls.
            system.write(self._descriptor, line)
        except OSError:
            return


def open_call_log() -> list[CallLog]:
    """Return the configured call log; an empty list if there is none, or it cannot be written."""
    path = system.environ.get(FILE_VARIABLE)
    if not path:
        return []
    values = system.environ.get(VALUES_VARIABLE) == b"1"
    descriptor = 2
    if path != b"stderr":
        try:
            # Another user's link is not followed, and only the owner reads the file: arguments may be secret.
            flags = system.O_WRONLY | system.O_CREAT | system.O_APPEND | system.O_CLOEXEC | system.O_NOFOLLOW
            descriptor = system.open(path, flags, 0o600)
        except OSError as problem:
            log_line(f"cannot write the call log {path.decode(errors='replace')}: {problem.strerror}")
            return []
    return [CallLog(descriptor, values)]


def log_entry(call: Activity, status: str, seconds: float, ending: Ending | None, values: bool) -> dict[str, Json]:
    """Return the line of a call as an object."""
    arguments: Json = call.arguments
    if not values:
        arguments = {name: len(encode(value)) for name, value in call.arguments.items()}
    entry: dict[str, Json] = {
        "time": timestamp(),
        call.kind: call.name,
        "chain": list(call.chain),
        "arguments": arguments,
        "status": status,
        "milliseconds": round(seconds * 1000, 3),
    }
    entry.update(request_members(call))
    error = error_of(ending)
    if error:
        entry["error"] = error[:MAX_ERROR_LENGTH]
    meta = call.request.params.get("_meta")
    trace = meta.get("traceparent") if type(meta) is dict else None
    if type(trace) is str:
        entry["trace"] = trace
    return entry


def request_members(call: Activity) -> dict[str, Json]:
    """Return the request id of a call and, where they are known, its principal, address and session."""
    request = call.request
    identifier = request.identifier
    members: dict[str, Json] = {"id": identifier[:MAX_ID_LENGTH] if type(identifier) is str else identifier}
    if request.session.principal:
        members["principal"] = request.session.principal
    came_from = getattr(request.origin, "came_from", None)
    return members if came_from is None else {**members, **came_from()}


def timestamp() -> str:
    """Return the current time in UTC as RFC 3339, with milliseconds."""
    now = time()
    # Cut, not rounded: 999.6 milliseconds would have four digits.
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(now))}.{int(now % 1 * 1000):03d}Z"


def error_of(ending: Ending | None) -> str:
    """Return the text of an error; an empty string for a success."""
    if isinstance(ending, Failure):
        return ending.message
    if not getattr(ending, "is_error", False):
        return ""
    blocks = getattr(ending, "content", [])
    return "\n".join(block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str)
