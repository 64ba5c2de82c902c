"""The effects that the protocol core requests of its driver, and the outcomes that the driver returns.

Effects: `SendResponse` and `SendMessage` write a line, `StartHandler`, `StopHandler` and `DeliverAnswer` are about a
handler, `CloseStream` about the stream of a request, `PublishChange` and `StartPolling` about changes, `LogToOperator`
writes to the operator's log.  An outcome is the result of a handler's run, independent of the revision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.image import Image, ProtocolRevision
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.protocol.requests import Request, SendResponse

ABSENT = object()


class Call:
    """A handler to run for a request.

    `name`: of the definition.  `seconds`: the definition's time limit.  `chain`: the tools that called this one, the
    client's first; empty if the client called it.  `is_tool`: whether it is a tool's handler; only tools have error
    results.  `progress`: the last that was reported.  `answers`: the client's answers to requests of this call, by key.
    `is_task`: whether the client was given a task for it instead of an answer.
    """

    __slots__ = ("answers", "arguments", "chain", "definition", "is_task", "is_tool", "name", "progress", "request",
                 "seconds")  # fmt: skip

    def __init__(
        self, request: Request, definition: Definition, arguments: dict[str, Json], chain: tuple[str, ...] = ()
    ) -> None:
        self.request = request
        self.definition = definition
        self.arguments = arguments
        self.chain = chain
        self.name = definition.name
        self.seconds = definition.seconds
        self.is_tool = request.method == "tools/call" or bool(chain)
        self.progress: int | float | None = None
        self.answers: dict[str, Json] = {}
        self.is_task = False

    @property
    def is_prompt(self) -> bool:
        """Whether this is a prompt's handler."""
        return self.request.method == "prompts/get" and not self.chain

    @property
    def kind(self) -> str:
        """The kind of the definition: `tool`, `prompt`, `resource`, `completion`, or `list`."""
        return "tool" if self.chain else KINDS.get(self.request.method, "tool")


class TaskRequest:
    """A request about a task, which the task manager answers without a handler.

    It is started, stopped, timed, counted and logged like a call; its name is its method.
    """

    __slots__ = ("request",)
    arguments: dict[str, Json] = {}  # noqa: RUF012 - never changed
    chain: tuple[str, ...] = ()
    is_task = is_tool = False
    kind = "tool"
    seconds = 15.0

    def __init__(self, request: Request) -> None:
        self.request = request

    @property
    def name(self) -> str:
        """The method."""
        return self.request.method


KINDS = {
    "completion/complete": "completion",
    "prompts/get": "prompt",
    "prompts/list": "list",
    "resources/list": "list",
    "resources/read": "resource",
    "resources/subscribe": "resource",
    "resources/templates/list": "list",
    "tools/list": "list",
}
"""The kind of definition by method; `tool` for all others."""


class SendMessage(SendResponse):
    """Write a notification or a client request that belongs to `request`, or to the session only."""

    __slots__ = ("session",)

    def __init__(self, data: bytes, session: Any, request: Request | None = None) -> None:
        super().__init__(data, request)
        self.session = session


class StartHandler:
    """Run a call's handler or answer a request about a task; pass the outcome to `Session.finish`."""

    __slots__ = ("call",)

    def __init__(self, call: Activity) -> None:
        self.call = call


class StopHandler:
    """Stop a call's handler; nothing more will be sent for it."""

    __slots__ = ("call",)

    def __init__(self, call: Activity) -> None:
        self.call = call


class DeliverAnswer:
    """Pass the client's answer to a handler; `reply` is the number of its request."""

    __slots__ = ("call", "reply", "value")

    def __init__(self, call: Call, reply: int, value: dict[str, Json]) -> None:
        self.call = call
        self.reply = reply
        self.value = value


class CloseStream:
    """Close a request's SSE stream and ask the client to reconnect after so many seconds, if the transport can."""

    __slots__ = ("request", "seconds")

    def __init__(self, request: Request, seconds: float) -> None:
        self.request = request
        self.seconds = seconds


class PublishChange:
    """Notify every session that subscribed to a change.

    `kind`: `resource` for new contents of `uri`, or the list that changed: `tools`, `prompts` or `resources`.
    """

    __slots__ = ("kind", "uri")

    def __init__(self, kind: str, uri: str = "") -> None:
        self.kind = kind
        self.uri = uri


