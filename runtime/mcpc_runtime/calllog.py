"""A line for every call, for whoever runs the server: off unless MCPC_CALL_LOG says where to.

    {"time": "2026-01-02T03:04:05.678Z", "tool": "greet", "chain": [], "arguments": {"name": 7}, "status": "success",
     "milliseconds": 1.25, "id": 3, "principal": "token ann", "client": "192.0.2.7", "session": "8c0f2a41"}

`arguments` are sizes in bytes; values only where MCPC_CALL_LOG_VALUES is `1`.  `chain`: the tools that called this one.
`id` is that of the client's request; over HTTP `client` is the address that it came from, `session` stands for the
session that it belongs to, and `principal` is whose token it had, each where there is one.  Where there is an error,
`error` is its text; where the request came with a trace, `trace` is its `traceparent`.
"""

from __future__ import annotations

import posix
from time import gmtime, strftime, time

from mcpc_runtime.errors import tell
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

WHERE, VALUES = b"MCPC_CALL_LOG", b"MCPC_CALL_LOG_VALUES"
MOST_ID = 64
"""Characters of a request's id that are written: a client may choose a long one."""
MOST_ERROR = 2000
"""Characters of an error that are written."""


class CallLog:
    """Writes a line for every call that ended."""

    def __init__(self, descriptor: int, values: bool) -> None:
        self._descriptor = descriptor
        self._values = values

    def began(self, call: Call) -> None:
        """Write nothing yet."""

    def ended(self, call: Call, status: str, seconds: float, ending: Ending | None) -> None:
        """Write the line."""
        line = encode(facts(call, status, seconds, ending, self._values)) + b"\n"
        try:
            posix.write(self._descriptor, line)
        except OSError:
            return


def call_logs() -> list[CallLog]:
    """Return the log that somebody wants, if anybody does and it can be written."""
    where = posix.environ.get(WHERE)
    if not where:
        return []
    values = posix.environ.get(VALUES) == b"1"
    descriptor = 2
    if where != b"stderr":
        try:
            flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW
            descriptor = posix.open(where, flags, 0o600)
        except OSError as problem:
            tell(f"the call log {where.decode(errors='replace')} cannot be written: {problem.strerror}")
            return []
    return [CallLog(descriptor, values)]


def facts(call: Call, status: str, seconds: float, ending: Ending | None, values: bool) -> dict[str, Json]:
    """Return what is said of a call."""
    given: Json = call.arguments
    if not values:
        given = {name: len(encode(value)) for name, value in call.arguments.items()}
    found: dict[str, Json] = {
        "time": timestamp(),
        call.kind: call.definition.name,
        "chain": list(call.chain),
        "arguments": given,
        "status": status,
        "milliseconds": round(seconds * 1000, 3),
    }
    found.update(asker(call))
    error = error_of(ending)
    if error:
        found["error"] = error[:MOST_ERROR]
    meta = call.request.params.get("_meta")
    trace = meta.get("traceparent") if type(meta) is dict else None
    if type(trace) is str:
        found["trace"] = trace
    return found


def asker(call: Call) -> dict[str, Json]:
    """Return which request a call belongs to, on whose behalf it is, and where it came from, as far as is known."""
    request = call.request
    identifier = request.identifier
    found: dict[str, Json] = {"id": identifier[:MOST_ID] if type(identifier) is str else identifier}
    if request.session.principal:
        found["principal"] = request.session.principal
    where = getattr(request.origin, "came_from", None)
    return found if where is None else {**found, **where()}


def timestamp() -> str:
    """Return the time as RFC 3339 has it."""
    now = time()
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(now))}.{int(now % 1 * 1000):03d}Z"


def error_of(ending: Ending | None) -> str:
    """Return what went wrong, in words; nothing if nothing did."""
    if isinstance(ending, Failure):
        return ending.message
    if not getattr(ending, "is_error", False):
        return ""
    blocks = getattr(ending, "content", [])
    return "\n".join(block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str)
