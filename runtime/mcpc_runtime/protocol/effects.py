"""What the protocol core asks of its driver, and what the driver brings back.

Effects go out: `Send` an answer, `Say` something beside it, `Start` a handler, `Stop` one, `Give` one what it asked
for, `Publish` that something changed, `Look` whether something did, `Tell` the person who runs the server.  Outcomes
come in: what a handler's run amounted to.
"""

from __future__ import annotations

from mcpc_runtime.protocol.facts import INTERNAL_ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Definition, Wire

ABSENT = object()


class Batch:
    """The messages of one JSON-RPC array: answered together, when the last of them is."""

    __slots__ = ("open", "replies")

    def __init__(self) -> None:
        self.open = 0
        self.replies: list[bytes] = []


class Request:
    """One request of a client: its id, what it asks, the wire it speaks, the conversation and the batch it came in.

    `session`: a `Session`.  `origin`: what the transport wants to remember of it; nobody else looks at that.
    """

    __slots__ = ("batch", "identifier", "method", "origin", "params", "session", "wire")

    def __init__(self, session: Any, identifier: str | int, method: str, params: dict[str, Json], wire: Wire) -> None:
        self.session = session
        self.identifier = identifier
        self.method = method
        self.params = params
        self.wire = wire
        self.batch: Batch | None = None
        self.origin: Any = None


class Call:
    """A handler to run for a request.

    `chain`: the tools that called this one, the client's first; none if it was the client.  `progress`: the last that
    was reported of it.  `answers`: what the client has answered to what this call asked of it, by key.  `is_task`: the
    client has been given a task for it, and waits for no answer.
    """

    __slots__ = ("answers", "arguments", "chain", "definition", "is_task", "progress", "request")

    def __init__(self, request: Request, definition: Definition, arguments: dict[str, Json]) -> None:
        self.request = request
        self.definition = definition
        self.arguments = arguments
        self.chain: tuple[str, ...] = ()
        self.progress: int | float | None = None
        self.answers: dict[str, Json] = {}
        self.is_task = False

    @property
    def is_prompt(self) -> bool:
        """Whether this is a prompt's handler."""
        return self.request.method == "prompts/get" and not self.chain

    @property
    def kind(self) -> str:
        """What it is a handler of: `tool`, `prompt`, `resource` or `completion`."""
        return "tool" if self.chain else KINDS.get(self.request.method, "tool")

    @property
    def is_tool(self) -> bool:
        """Whether this is a tool's handler: only tools have results that say that they are errors."""
        return self.request.method == "tools/call" or bool(self.chain)


KINDS = {"completion/complete": "completion", "prompts/get": "prompt", "resources/read": "resource"}
"""What a request runs a handler of, where that is no tool."""


class Send:
    """Write this line, whole: the one answer to `request`, or to what could not be read as one (None).

    `code`: that of the error it is, 0 for a result.
    """

    __slots__ = ("code", "data", "request")

    def __init__(self, data: bytes, request: Request | None = None, code: int = 0) -> None:
        self.data = data
        self.request = request
        self.code = code


class Say(Send):
    """Write this line, whole: a notification or a request about `request`; about none, it is for the conversation."""

    __slots__ = ("session",)

    def __init__(self, data: bytes, session: Any, request: Request | None = None) -> None:
        super().__init__(data, request)
        self.session = session


class Start:
    """Run this call's handler; bring its outcome to `Session.finish`."""

    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call = call


class Stop:
    """End this call's handler; nothing more will be sent for it."""

    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call = call


class Give:
    """Hand a handler what it asked for; `reply` is the number that it gave its question."""

    __slots__ = ("call", "reply", "value")

    def __init__(self, call: Call, reply: int, value: dict[str, Json]) -> None:
        self.call = call
        self.reply = reply
        self.value = value


class Part:
    """Let the client come back for the rest of what is said about a request, after so many seconds, if it can."""

    __slots__ = ("request", "seconds")

    def __init__(self, request: Request, seconds: float) -> None:
        self.request = request
        self.seconds = seconds


class Publish:
    """Something changed: tell every conversation that wants to know.

    `kind`: `resource`, whose `uri` has new contents; or the list that is another one: `tools`, `prompts`, `resources`.
    """

    __slots__ = ("kind", "uri")

    def __init__(self, kind: str, uri: str = "") -> None:
        self.kind = kind
        self.uri = uri


class Look:
    """Look from now on whether what clients watch is another: nobody else would tell them."""

    __slots__ = ()


class Tell:
    """Let the person who runs the server read this."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Outcome:
    """A handler answered.  `structured` is ABSENT or any JSON value; `log` is what it wrote beside its answer."""

    __slots__ = ("content", "is_error", "log", "meta", "structured")

    def __init__(self, content: list[Json], structured: object = ABSENT, is_error: bool = False) -> None:
        self.content = content
        self.structured = structured
        self.is_error = is_error
        self.meta: dict[str, Json] = {}
        self.log = ""


class PromptOutcome:
    """A prompt's handler answered with messages."""

    __slots__ = ("description", "log", "messages")

    def __init__(self, messages: list[Json], description: str | None = None) -> None:
        self.messages = messages
        self.description = description
        self.log = ""


class ResourceOutcome:
    """A resource's handler answered with contents: objects with `uri`, and `text` or `blob`."""

    __slots__ = ("contents", "log", "meta")

    def __init__(self, contents: list[Json]) -> None:
        self.contents = contents
        self.meta: dict[str, Json] = {}
        self.log = ""


class CompletionOutcome:
    """A completion's handler answered with values, all that it has; `total` if it knows of more."""

    __slots__ = ("log", "more", "total", "values")

    def __init__(self, values: list[str], total: int | None = None, more: bool = False) -> None:
        self.values = values
        self.total = total
        self.more = more
        self.log = ""


class Ready:
    """A result that is made already: an object of which only what every result has is missing."""

    __slots__ = ("log", "result")

    def __init__(self, result: dict[str, Json]) -> None:
        self.result = result
        self.log = ""


class Failure:
    """A request cannot be answered: a JSON-RPC error."""

    __slots__ = ("code", "data", "log", "message")

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.log = ""


if TYPE_CHECKING:
    Effect = Send | Start | Stop | Give | Part | Publish | Look | Tell
    Ending = Outcome | PromptOutcome | ResourceOutcome | CompletionOutcome | Ready | Failure


def internal_error(problem: object) -> Failure:
    """Return the answer to a request that this server failed to answer."""
    return Failure(INTERNAL_ERROR, f"Internal error: {type(problem).__name__}: {problem}")


def text(string: str) -> Json:
    """Return a text content block."""
    return {"type": "text", "text": string}


def text_outcome(string: str, is_error: bool = False) -> Outcome:
    """Return an outcome of one text."""
    return Outcome([text(string)], is_error=is_error)