class StartPolling:
    """Start to poll subscribed resources whose provider sends no change events."""

    __slots__ = ()


class LogToOperator:
    """Write a text to the operator's log."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Outcome:
    """The result of a tool.  `structured` is ABSENT or any JSON value; `log`: its other output, for the log."""

    __slots__ = ("content", "is_error", "log", "meta", "structured")

    def __init__(self, content: list[Json], structured: object = ABSENT, is_error: bool = False) -> None:
        self.content = content
        self.structured = structured
        self.is_error = is_error
        self.meta: dict[str, Json] = {}
        self.log = ""


class PromptOutcome:
    """The messages of a prompt."""

    __slots__ = ("description", "log", "messages")

    def __init__(self, messages: list[Json], description: str | None = None) -> None:
        self.messages = messages
        self.description = description
        self.log = ""


class ResourceOutcome:
    """The contents of a resource: objects with `uri`, and `text` or `blob`."""

    __slots__ = ("contents", "log", "meta")

    def __init__(self, contents: list[Json]) -> None:
        self.contents = contents
        self.meta: dict[str, Json] = {}
        self.log = ""


class CompletionOutcome:
    """All values of a completion's handler; `total` if it reports that there are more."""

    __slots__ = ("log", "more", "total", "values")

    def __init__(self, values: list[str], total: int | None = None, more: bool = False) -> None:
        self.values = values
        self.total = total
        self.more = more
        self.log = ""


class FinishedResult:
    """A result object that is complete except for the members that every result has, and its own `_meta`."""

    __slots__ = ("log", "meta", "result")

    def __init__(self, result: dict[str, Json], meta: dict[str, Json] | None = None) -> None:
        self.result = result
        self.meta = meta or {}
        self.log = ""


class Failure:
    """A JSON-RPC error, with the text for the operator's log if there is any."""

    __slots__ = ("code", "data", "log", "message")

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.log = ""


def internal_error(problem: object) -> Failure:
    """Return the JSON-RPC error for an exception of the server."""
    return Failure(INTERNAL_ERROR, f"Internal error: {type(problem).__name__}: {problem}")


def text(string: str) -> Json:
    """Return a text content block."""
    return {"type": "text", "text": string}


def text_outcome(string: str, is_error: bool = False) -> Outcome:
    """Return an outcome of one text."""
    return Outcome([text(string)], is_error=is_error)


Activity = Call | TaskRequest
"""What runs until its request is answered."""
Effect = (
    SendResponse
    | StartHandler
    | StopHandler
    | DeliverAnswer
    | CloseStream
    | PublishChange
    | StartPolling
    | LogToOperator
)
Ending = Outcome | PromptOutcome | ResourceOutcome | CompletionOutcome | FinishedResult | Failure


class SessionState(Protocol):
    """The state of a `Session`, as functions of the protocol core see it.

    `wire`, `log_level`, `capabilities` and `watched` (uris): the last settings of a client of the handshake era.
    `listening`: the subscriptions of the stateless era, by request id.  `asked`: open client requests, by their ids.
    `principal`: the owner of the requests, as far as the transport knows it.  `account`: counts stored bytes, if they
    are limited.  `allows`: whether the principal may see a tool; None for all.  `roots`: the client's roots, in the
    form of the code that requested them.  `unique_id`: a name for handlers that keep something for a session, made when
    the first one asks for it.  `is_tolerated`: the client introduced itself as one whose arguments are corrected.
    `conversation`: a name for the requests of one client, empty over pipes; None if each stands alone.
    """

    image: Image
    wire: ProtocolRevision | None
    log_level: str | None
    running: dict[str | int, Activity]
    listening: dict[str | int, Request]
    capabilities: dict[str, Json]
    asked: dict[str | int, Any]
    watched: dict[str, None]
    principal: str
    account: Account | None
    roots: object
    unique_id: str
    conversation: str | None
    is_tolerated: bool
    allows: Callable[[str], bool] | None

    def handshake_wire(self) -> ProtocolRevision:
        """Return the revision of messages that do not name a version."""
        ...
