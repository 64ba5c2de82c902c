"""One conversation: every message is answered by its own envelope, and nothing is pinned by what came before.

A request whose `_meta` names a protocol version is stateless and is answered in that version.  Any other request is
of the handshake era: in the version the last `initialize` agreed on, or the newest of that era if there was none.
What each method needs stands in tables; what a revision shows was decided when the image was built.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Batch, Call, Failure, Request, Send, Start, Stop
from mcpc_runtime.protocol.facts import (
    CAPABILITIES_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    VERSION_KEY,
)
from mcpc_runtime.protocol.jsonrpc import (
    ParseError,
    error_line,
    parse,
    result_line,
)
from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.effects import Effect, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Image, Wire

FINISH = "mcpc_runtime.protocol.calls:finish"
NOTE = "mcpc_runtime.protocol.notes:note"
RECEIVE_BATCH = "mcpc_runtime.protocol.batches:receive_batch"
CLOSE_BATCH = "mcpc_runtime.protocol.batches:close_batch"
STATELESS_ONLY = ("server/discover", "subscriptions/listen")
TOO_LARGE = "Invalid request: the message is larger than %d bytes"


class Session:
    """The state of one client's conversation; `receive` and `finish` turn what happens into effects."""

    __slots__ = ("image", "log_level", "running", "wire")

    def __init__(self, image: Image) -> None:
        self.image = image
        self.wire: Wire | None = None
        self.log_level: str | None = None
        self.running: dict[str | int, Call] = {}

    def receive(self, data: bytes) -> list[Effect]:
        """Return the effects of one line."""
        try:
            message = parse(data)
        except ParseError as problem:
            return [Send(error_line(None, PARSE_ERROR, f"Parse error: {problem}"))]
        if type(message) is list:
            effects: list[Effect] = resolve(RECEIVE_BATCH)(self, message)
            return effects
        return self.receive_message(message, None)

    def refuse_oversize(self, limit: int) -> list[Effect]:
        """Return the answer to a line of more than `limit` bytes, which was not read."""
        return [Send(error_line(None, INVALID_REQUEST, TOO_LARGE % limit))]

    def refuse_broken(self, data: bytes, problem: Exception) -> list[Effect]:
        """Return the answer to a line that this server failed on: an internal error if it was a request."""
        message = parse(data)
        identifier = message.get("id") if type(message) is dict else None
        if type(identifier) is not str and type(identifier) is not int:
            identifier = None
        if type(message) is dict and "id" not in message:
            return []
        return [Send(error_line(identifier, INTERNAL_ERROR, f"Internal error: {type(problem).__name__}: {problem}"))]

    def receive_message(self, message: Json, batch: Batch | None) -> list[Effect]:
        """Return the effects of one message, alone or of a batch."""
        if type(message) is not dict:
            return [Send(error_line(None, INVALID_REQUEST, "Invalid request: a message is an object"))]
        if "method" not in message and ("result" in message or "error" in message):
            return []  # a response: this server asks nothing
        problem = misshapen(message)
        method, params, identifier = message.get("method"), message.get("params", {}), message.get("id")
        readable = identifier if type(identifier) is str or type(identifier) is int else None
        if problem or type(method) is not str:
            return [Send(error_line(readable, INVALID_REQUEST, f"Invalid request: {problem}"))]
        if readable is None:
            return self._notice(method, params)
        if type(params) is not dict:
            return [Send(error_line(readable, INVALID_PARAMS, "Invalid params: `params` must be an object"))]
        return self._receive_request(readable, method, params, batch)

    def _receive_request(
        self, identifier: str | int, method: str, params: dict[str, Json], batch: Batch | None
    ) -> list[Effect]:
        if identifier in self.running:
            return [Send(error_line(identifier, INVALID_REQUEST, "Invalid request: a request with this id is running"))]
        wire = self._envelope(method, params)
        if isinstance(wire, Failure):
            return [Send(error_line(identifier, wire.code, wire.message, wire.data))]
        request = Request(identifier, method, params, wire)
        request.batch = batch
        answer = self._answer(request)
        if isinstance(answer, bytes):
            return [Send(result_line(identifier, answer))]
        if isinstance(answer, Failure):
            return [Send(error_line(identifier, answer.code, answer.message, answer.data))]
        self.running[identifier] = answer
        if batch is not None:
            batch.open += 1
        return [Start(answer)]

    def _envelope(self, method: str, params: dict[str, Json]) -> Wire | Failure:
        """Return the wire a request is to be answered on, by nothing but the request (and the last handshake)."""
        meta = params.get("_meta")
        if type(meta) is not dict or not (VERSION_KEY in meta or CAPABILITIES_KEY in meta):
            if method in STATELESS_ONLY:
                return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{VERSION_KEY}`")
            return self.handshake_wire()
        version = meta.get(VERSION_KEY)
        if type(version) is not str:
            return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{VERSION_KEY}`, a string")
        if type(meta.get(CAPABILITIES_KEY)) is not dict:
            return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{CAPABILITIES_KEY}`, an object")
        if version not in self.image.stateless_versions:
            data: Json = {"supported": list(self.image.stateless_versions), "requested": version}
            return Failure(UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version: {version}", data)
        return self.image.wire(version)

    def handshake_wire(self) -> Wire:
        """Return the wire of messages that do not name a version."""
        return self.wire or self.image.wire(self.image.handshake_versions[-1])

    def _answer(self, request: Request) -> bytes | Failure | Call:
        wire, method = request.wire, request.method
        row = METHODS.get(method) if method in wire.methods else None
        if row is not None:
            perform: Perform = resolve(row) if type(row) is str else row  # type: ignore[assignment]
            return perform(self, request)
        answer = wire.answer(method)
        if answer is not None:
            return answer
        if method in wire.lists:
            return self._list(request)
        return Failure(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _notice(self, method: str, params: Json) -> list[Effect]:
        if method != "notifications/cancelled" or type(params) is not dict:
            return []
        identifier = params.get("requestId")
        if type(identifier) is not str and type(identifier) is not int:
            return []
        call = self.running.pop(identifier, None)
        return [] if call is None else [Stop(call), *resolve(CLOSE_BATCH)(call, None)]

    def _list(self, request: Request) -> bytes | Failure:
        cursor = request.params.get("cursor")
        page = request.wire.page(request.method, cursor)
        return page if page is not None else Failure(INVALID_PARAMS, "Invalid params: unknown cursor")

    def initialize(self, request: Request) -> bytes | Failure:
        """Agree on a version: the client's if it is known, else the newest of the handshake era."""
        version = request.params.get("protocolVersion")
        if type(version) is not str:
            return Failure(INVALID_PARAMS, "Invalid params: `protocolVersion` must be a string")
        known = self.image.handshake_versions
        self.wire = self.image.wire(version if version in known else known[-1])
        return self.wire.initialize()

    def note(self, call: Call, said: dict[str, Json]) -> list[Effect]:
        """Return the effects of what a handler says while it runs: progress, or a log message."""
        effects: list[Effect] = resolve(NOTE)(self, call, said)
        return effects

    def finish(self, call: Call, ending: Ending) -> list[Effect]:
        """Return the effects of a handler's end; none if its call was cancelled."""
        effects: list[Effect] = resolve(FINISH)(self, call, ending)
        return effects


def misshapen(message: dict[str, Json]) -> str:
    """Return what keeps an object from being a request or a notification, or nothing."""
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if type(message.get("method")) is not str:
        return "`method` must be a string"
    if "id" in message and type(message["id"]) is not str and type(message["id"]) is not int:
        return "`id` must be a string or an integer"
    return ""


if TYPE_CHECKING:
    Perform = Callable[["Session", Request], bytes | Failure | Call]

METHODS: dict[str, Perform | str] = {
    "initialize": Session.initialize,
    "logging/setLevel": "mcpc_runtime.protocol.calls:set_level",
    "prompts/get": "mcpc_runtime.protocol.calls:get_prompt",
    "tools/call": "mcpc_runtime.protocol.calls:call_tool",
}
"""What each method that has no ready answer does; a dotted name is resolved when it is first called."""
