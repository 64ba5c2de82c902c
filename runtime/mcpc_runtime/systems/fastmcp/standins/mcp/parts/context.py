"""The context that tools, resources and prompts of a project get, and how their functions are called."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import typing
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.server import lack
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.session import elicit_url, elicit_with_validation


class Context:
    """A request, its session and its server, as a function of the project sees them."""

    def __init__(
        self,
        *,
        request_context: Any = None,
        fastmcp: Any = None,
        mcp_server: Any = None,
        input_params: Any = None,
        **_: object,
    ) -> None:
        self._request_context = request_context
        self._server = fastmcp or mcp_server
        self._input_params = input_params

    def __class_getitem__(cls, _: object) -> type[Context]:
        """Return the class: what it is a context of does not matter here."""
        return cls

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: object) -> object:
        """Let pydantic take a context as it is; FastMCP does not inject it: there it is an argument of clients."""
        if selected().family != "sdk":
            lack("the SDK's Context in a function of FastMCP")
        return resolve("pydantic_core.core_schema:any_schema")()

    @property
    def request_context(self) -> Any:
        if self._request_context is None:
            raise ValueError("Context is not available outside of a request")
        return self._request_context

    @property
    def fastmcp(self) -> Any:
        if self._server is None:
            raise ValueError("Context is not available outside of a request")
        return self._server

    mcp_server = fastmcp

    @property
    def session(self) -> Any:
        return self.request_context.session

    @property
    def request_id(self) -> str:
        return str(self.request_context.request_id)

    @property
    def client_id(self) -> str | None:
        """What the request's `_meta` calls its client."""
        return getattr(self.request_context.meta, "client_id", None)

    @property
    def headers(self) -> object:
        """The headers of the HTTP request; None over stdio."""
        return getattr(self.request_context.request, "headers", None)

    @property
    def protocol_version(self) -> str | None:
        """The protocol's revision; None outside of a request."""
        return None if self._request_context is None else self._request_context.session.protocol_version

    @property
    def client_capabilities(self) -> object:
        return self.session.client_capabilities

    @property
    def input_responses(self) -> object:
        """What the client answered to questions of an earlier round."""
        return getattr(self._input_params, "input_responses", None)

    @property
    def request_state(self) -> str | None:
        """The state that an earlier round gave to the client."""
        return getattr(self._input_params, "request_state", None)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the progress of the call, if the client wants to know it."""
        context = self.request_context
        if token_of(context.meta) is not None:
            await context.session.send_progress_notification(token_of(context.meta), progress, total, message)

    async def read_resource(self, uri: Any) -> object:
        return await self.fastmcp.read_resource(uri)

    async def elicit(self, message: str, schema: type[Any]) -> object:
        """Ask the user for the values of a model."""
        return await elicit_with_validation(self.session, message, schema, self.request_id)

    async def elicit_url(self, message: str, url: str, elicitation_id: str) -> object:
        """Ask the user to open an address."""
        return await elicit_url(self.session, message, url, elicitation_id, self.request_id)

    async def log(
        self, level: str, message: object = None, *, logger_name: str | None = None, data: object = None
    ) -> None:
        await self.session.send_log_message(level, message if data is None else data, logger_name, self.request_id)

    async def debug(self, message: object, **options: Any) -> None:
        """Send a message of the log for debugging."""
        await self.log("debug", message, **options)

    async def info(self, message: object, **options: Any) -> None:
        await self.log("info", message, **options)

    async def warning(self, message: object, **options: Any) -> None:
        await self.log("warning", message, **options)

    async def error(self, message: object, **options: Any) -> None:
        await self.log("error", message, **options)

    async def notify_tools_changed(self) -> None:
        await self.session.send_tool_list_changed()

    async def notify_prompts_changed(self) -> None:
        await self.session.send_prompt_list_changed()

    async def notify_resources_changed(self) -> None:
        await self.session.send_resource_list_changed()

    async def notify_resource_updated(self, uri: object) -> None:
        await self.session.send_resource_updated(uri)

    async def close_sse_stream(self) -> None:
        """Do nothing: the built server keeps the streams."""

    async def close_standalone_sse_stream(self) -> None:
        """Do nothing: the built server keeps the streams."""


def token_of(meta: object) -> object:
    """Return the progress token of a request's `_meta`, None if it has none."""
    if isinstance(meta, dict):
        return meta.get("progress_token")
    return getattr(meta, "progressToken", None)


def find_context_parameter(function: Function) -> str | None:
    """Return the name of the parameter that gets the context, None if there is none."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - a hint that cannot be resolved is none of the context
        return None
    for name, hint in hints.items():
        if any(inspect.isclass(each) and issubclass(each, Context) for each in (hint, *typing.get_args(hint))):
            return name
    return None


def is_asynchronous(function: object) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    method = getattr(type(function), "__call__", None)  # noqa: B004 - its kind matters, not that it is there
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


async def call(function: Function, arguments: Object) -> Any:
    """Call a function, where the version of the SDK does: in a thread if it is synchronous, or at once."""
    if is_asynchronous(function):
        return await function(**arguments)
    if behaviour().synchronous_in_threads:
        return await asyncio.to_thread(function, **arguments)
    return function(**arguments)


async def call_and_wait(function: Function, arguments: Object) -> Any:
    """Call a function; wait for its result if that is a coroutine."""
    result = await call(function, arguments)
    return await result if inspect.iscoroutine(result) else result


def converting(function: Function) -> Function:
    """Return a function whose arguments are converted to the types of its parameters."""
    made: Function = resolve("pydantic:validate_call")(function)
    return made


def json_text(value: object) -> str:
    text: str = resolve("pydantic_core:to_json")(value, fallback=str, indent=2).decode()
    return text


def function_name(function: Any, name: str | None) -> str:
    """Return a component's name: the given one, or that of its function."""
    found: str = name or function.__name__
    if found == "<lambda>":
        raise ValueError("You must provide a name for lambda functions")
    return found


def get_logger(name: str) -> logging.Logger:
    return logging.getLogger(name)


def configure_logging(level: str = "INFO") -> None:
    """Let messages be written to the standard error output."""
    logging.basicConfig(format="%(message)s", level=level)
