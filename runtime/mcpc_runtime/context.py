"""What a handler may say and ask while it runs: `from mcpc import Context`, and a parameter annotated with it.

Every method may be called from synchronous and from asynchronous code: what it returns is there already, and may be
awaited all the same.  Only what asks takes time (another tool, or the client); on the thread of the event loop that
returns something to wait for.
"""

from __future__ import annotations

from mcpc_runtime.handler_errors import Cancelled, ToolError
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, NoReturn, Protocol

    class Port(Protocol):
        """The call that a context speaks for."""

        cancelled: bool

        def say(self, note: dict[str, Any]) -> None:
            """Send a note, unless the call has ended."""

        def ask(self, note: dict[str, Any], read: Callable[[Any], Any]) -> Any:
            """Send a note that is answered; return what `read` makes of that, or on the loop something to await."""

    from mcpc_runtime import questions as question_forms
    from mcpc_runtime.protocol.capabilities import supports as capabilities_supports
else:
    capabilities_supports = lazy("mcpc_runtime.protocol.capabilities:supports", "capabilities_supports")
    question_forms = lazy("mcpc_runtime.questions", "question_forms")


LISTS = ("tools", "prompts", "resources")


class Done:
    """Nothing, at once or awaited."""

    __slots__ = ()

    def __await__(self) -> Iterator[None]:
        """Be done."""
        return iter(())


DONE = Done()


def elicitation(message: str, schema: Any = None, *, url: str = "") -> dict[str, Any]:
    """Return a question for the user, to be given to `Context.ask`: a form, or an address to visit."""
    made: dict[str, Any] = question_forms.elicitation(message, schema, url)
    return made


def sampling(messages: Any, **params: Any) -> dict[str, Any]:
    """Return a question for the client's model, to be given to `Context.ask`."""
    made: dict[str, Any] = question_forms.sampling(messages, params)
    return made


def roots() -> dict[str, Any]:
    """Return the question where the user works, to be given to `Context.ask`."""
    return {"method": "roots/list", "params": {}}


class Context:
    """One call's context.  `meta`: the request's `_meta`; `tool`: the name of the tool or prompt.

    `answers`: what the client has answered to what the definition asks, by key; `request_id` is an attribute only where
    the id is known.
    """

    __slots__ = ("__weakref__", "_asked", "_client", "_port", "answers", "meta", "request_id", "tool")

    def __init__(self, port: Port, tool: str, meta: dict[str, Any], more: Mapping[str, Any] | None = None) -> None:
        self._port = port
        self._asked: dict[str, int] = {}
        self._client: dict[str, Any] = more.get("client", {}) if more else {}
        self.answers: dict[str, Any] = more.get("answers", {}) if more else {}
        self.tool = tool
        self.meta = meta
        self.request_id: Any
        """Not set where nobody knows it."""

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._port.cancelled

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled if nobody waits for the answer any more."""
        if self._port.cancelled:
            raise Cancelled

    def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> Done:
        """Say how far the call has come."""
        more = {"total": total, "message": message}
        self._port.say({"progress": progress, **{key: value for key, value in more.items() if value is not None}})
        return DONE

    progress = report_progress

    def log(self, level: str, data: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of one of the protocol's levels."""
        logger = logger or more.pop("logger_name", None)
        extra = more.pop("extra", None)
        if more:
            raise TypeError(f"a log message has no {', '.join(more)}")
        note = {"log": level, "data": {"msg": data, "extra": extra} if extra else data}
        self._port.say({**note, "logger": logger} if logger else note)
        return DONE

    def debug(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("debug", message, logger, **more)

    def info(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("info", message, logger, **more)

    def notice(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("notice", message, logger, **more)

    def warning(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("warning", message, logger, **more)

    def error(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("error", message, logger, **more)

    def critical(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("critical", message, logger, **more)

    def alert(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("alert", message, logger, **more)

    def emergency(self, message: Any, logger: str | None = None, **more: Any) -> Done:
        """Send a log message of this level."""
        return self.log("emergency", message, logger, **more)

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call another tool of this server; return its result as an object, raise ToolError if that is an error.

        In an `async` function: `await context.call_tool(...)`.
        """
        return self._port.ask({"call": name, "arguments": arguments or {}}, checked)

    def supports(self, name: str) -> bool:
        """Tell whether the client has `elicitation` (forms), `elicitation.url`, `sampling`, `sampling.tools`, `roots`.

        Also of an extension, by its identifier.
        """
        has: bool = capabilities_supports(self._client, name)
        return has

    def elicit(self, message: str, schema: Any = None, *, key: str = "", url: str = "", **more: Any) -> Any:
        """Ask the user: for what a schema, a type or a list of choices says, or to visit an address.

        What is returned has `action` (`accept`, `decline` or `cancel`) and `data`.  A call may be run again from its
        beginning when the answer comes: what it does before it asks must bear that.
        """
        question, read = question_forms.form(message, schema, url, more)
        return self._question("elicitation", key, question, read)

    def sample(self, messages: Any, *, key: str = "", **params: Any) -> Any:
        """Ask the client's model: a text, or messages.  What is returned has `text`, `content` and `model`."""
        return self._question("sampling", key, sampling(messages, **params), question_forms.Sampled)

    def list_roots(self, key: str = "") -> Any:
        """Ask where the user works: a list of objects with `uri`, and perhaps `name`."""
        return self._question("roots", key, roots(), question_forms.roots_of)

    def ask(self, questions: Mapping[str, Mapping[str, Any]]) -> Any:
        """Ask several things at once; return the answers by the same keys, as the client gave them.

        Questions are what `elicitation`, `sampling` and `roots` return.
        """
        return self._port.ask({"ask": dict(questions)}, question_forms.answered)

    def _question(self, kind: str, key: str, question: dict[str, Any], read: Callable[[Any], Any]) -> Any:
        """Ask one thing.  A key that the handler does not give counts: in another run it must be the same."""
        if not key:
            number = self._asked[kind] = self._asked.get(kind, 0) + 1
            key = f"{kind}-{number}"
        answered = question_forms.answered
        return self._port.ask({"ask": {key: question}}, lambda given: read(answered(given)[key]))

    def resource_updated(self, uri: str) -> Done:
        """Say that a resource has new contents."""
        self._port.say({"updated": str(uri)})
        return DONE

    def list_changed(self, kind: str) -> Done:
        """Say that the list of tools, prompts or resources is another one."""
        if kind not in LISTS:
            raise ValueError(f"there is no list of {kind}, but of {', '.join(LISTS)}")
        self._port.say({"changed": kind})
        return DONE

    def close_stream(self, seconds: float = 1.0) -> Done:
        """Let the client hang up and come back for the answer after so many seconds, if it knows how to do that."""
        self._port.say({"part": seconds})
        return DONE

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied into another process."""
        raise TypeError("a context belongs to its call")


def checked(result: Any) -> Any:
    """Return a tool's result; raise ToolError, with the texts of its content, if it is an error."""
    if type(result) is not dict or result.get("isError") is not True:
        return result
    content = result.get("content")
    texts = [block.get("text", "") for block in content if type(block) is dict] if type(content) is list else []
    raise ToolError("\n".join(text for text in texts if type(text) is str and text) or "the tool failed")
