"""One client connection in the protocol core: messages in, effects out, without input or output.

A request whose `_meta` names a protocol version is stateless and is answered in that version.  Any other request is
of the handshake era: in the version of the last `initialize`, or the newest of that era if there was none.  The table
`METHODS` has the function of each method; the responses of each revision are made when the image is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.batches import close_batch, receive_batch
from mcpc_runtime.protocol.calls import finish_call
from mcpc_runtime.protocol.client_requests.eras import take_response
from mcpc_runtime.protocol.constants import (
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
from mcpc_runtime.protocol.effects import (
    Activity,
    Call,
    Effect,
    Ending,
    Failure,
    PublishChange,
    StartHandler,
    StopHandler,
    TaskRequest,
)
from mcpc_runtime.protocol.filtered_tool_list import list_tools, make_private
from mcpc_runtime.protocol.image import Image, ProtocolRevision, StoredPage
from mcpc_runtime.protocol.jsonrpc import (
    Json,
    ParseError,
    error_line,
    parse,
    result_line,
)
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.protocol.notifications import notification_effects as notes_note
from mcpc_runtime.protocol.requests import Batch, Request, SendResponse, SendStored
from mcpc_runtime.protocol.run_time_lists import forward_request, is_forwarded, request_list
from mcpc_runtime.protocol.subscriptions import change_messages as subscriptions_changed
from mcpc_runtime.protocol.tolerance import is_known_client
from mcpc_runtime.protocol.values import has_too_many_values

Answer = bytes | Failure | Call | TaskRequest | list[Effect]
"""A result, an error, a handler to run, a request about a task, or the effects of a request that stays open."""
Perform = Callable[["Session", Request], Answer]


ROOTS_CHANGED = "notifications/roots/list_changed"
STATELESS_ONLY = ("server/discover", "subscriptions/listen")
MAX_VALUES = 1 << 19
TOO_MANY_VALUES = f"Invalid request: a message has at most {MAX_VALUES} values"
TOO_LARGE = "Invalid request: the message is larger than %d bytes"


class Session:
    """One client connection; `receive` and `finish` return effects.  See `SessionState` for what it keeps."""

    __slots__ = (
        "account",
        "allows",
        "asked",
        "capabilities",
        "conversation",
        "image",
        "is_tolerated",
        "listening",
        "log_level",
        "principal",
        "reads_later",
        "roots",
        "running",
        "unique_id",
        "watched",
        "wire",
    )

    def __init__(self, image: Image) -> None:
        self.image = image
        self.wire: ProtocolRevision | None = None
        self.log_level: str | None = None
        self.running: dict[str | int, Activity] = {}
        self.listening: dict[str | int, Request] = {}
        self.capabilities: dict[str, Json] = {}
        self.asked: dict[str | int, Any] = {}
        self.watched: dict[str, None] = {}
        self.principal = ""
        self.account: Account | None = None
        self.roots: object = None
        self.unique_id = ""
        self.conversation: str | None = None
        self.is_tolerated = self.reads_later = False
        self.allows: Callable[[str], bool] | None = None

    def handshake_wire(self) -> ProtocolRevision:
        """Return the revision of messages that do not name a version."""
        return self.wire or self.image.revision(self.image.handshake_versions[-1])

    def receive(self, data: bytes) -> list[Effect]:
        """Return the effects of one line."""
        # Counted before parsing, because values take far more memory than their text: `[]` is two bytes long.
        if len(data) > MAX_VALUES and has_too_many_values(data):
            return error_response(None, INVALID_REQUEST, TOO_MANY_VALUES)
        try:
            message = parse(data)
        except ParseError as problem:
            return error_response(None, PARSE_ERROR, f"Parse error: {problem}")
        if type(message) is list:
            effects: list[Effect] = receive_batch(self, message, self.receive_message)
            return effects
        return self.receive_message(message, None)

    def refuse_oversize(self, limit: int) -> list[Effect]:
        """Return the answer to a line of more than `limit` bytes, which was not parsed."""
        return error_response(None, INVALID_REQUEST, TOO_LARGE % limit)

    def refuse_broken(self, message: bytes | Json, problem: Exception) -> list[Effect]:
        """Return the answer to a line or message whose processing failed: an internal error if it was a request."""
        if isinstance(message, bytes):
            try:
                message = parse(message)
            except (ParseError, MemoryError):
                message = None
        identifier = message.get("id") if type(message) is dict else None
        if type(identifier) is not str and type(identifier) is not int:
            identifier = None
        # A notification has no response, not even one to an error.
        if type(message) is dict and "id" not in message:
            return []
        return error_response(identifier, INTERNAL_ERROR, f"Internal error: {type(problem).__name__}: {problem}")

    def receive_message(self, message: Json, batch: Batch | None) -> list[Effect]:
        """Return the effects of one message, alone or of a batch."""
        if type(message) is not dict:
            return error_response(None, INVALID_REQUEST, "Invalid request: a message must be an object")
        if "method" not in message and ("result" in message or "error" in message):
            return self._take_response(message)
        method, params, identifier = message.get("method"), message.get("params", {}), message.get("id")
        # A `bool` is an `int` for `isinstance`, and no id for JSON-RPC; so types are compared here.
        readable = identifier if type(identifier) is str or type(identifier) is int else None
        is_complete = readable is not None or "id" not in message
        if type(method) is not str or message.get("jsonrpc") != "2.0" or not is_complete:
            return error_response(readable, INVALID_REQUEST, f"Invalid request: {describe_malformed(message)}")
        if readable is None:
            return self._receive_notification(method, params)
        if type(params) is not dict:
            return error_response(readable, INVALID_PARAMS, "Invalid params: `params` must be an object")
        return self._receive_request(readable, method, params, batch)

    def _receive_request(
        self, identifier: str | int, method: str, params: dict[str, Json], batch: Batch | None
    ) -> list[Effect]:
        # Two answers under one id could not be told apart, and a cancellation would stop either.
        if identifier in self.running or identifier in self.listening:
            return error_response(identifier, INVALID_REQUEST, "Invalid request: a request with this id is running")
        wire = self._envelope(method, params)
        if batch is not None and not isinstance(wire, Failure) and (wire.stateless or method == "initialize"):
            alone = method if method == "initialize" else "a stateless request"
            wire = Failure(INVALID_REQUEST, f"Invalid request: {alone} is not allowed in a batch")
        if isinstance(wire, Failure):
            return error_response(identifier, wire.code, wire.message, wire.data)
        request = Request(self, identifier, method, params, wire)
        request.batch = batch
        answer = self._answer(request)
        if isinstance(answer, bytes):
            return [SendResponse(result_line(identifier, answer), request)]
        if isinstance(answer, Failure):
            return error_response(identifier, answer.code, answer.message, answer.data, request)
        if isinstance(answer, list):
            return answer
        self.running[identifier] = answer
        if batch is not None:
            batch["open"] += 1
        return [StartHandler(answer)]

    def _take_response(self, message: dict[str, Json]) -> list[Effect]:
        """Take the client's response to a client request; other responses are ignored."""
        if not self.asked:
            return []
        effects: list[Effect] = take_response(self, message)
        return effects

    def _envelope(self, method: str, params: dict[str, Json]) -> ProtocolRevision | Failure:
        """Return the revision in which a request is answered, from its `_meta` or the last handshake."""
        meta = params.get("_meta")
        if type(meta) is not dict or not (VERSION_KEY in meta or CAPABILITIES_KEY in meta):
            if method in STATELESS_ONLY:
                return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{VERSION_KEY}`")
            return self.wire or self.handshake_wire()
        problem = describe_wrong_envelope(meta)
        if problem:
            return Failure(INVALID_PARAMS, f"Invalid params: {problem}")
        version = str(meta[VERSION_KEY])
        if version not in self.image.stateless_versions:
            data: Json = {"supported": list(self.image.stateless_versions), "requested": version}
            return Failure(UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version: {version}", data)
        return self.image.revision(version)

    def _answer(self, request: Request) -> Answer:
        wire, method = request.wire, request.method
        if self.image.check_request is not None:
            failure: Failure | None = self.image.check_request(request)
            if failure is not None:
                return failure
        if method in METHODS and method in wire.methods:
            row = METHODS[method]
            if isinstance(row, str):
                # The table of the process is changed: the next request of any session finds the function.
                row = METHODS[method] = resolve(row)
            return row(self, request)
        answer = wire.answer(method)
        if answer is not None:
            return answer
        if method in wire.lists:
            return self._list(request)
        if "forwards" in self.image.run_time and is_forwarded(self, method):
            forwarded: Call = forward_request(self, request)
            return forwarded
        return Failure(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _receive_notification(self, method: str, params: Json) -> list[Effect]:
        if method != "notifications/cancelled" or type(params) is not dict:
            if method == ROOTS_CHANGED:
                self.roots = None
            return []
        identifier = params.get("requestId")
        if type(identifier) is not str and type(identifier) is not int:
            return []
        return self.drop(identifier)

    def drop(self, identifier: str | int) -> list[Effect]:
        """Return the effects of a cancelled request."""
        self.listening.pop(identifier, None)
        call = self.running.pop(identifier, None)
        # The request of a task was answered when the task was created; `tasks/cancel` ends the task.
        if call is None or call.is_task:
            return []
        return [StopHandler(call), *close_batch(call, None)]

    def changed(self, event: PublishChange) -> list[Effect]:
        """Return the notifications of a change, if this client subscribed to it."""
        if not self.listening and not self.watched and self.wire is None:
            return []
        effects: list[Effect] = subscriptions_changed(self, event)
        return effects

    def _list(self, request: Request) -> bytes | Failure | Call | list[Effect]:
        if request.method in self.image.run_time_lists:
            call: Failure | Call = request_list(self, request)
            return call
        image = self.image
        if request.method == "tools/list" and (self.allows or image.shows_tool or image.choice) is not None:
            allowed: bytes | Failure = list_tools(self, request)
            return allowed
        cursor = request.params.get("cursor")
        line = result_line(request.identifier, b"\0") if self.reads_later and request.batch is None else b""
        page = request.wire.page(request.method, cursor, line)
        if isinstance(page, StoredPage):
            return [SendStored(page, request)]
        if page is not None and self.principal and request.wire.stateless and request.method == "tools/list":
            page = make_private(page)
        return page if page is not None else Failure(INVALID_PARAMS, "Invalid params: unknown cursor")

    def initialize(self, request: Request) -> bytes | Failure:
        """Negotiate the version: the client's if it is supported, else the newest of the handshake era."""
        version = request.params.get("protocolVersion")
        if type(version) is not str:
            return Failure(INVALID_PARAMS, "Invalid params: `protocolVersion` must be a string")
        supported = self.image.handshake_versions
        self.wire = self.image.revision(version if version in supported else supported[-1])
        capabilities = request.params.get("capabilities")
        self.capabilities = capabilities if type(capabilities) is dict else {}
        self.is_tolerated = bool(self.image.tolerant) and is_known_client(request.params.get("clientInfo"))
        return self.wire.initialize()

    def set_log_level(self, request: Request) -> bytes | Failure:
        """Set the least severe level of log messages that the client gets."""
        level = request.params.get("level")
        if type(level) is not str or level not in LOG_LEVELS:
            return Failure(INVALID_PARAMS, f"Invalid params: `level` must be one of {', '.join(LOG_LEVELS)}")
        self.log_level = level
        return b"{}"

    def note(self, call: Call, note: dict[str, Json]) -> list[Effect]:
        """Return the effects of a handler's note while it runs: progress, or a log message."""
        effects: list[Effect] = notes_note(self, call, note)
        return effects

    def finish(self, call: Activity, ending: Ending) -> list[Effect]:
        """Return the effects of a handler's end; an empty list if its call was cancelled."""
        effects: list[Effect] = finish_call(self, call, ending)
        return effects


def error_response(
    identifier: str | int | None, code: int, message: str, data: Json = None, request: Request | None = None
) -> list[Effect]:
    """Return the effects of an error response."""
    return [SendResponse(error_line(identifier, code, message, data), request, code)]


def describe_malformed(message: dict[str, Json]) -> str:
    """Return why an object is not a request or a notification; an empty string if it is one."""
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if type(message.get("method")) is not str:
        return "`method` must be a string"
    if "id" in message and type(message["id"]) is not str and type(message["id"]) is not int:
        return "`id` must be a string or an integer"
    return ""


def describe_wrong_envelope(meta: dict[str, Json]) -> str:
    """Return what is wrong with the envelope of a stateless request, or an empty string."""
    if type(meta.get(VERSION_KEY)) is not str:
        return f"`_meta` must have `{VERSION_KEY}`, a string"
    if type(meta.get(CAPABILITIES_KEY)) is not dict:
        return f"`_meta` must have `{CAPABILITIES_KEY}`, an object"
    if LOG_LEVEL_KEY in meta and meta[LOG_LEVEL_KEY] not in LOG_LEVELS:
        return f"`{LOG_LEVEL_KEY}` must be one of {', '.join(LOG_LEVELS)}"
    return ""


METHODS: dict[str, Perform | str] = {
    "completion/complete": "mcpc_runtime.protocol.completion:complete",
    "initialize": Session.initialize,
    "logging/setLevel": Session.set_log_level,
    "prompts/get": "mcpc_runtime.protocol.prompts:get_prompt",
    "resources/directory/read": "mcpc_runtime.protocol.skills:read_directory",
    "resources/list": "mcpc_runtime.protocol.dynamic_resource_list:list_resources",
    "resources/read": "mcpc_runtime.protocol.resources:read_resource",
    "resources/subscribe": "mcpc_runtime.protocol.subscriptions:subscribe",
    "resources/unsubscribe": "mcpc_runtime.protocol.subscriptions:unsubscribe",
    "skills/get": "mcpc_runtime.protocol.skills:get_skill",
    "subscriptions/listen": "mcpc_runtime.protocol.subscriptions:listen",
    "tasks/cancel": "mcpc_runtime.protocol.tasks:cancel_task",
    "tasks/get": "mcpc_runtime.protocol.tasks:get_task",
    "tasks/update": "mcpc_runtime.protocol.tasks:update_task",
    "tools/call": "mcpc_runtime.protocol.calls:call_tool",
}
"""The function of each method without a constant answer; a string is resolved at the first request."""
