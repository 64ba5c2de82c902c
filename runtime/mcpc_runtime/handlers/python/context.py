"""The context of a handler: `from mcpc import Context`, and a parameter annotated with it.

Every method may be called from synchronous and from asynchronous code; the result is available at once and may also be
awaited.  Only calls of other tools and client requests take time; on the event loop's thread they return an awaitable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, Protocol

from mcpc_runtime.handlers.python import elicitation as forms
from mcpc_runtime.handlers.python.errors import Cancelled, ToolError
from mcpc_runtime.protocol.capabilities import supports as client_supports
from mcpc_runtime.protocol.jsonrpc import Json

Object = dict[str, Any]
Read = Callable[[Any], object]
"""Makes the handler's value of an answer."""


class Port(Protocol):
    """The call to which a context belongs."""

    cancelled: bool

    def say(self, note: Mapping[str, object]) -> None:
        """Send a note, unless the call has ended."""

    def ask(self, note: Mapping[str, object], read: Read) -> object:
        """Send a note that is answered; return `read` of the answer, or on the event loop an awaitable of that."""


LISTS = ("tools", "prompts", "resources")


class CompletedAwaitable:
    """None, as an awaitable that is done."""

    __slots__ = ()

    def __await__(self) -> Iterator[None]:
        """Finish at once."""
        return iter(())


DONE = CompletedAwaitable()


def elicitation(message: str, schema: object = None, *, url: str = "") -> Object:
    """Return an elicitation request for `Context.ask`: a form, or a URL to visit."""
    return forms.elicitation(message, schema, url)


def sampling(messages: object, **params: object) -> Object:
    """Return a sampling request for `Context.ask`."""
    return forms.sampling(messages, params)


def roots() -> Object:
    """Return a request for the client's roots, for `Context.ask`."""
    return {"method": "roots/list", "params": {}}


class Context:
    """One call's context.  `meta`: the request's `_meta`; `tool`: the name of the tool or prompt.

    `answers`: the client's answers to the requests of the definition, by key; `request_id` is an attribute only where
    the id is known.
    """

    __slots__ = ("__weakref__", "_asked", "_client", "_port", "answers", "meta", "request_id", "tool")

    def __init__(self, port: Port, tool: str, meta: dict[str, Json], more: Object | None = None) -> None:
        self._port = port
        self._asked: dict[str, int] = {}
        self._client: dict[str, Json] = more.get("client", {}) if more else {}
        self.answers: dict[str, Json] = more.get("answers", {}) if more else {}
        self.tool = tool
        self.meta = meta
        self.request_id: str | int
        """Not set where it is unknown."""

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled or its time is over."""
        return self._port.cancelled

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled if the call was cancelled or its time is over."""
        if self._port.cancelled:
            raise Cancelled

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> CompletedAwaitable:
        """Report the progress of the call."""
        more = {"total": total, "message": message}
        self._port.say({"progress": progress, **{key: value for key, value in more.items() if value is not None}})
        return DONE

    progress = report_progress

    def log(self, level: str, data: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of one of the protocol's levels."""
        # `logger_name` and `extra` are what FastMCP calls these options.
        name: Any = more.pop("logger_name", None)
        logger = logger or name
        extra = more.pop("extra", None)
        if more:
            raise TypeError(f"unknown options of a log message: {', '.join(more)}")
        note = {"log": level, "data": {"msg": data, "extra": extra} if extra else data}
        self._port.say({**note, "logger": logger} if logger else note)
        return DONE

    def debug(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("debug", message, logger, **more)

    def info(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("info", message, logger, **more)

    def notice(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("notice", message, logger, **more)

    def warning(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("warning", message, logger, **more)

    def error(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("error", message, logger, **more)

    def critical(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("critical", message, logger, **more)

    def alert(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("alert", message, logger, **more)

    def emergency(self, message: object, logger: str | None = None, **more: object) -> CompletedAwaitable:
        """Send a log message of this level."""
        return self.log("emergency", message, logger, **more)

    def call_tool(self, name: str, arguments: Mapping[str, object] | None = None) -> Any:
        """Call another tool of this server; return its result as an object, raise ToolError if that is an error.

        In an `async` function: `await context.call_tool(...)`.
        """
        return self._port.ask({"call": name, "arguments": arguments or {}}, successful_result)

    def supports(self, name: str) -> bool:
        """Tell whether the client has `elicitation` (forms), `elicitation.url`, `sampling`, `sampling.tools`, `roots`.

        For an extension, `name` is its identifier.
        """
        return client_supports(self._client, name)

    def elicit(self, message: str, schema: object = None, *, key: str = "", url: str = "", **more: object) -> Any:
        """Ask the user for a value (a schema, a type or a list of choices), or to visit a URL.

        The result has `action` (`accept`, `decline` or `cancel`) and `data`.  The handler may be run again from its
        beginning when the answer arrives, so everything it does before must be repeatable.
        """
        question, read = forms.elicitation_request(message, schema, url, more)
        return self._send_request("elicitation", key, question, read)

    def sample(self, messages: object, *, key: str = "", **params: object) -> Any:
        """Send a text or messages to the client's model; the result has `text`, `content` and `model`."""
        return self._send_request("sampling", key, sampling(messages, **params), forms.Sampled)

    def list_roots(self, key: str = "") -> Any:
        """Request the client's roots: a list of objects with `uri`, and perhaps `name`."""
        return self._send_request("roots", key, roots(), forms.roots_of)

    def ask(self, questions: Mapping[str, Mapping[str, object]]) -> Any:
        """Send several requests at once; return the client's answers by the same keys.

        The requests are made by `elicitation`, `sampling` and `roots`.
        """
        return self._port.ask({"ask": dict(questions)}, forms.answers_of)

    def _send_request(self, kind: str, key: str, question: Mapping[str, object], read: Read) -> object:
        """Send one request.  A default key has a number, so that it is the same when the handler is run again."""
        if not key:
            number = self._asked[kind] = self._asked.get(kind, 0) + 1
            key = f"{kind}-{number}"
        answers_of = forms.answers_of
        return self._port.ask({"ask": {key: question}}, lambda reply: read(answers_of(reply)[key]))

    def resource_updated(self, uri: str) -> CompletedAwaitable:
        """Notify clients that a resource has new contents."""
        self._port.say({"updated": str(uri)})
        return DONE

    def list_changed(self, kind: str) -> CompletedAwaitable:
        """Notify clients that the list of tools, prompts or resources has changed."""
        if kind not in LISTS:
            raise ValueError(f"unknown list {kind}; expected one of {', '.join(LISTS)}")
        self._port.say({"changed": kind})
        return DONE

    def close_stream(self, seconds: float = 1.0) -> CompletedAwaitable:
        """Close the response stream, so that the client reconnects for the answer after so many seconds, if it can."""
        self._port.say({"part": seconds})
        return DONE

    def __reduce__(self) -> NoReturn:
        """Refuse pickling, because the call exists in this process only."""
        raise TypeError("Context cannot be pickled")


def port_of(context: Context) -> Port:
    """Return the call to which a context belongs."""
    return context._port


def capabilities_of(context: Context) -> Object:
    """Return the client's capabilities."""
    return context._client


def successful_result(result: Json) -> Json:
    """Return a tool's result; raise ToolError, with the texts of its content, if it is an error."""
    if type(result) is not dict or result.get("isError") is not True:
        return result
    content = result.get("content")
    texts = [block.get("text", "") for block in content if type(block) is dict] if type(content) is list else []
    raise ToolError("\n".join(text for text in texts if type(text) is str and text) or "the tool failed")
