"""One conversation: every message is answered by its own envelope, and nothing is pinned by what came before.

A request whose `_meta` names a protocol version is stateless and is answered in that version.  Any other request is
of the handshake era: in the version the last `initialize` agreed on, or the newest of that era if there was none.
What each method needs stands in tables; what a revision shows was decided when the image was built.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import ABSENT, Batch, Call, Failure, Outcome, Request, Send, Start, Stop, text
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
    notification_line,
    parse,
    result_line,
)
from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.effects import Effect, Ending, PromptOutcome
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Definition, Image, Wire

DESCRIBE = "mcpc_runtime.protocol.complaint:describe"
DOWNGRADE = "mcpc_runtime.protocol.downgrade:downgrade"
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

    # What comes in.

    def receive(self, data: bytes) -> list[Effect]:
        """Return the effects of one line."""
        try:
            message = parse(data)
        except ParseError as problem:
            return [Send(error_line(None, PARSE_ERROR, f"Parse error: {problem}"))]
        if type(message) is list:
            return self._receive_batch(message)
        return self._receive_message(message, None)

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

    def _receive_batch(self, messages: list[Json]) -> list[Effect]:
        if not messages or not self._handshake_wire().batches:
            reason = "the batch is empty" if not messages else "this protocol version has no batches"
            return [Send(error_line(None, INVALID_REQUEST, f"Invalid request: {reason}"))]
        batch = Batch()
        effects: list[Effect] = []
        for message in messages:
            for effect in self._receive_message(message, batch):
                if type(effect) is Send:
                    batch.replies.append(effect.data)
                else:
                    effects.append(effect)
        return [*effects, *batch_effects(batch)]

    def _receive_message(self, message: Json, batch: Batch | None) -> list[Effect]:
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
            return self._handshake_wire()
        version = meta.get(VERSION_KEY)
        if type(version) is not str:
            return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{VERSION_KEY}`, a string")
        if type(meta.get(CAPABILITIES_KEY)) is not dict:
            return Failure(INVALID_PARAMS, f"Invalid params: `_meta` must have `{CAPABILITIES_KEY}`, an object")
        if version not in self.image.stateless_versions:
            data: Json = {"supported": list(self.image.stateless_versions), "requested": version}
            return Failure(UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version: {version}", data)
        return self.image.wire(version)

    def _handshake_wire(self) -> Wire:
        return self.wire or self.image.wire(self.image.handshake_versions[-1])

    def _answer(self, request: Request) -> bytes | Failure | Call:
        wire = request.wire
        answer = wire.answer(request.method)
        if answer is not None:
            return answer
        if request.method in wire.lists:
            return self._list(request)
        perform = METHODS.get(request.method)
        if perform is None or request.method not in wire.methods:
            return Failure(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        return perform(self, request)

    def _notice(self, method: str, params: Json) -> list[Effect]:
        if method != "notifications/cancelled" or type(params) is not dict:
            return []
        identifier = params.get("requestId")
        if type(identifier) is not str and type(identifier) is not int:
            return []
        call = self.running.pop(identifier, None)
        return [] if call is None else [Stop(call), *self._close_batch(call, None)]

    # What a method needs.

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

    def set_level(self, request: Request) -> bytes | Failure:
        """Take the least severe level the client wants to see."""
        level = request.params.get("level")
        if level not in LOG_LEVELS:
            return Failure(INVALID_PARAMS, f"Invalid params: `level` must be one of {', '.join(LOG_LEVELS)}")
        self.log_level = level
        return b"{}"

    def call_tool(self, request: Request) -> bytes | Failure | Call:
        """Find the tool, have its arguments decided, and start it."""
        name = request.params.get("name")
        if type(name) is not str:
            return self._refuse("tool_name_missing")
        tool = self.image.tool(name)
        if tool is None:
            return self._refuse("tool_unknown" if legal(name) else "tool_name_malformed", name)
        arguments = request.params.get("arguments")
        if arguments is None:
            arguments = {}
        if type(arguments) is not dict:
            return self._refuse("tool_arguments_not_object")
        if tool.input is None or tool.input.accepts(arguments):
            return Call(request, tool, arguments)
        if "tool_arguments_rejected" in self.image.refusals:
            return self._refuse("tool_arguments_rejected")
        complaint = resolve(DESCRIBE)(name, arguments, tool.input.errors(arguments))
        return self._tool_result(request, Outcome([text(complaint)], is_error=True))

    def get_prompt(self, request: Request) -> Failure | Call:
        """Find the prompt, check its arguments (strings, the required ones, no others), and start it."""
        name = request.params.get("name")
        if type(name) is not str:
            return Failure(INVALID_PARAMS, "Invalid params: `name` must be a string")
        prompt = self.image.prompt(name)
        if prompt is None:
            return Failure(INVALID_PARAMS, f"Unknown prompt: {name}")
        arguments = request.params.get("arguments")
        if arguments is None:
            arguments = {}
        if type(arguments) is not dict:
            return Failure(INVALID_PARAMS, "Invalid params: arguments must be a JSON object")
        complaint = prompt_complaint(prompt, arguments)
        if complaint:
            return Failure(INVALID_PARAMS, f"Invalid params: {complaint}")
        return Call(request, prompt, arguments)

    def _refuse(self, situation: str, name: str = "") -> Failure:
        return Failure(INVALID_PARAMS, self.image.refusals[situation].replace("{name}", name))

    # What goes out.

    def finish(self, call: Call, ending: Ending) -> list[Effect]:
        """Return the effects of a handler's end; none if its call was cancelled."""
        request = call.request
        if self.running.get(request.identifier) is not call:
            return []
        del self.running[request.identifier]
        answer = ending if isinstance(ending, Failure) else RESULTS[request.method](self, call, ending)
        if isinstance(answer, Failure):
            line = error_line(request.identifier, answer.code, answer.message, answer.data)
        else:
            line = result_line(request.identifier, answer)
        effects: list[Effect] = []
        if ending.log and self._shows_log(request, "warning"):
            params: Json = {"level": "warning", "logger": call.definition.name, "data": ending.log}
            effects.append(Send(notification_line("notifications/message", params)))
        if request.batch is None:
            return [*effects, Send(line)]
        return [*effects, *self._close_batch(call, line)]

    def _close_batch(self, call: Call, line: bytes | None) -> list[Effect]:
        batch = call.request.batch
        if batch is None:
            return []
        batch.open -= 1
        if line is not None:
            batch.replies.append(line)
        return batch_effects(batch)

    def _shows_log(self, request: Request, level: str) -> bool:
        if not request.wire.logging:
            return False
        wanted: Json = self.log_level
        if request.wire.stateless:
            meta = request.params["_meta"]
            wanted = meta.get(LOG_LEVEL_KEY) if type(meta) is dict else None
        return wanted in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)

    def finish_tool(self, call: Call, outcome: Outcome) -> bytes | Failure:
        """Return a tool's result; a structured result that breaks its schema is the server's own failure."""
        output, structured = call.definition.output, outcome.structured
        if output is None or outcome.is_error or (structured is not ABSENT and output.accepts(structured)):
            return self._tool_result(call.request, outcome)
        return Failure(INTERNAL_ERROR, "Internal error: tool output does not match outputSchema")

    def _tool_result(self, request: Request, outcome: Outcome) -> bytes:
        wire = request.wire
        result: dict[str, Json] = {"content": shown(outcome.content, wire)}
        structured = outcome.structured
        if structured is not ABSENT and wire.shows_structured(structured):
            result["structuredContent"] = structured  # type: ignore[assignment]
        if outcome.is_error:
            result["isError"] = True
        return wire.seal(result, outcome.meta)

    def finish_prompt(self, call: Call, outcome: PromptOutcome) -> bytes:
        """Return a prompt's messages."""
        wire = call.request.wire
        result: dict[str, Json] = {}
        if outcome.description is not None:
            result["description"] = outcome.description
        result["messages"] = [
            {**message, "content": shown([message["content"]], wire)[0]}  # type: ignore[dict-item,index,call-overload]
            for message in outcome.messages
        ]
        return wire.seal(result, {})


