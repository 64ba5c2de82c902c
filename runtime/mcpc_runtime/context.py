"""What a handler may say and ask while it runs: `from mcpc import Context`, and a parameter annotated with it.

Every method may be called from synchronous and from asynchronous code: what it returns is there already, and may be
awaited all the same.  Only `call_tool` takes time; on the thread of the event loop it returns something to wait for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn, Protocol

    class Port(Protocol):
        """The call that a context speaks for."""

        cancelled: bool

        def say(self, note: dict[str, Any]) -> None:
            """Send a note, unless the call has ended."""

        def ask(self, name: str, arguments: dict[str, Any]) -> Any:
            """Call another tool: return its result, or on the loop's thread something to wait for."""


class Cancelled(BaseException):
    """The call was cancelled, or its time is over; not an Exception, for those are often caught and passed over."""


class ToolError(Exception):
    """A failure whose text the caller is told as it is."""


class Done:
    """Nothing, at once or awaited."""

    __slots__ = ()

    def __await__(self) -> Iterator[None]:
        """Be done."""
        return iter(())


DONE = Done()


class Context:
    """One call's context.  `meta`: the request's `_meta`; `tool`: the name of the tool or prompt.

    `request_id` is an attribute only where the id is known.
    """

    __slots__ = ("__weakref__", "_port", "meta", "request_id", "tool")

    def __init__(self, port: Port, tool: str, meta: dict[str, Any]) -> None:
        self._port = port
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
        return self._port.ask(name, arguments or {})

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
