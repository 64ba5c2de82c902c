"""One conversation: every message is answered by its own envelope, and nothing is pinned by what came before.

A request whose `_meta` names a protocol version is stateless and is answered in that version.  Any other request is
of the handshake era: in the version the last `initialize` agreed on, or the newest of that era if there was none.
What each method needs stands in tables; what a revision shows was decided when the image was built.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.protocol.effects import Batch, Call, Failure, Request, Send, Start, Stop
from mcpc_runtime.protocol.facts import (
    CAPABILITIES_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LOG_LEVEL_KEY,
    LOG_LEVELS,
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
from mcpc_runtime.protocol.session_state import SessionState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.allowing import list_tools, privately
    from mcpc_runtime.protocol.asks import take_response
    from mcpc_runtime.protocol.batches import close_batch, receive_batch
    from mcpc_runtime.protocol.calls import finish as calls_finish
    from mcpc_runtime.protocol.effects import Effect, Ending, Publish
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.notes import note as notes_note
    from mcpc_runtime.protocol.ports import Wire
    from mcpc_runtime.protocol.subscriptions import changed as subscriptions_changed
    from mcpc_runtime.protocol.values import has_too_many_values
else:
    calls_finish = lazy("mcpc_runtime.protocol.calls:finish", "calls_finish")
    close_batch = lazy("mcpc_runtime.protocol.batches:close_batch")
    has_too_many_values = lazy("mcpc_runtime.protocol.values:has_too_many_values")
    list_tools = lazy("mcpc_runtime.protocol.allowing:list_tools")
    notes_note = lazy("mcpc_runtime.protocol.notes:note", "notes_note")
    privately = lazy("mcpc_runtime.protocol.allowing:privately")
    receive_batch = lazy("mcpc_runtime.protocol.batches:receive_batch")
    subscriptions_changed = lazy("mcpc_runtime.protocol.subscriptions:changed", "subscriptions_changed")
    take_response = lazy("mcpc_runtime.protocol.asks:take_response")

ROOTS_CHANGED = "notifications/roots/list_changed"
STATELESS_ONLY = ("server/discover", "subscriptions/listen")
MOST_VALUES = 1 << 19
TOO_MANY_VALUES = f"Invalid request: a message has at most {MOST_VALUES} values"
TOO_LARGE = "Invalid request: the message is larger than %d bytes"


class Session(SessionState):
    """One conversation; `receive` and `finish` turn what happens into effects."""

    __slots__ = ()

    def receive(self, data: bytes) -> list[Effect]:
        """Return the effects of one line."""
        if len(data) > MOST_VALUES and has_too_many_values(data):
            return refused(None, INVALID_REQUEST, TOO_MANY_VALUES)
        try:
            message = parse(data)
        except ParseError as problem:
            return refused(None, PARSE_ERROR, f"Parse error: {problem}")
        if type(message) is list:
            effects: list[Effect] = receive_batch(self, message, self.receive_message)
            return effects
        return self.receive_message(message, None)

    def refuse_oversize(self, limit: int) -> list[Effect]:
        """Return the answer to a line of more than `limit` bytes, which was not read."""
        return refused(None, INVALID_REQUEST, TOO_LARGE % limit)

    def refuse_broken(self, data: bytes, problem: Exception) -> list[Effect]:
        """Return the answer to a line that this server failed on: an internal error if it was a request."""
        message = parse(data)
        identifier = message.get("id") if type(message) is dict else None
        if type(identifier) is not str and type(identifier) is not int:
            identifier = None
        if type(message) is dict and "id" not in message:
            return []
        return refused(identifier, INTERNAL_ERROR, f"Internal error: {type(problem).__name__}: {problem}")

    def receive_message(self, message: Json, batch: Batch | None) -> list[Effect]:
        """Return the effects of one message, alone or of a batch."""
        if type(message) is not dict:
            return refused(None, INVALID_REQUEST, "Invalid request: a message is an object")
        if "method" not in message and ("result" in message or "error" in message):
            return self._take_response(message)
        problem = misshapen(message)
        method, params, identifier = message.get("method"), message.get("params", {}), message.get("id")
        readable = identifier if type(identifier) is str or type(identifier) is int else None
        if problem or type(method) is not str:
            return refused(readable, INVALID_REQUEST, f"Invalid request: {problem}")
        if readable is None:
            return self._notice(method, params)
        if type(params) is not dict:
            return refused(readable, INVALID_PARAMS, "Invalid params: `params` must be an object")
        return self._receive_request(readable, method, params, batch)

    def _receive_request(
        self, identifier: str | int, method: str, params: dict[str, Json], batch: Batch | None
    ) -> list[Effect]:
        if identifier in self.running or identifier in self.listening:
            return refused(identifier, INVALID_REQUEST, "Invalid request: a request with this id is running")
        wire = self._envelope(method, params)
        if batch is not None and not isinstance(wire, Failure) and (wire.stateless or method == "initialize"):
            alone = method if method == "initialize" else "a stateless request"
            wire = Failure(INVALID_REQUEST, f"Invalid request: {alone} is no part of a batch")
        if isinstance(wire, Failure):
            return refused(identifier, wire.code, wire.message, wire.data)
        request = Request(self, identifier, method, params, wire)
        request.batch = batch
        answer = self._answer(request)
        if isinstance(answer, bytes):
            return [Send(result_line(identifier, answer), request)]
        if isinstance(answer, Failure):
            return refused(identifier, answer.code, answer.message, answer.data, request)
        if isinstance(answer, list):
            return answer
        self.running[identifier] = answer
        if batch is not None:
            batch.open += 1
        return [Start(answer)]

    def _take_response(self, message: dict[str, Json]) -> list[Effect]:
        """Take what the client answers to a request of ours; what nobody asked for is passed over."""
        if not self.asked:
            return []
        effects: list[Effect] = take_response(self, message)
        return effects

    def _envelope(self, method: str, params: dict[str, Json]) -> Wire | Failure:
        """Return the wire a request is to be answered on, by nothing but the request (and the last handshake)."""
        meta = params.get("_meta")
        if type(meta) is not dict or not (VERSION_KEY in meta or CAPABILITIES_KEY in meta):
            if method in STATELESS_ONLY:
                return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{VERSION_KEY}`")
            return self.handshake_wire()
        problem = misspoken(meta)
        if problem:
            return Failure(INVALID_PARAMS, f"Invalid params: {problem}")
        version = str(meta[VERSION_KEY])
        if version not in self.image.stateless_versions:
            data: Json = {"supported": list(self.image.stateless_versions), "requested": version}
            return Failure(UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version: {version}", data)
        return self.image.wire(version)

    def _answer(self, request: Request) -> Answer:
        wire, method = request.wire, request.method
        if self.image.guard is not None:
            refused: Failure | None = self.image.guard(request)
            if refused is not None:
                return refused
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
            if method == ROOTS_CHANGED:
                self.roots = None
            return []
        identifier = params.get("requestId")
        if type(identifier) is not str and type(identifier) is not int:
            return []
        return self.drop(identifier)

    def drop(self, identifier: str | int) -> list[Effect]:
        """Return the effects of nobody waiting for the answer to a request any more."""
        self.listening.pop(identifier, None)
        call = self.running.pop(identifier, None)
        if call is None or call.is_task:
            return []
        return [Stop(call), *close_batch(call, None)]

    def changed(self, event: Publish) -> list[Effect]:
        """Return what this client is told of a change, if it wants to know."""
        if not self.listening and not self.watched and self.wire is None:
            return []
        effects: list[Effect] = subscriptions_changed(self, event)
        return effects

    def _list(self, request: Request) -> bytes | Failure:
        if request.method == "tools/list" and not (self.allows is None and self.image.shown is None):
            allowed: bytes | Failure = list_tools(self, request)
            return allowed
        cursor = request.params.get("cursor")
        page = request.wire.page(request.method, cursor)
        if page is not None and self.principal and request.wire.stateless and request.method == "tools/list":
            page = privately(page)
        return page if page is not None else Failure(INVALID_PARAMS, "Invalid params: unknown cursor")

    def initialize(self, request: Request) -> bytes | Failure:
        """Agree on a version: the client's if it is known, else the newest of the handshake era."""
        version = request.params.get("protocolVersion")
        if type(version) is not str:
            return Failure(INVALID_PARAMS, "Invalid params: `protocolVersion` must be a string")
        known = self.image.handshake_versions
        self.wire = self.image.wire(version if version in known else known[-1])
        capabilities = request.params.get("capabilities")
        self.capabilities = capabilities if type(capabilities) is dict else {}
        return self.wire.initialize()

    def note(self, call: Call, said: dict[str, Json]) -> list[Effect]:
        """Return the effects of what a handler says while it runs: progress, or a log message."""
        effects: list[Effect] = notes_note(self, call, said)
        return effects

    def finish(self, call: Call, ending: Ending) -> list[Effect]:
        """Return the effects of a handler's end; none if its call was cancelled."""
        effects: list[Effect] = calls_finish(self, call, ending)
        return effects


