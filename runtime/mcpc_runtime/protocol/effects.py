"""What the protocol core asks of its driver, and what the driver brings back.

Effects go out: `Send` bytes, `Start` a handler, `Stop` one, `Tell` the person who runs the server.  Outcomes come in:
what a handler's run amounted to.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    """One request of a client: its id, what it asks, the wire it speaks, and the batch it came in."""

    __slots__ = ("batch", "identifier", "method", "params", "wire")

    def __init__(self, identifier: str | int, method: str, params: dict[str, Json], wire: Wire) -> None:
        self.identifier = identifier
        self.method = method
        self.params = params
        self.wire = wire
        self.batch: Batch | None = None


class Call:
    """A handler to run for a request.

    `chain`: the tools that called this one, the client's first; none if it was the client.  `progress`: the last that
    was reported of it.
    """

    __slots__ = ("arguments", "chain", "definition", "progress", "request")

    def __init__(self, request: Request, definition: Definition, arguments: dict[str, Json]) -> None:
        self.request = request
        self.definition = definition
        self.arguments = arguments
        self.chain: tuple[str, ...] = ()
        self.progress: int | float | None = None

    @property
    def is_prompt(self) -> bool:
        """Whether this is a prompt's handler, not a tool's."""
        return self.request.method == "prompts/get"


class Send:
    """Write this line, whole."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


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


class Failure:
    """A request cannot be answered: a JSON-RPC error."""

    __slots__ = ("code", "data", "log", "message")

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.log = ""


if TYPE_CHECKING:
    Effect = Send | Start | Stop | Tell
    Ending = Outcome | PromptOutcome | Failure


def text(string: str) -> Json:
    """Return a text content block."""
    return {"type": "text", "text": string}


def text_outcome(string: str, is_error: bool = False) -> Outcome:
    """Return an outcome of one text."""
    return Outcome([text(string)], is_error=is_error)