def misshapen(message: dict[str, Json]) -> str:
    """Return what keeps an object from being a request or a notification, or nothing."""
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if type(message.get("method")) is not str:
        return "`method` must be a string"
    if "id" in message and type(message["id"]) is not str and type(message["id"]) is not int:
        return "`id` must be a string or an integer"
    return ""


def batch_effects(batch: Batch) -> list[Effect]:
    """Return the answer to a batch once nothing of it is open; a batch of notifications has none."""
    if batch.open or not batch.replies:
        return []
    lines = b",".join(line.rstrip(b"\n") for line in batch.replies)
    batch.replies = []
    return [Send(b"[%b]\n" % lines)]


def legal(name: str) -> bool:
    """Tell whether a tool could have this name at all."""
    return 0 < len(name) <= 128 and name.isascii() and name.translate(PUNCTUATION).isalnum()


PUNCTUATION = {ord(mark): "0" for mark in "_.-"}


def prompt_complaint(prompt: Definition, arguments: dict[str, Json]) -> str:
    """Return what is wrong with a prompt's arguments, or nothing."""
    known = dict(prompt.arguments)
    for name, value in arguments.items():
        if name not in known:
            return f"unknown argument {name!r}"
        if type(value) is not str:
            return f"argument {name!r} must be a string"
    missing = [name for name, required in prompt.arguments if required and name not in arguments]
    return f"missing required argument {missing[0]!r}" if missing else ""


def shown(content: list[Json], wire: Wire) -> list[Json]:
    """Return content blocks as a revision may show them: a kind it does not know becomes text."""
    if all(type(block) is dict and block.get("type") in wire.content for block in content):
        return content
    return [resolve(DOWNGRADE)(block, wire.content) for block in content]


if TYPE_CHECKING:
    Perform = Callable[["Session", Request], bytes | Failure | Call]

METHODS: dict[str, Perform] = {
    "initialize": Session.initialize,
    "logging/setLevel": Session.set_level,
    "prompts/get": Session.get_prompt,
    "tools/call": Session.call_tool,
}
RESULTS: dict[str, Callable[[Session, Call, Ending], bytes | Failure]] = {
    "prompts/get": Session.finish_prompt,  # type: ignore[dict-item]
    "tools/call": Session.finish_tool,  # type: ignore[dict-item]
}