def refused(
    identifier: str | int | None, code: int, message: str, data: Json = None, request: Request | None = None
) -> list[Effect]:
    """Return the effects of an error."""
    return [Send(error_line(identifier, code, message, data), request, code)]


def misshapen(message: dict[str, Json]) -> str:
    """Return what keeps an object from being a request or a notification, or nothing."""
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if type(message.get("method")) is not str:
        return "`method` must be a string"
    if "id" in message and type(message["id"]) is not str and type(message["id"]) is not int:
        return "`id` must be a string or an integer"
    return ""


def misspoken(meta: dict[str, Json]) -> str:
    """Return what is wrong with what every stateless request says of itself, or nothing."""
    if type(meta.get(VERSION_KEY)) is not str:
        return f"`_meta` must have `{VERSION_KEY}`, a string"
    if type(meta.get(CAPABILITIES_KEY)) is not dict:
        return f"`_meta` must have `{CAPABILITIES_KEY}`, an object"
    if LOG_LEVEL_KEY in meta and meta[LOG_LEVEL_KEY] not in LOG_LEVELS:
        return f"`{LOG_LEVEL_KEY}` must be one of {', '.join(LOG_LEVELS)}"
    return ""


if TYPE_CHECKING:
    Answer = bytes | Failure | Call | list[Effect]
    """A result, a refusal, a handler to run, or the effects of a request that stays open."""
    Perform = Callable[["Session", Request], Answer]

METHODS: dict[str, Perform | str] = {
    "completion/complete": "mcpc_runtime.protocol.completion:complete",
    "initialize": Session.initialize,
    "logging/setLevel": "mcpc_runtime.protocol.calls:set_level",
    "prompts/get": "mcpc_runtime.protocol.calls:get_prompt",
    "resources/directory/read": "mcpc_runtime.protocol.skills:read_directory",
    "resources/list": "mcpc_runtime.protocol.live:list_resources",
    "resources/read": "mcpc_runtime.protocol.resources:read",
    "resources/subscribe": "mcpc_runtime.protocol.subscriptions:subscribe",
    "resources/unsubscribe": "mcpc_runtime.protocol.subscriptions:unsubscribe",
    "skills/get": "mcpc_runtime.protocol.skills:get",
    "subscriptions/listen": "mcpc_runtime.protocol.subscriptions:listen",
    "tasks/cancel": "mcpc_runtime.protocol.tasks:cancel",
    "tasks/get": "mcpc_runtime.protocol.tasks:get",
    "tasks/update": "mcpc_runtime.protocol.tasks:update",
    "tools/call": "mcpc_runtime.protocol.calls:call_tool",
}
"""What each method that has no ready answer does; a dotted name is resolved when it is first called."""
