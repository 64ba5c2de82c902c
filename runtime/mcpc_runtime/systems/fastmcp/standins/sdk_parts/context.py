"""The context that tools, resources and prompts of a project get; names and loggers of the SDK."""

from __future__ import annotations

import inspect
import logging
import typing
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.context import BaseContext
from mcpc_runtime.systems.fastmcp.engine.server import lack
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.session import elicit_with_validation

OUTSIDE = "Context is not available outside of a request"


class Context(BaseContext):
    """A request, its session and its server, as a function of the project sees them."""

    is_injected = False

    def __init__(
        self,
        *,
        request_context: object = None,
        fastmcp: object = None,
        mcp_server: object = None,
        input_params: object = None,
        **_: object,
    ) -> None:
        super().__init__(fastmcp or mcp_server, getattr(getattr(request_context, "session", None), "_call", None))
        self._request_context = request_context
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

    def mcpc_outside(self) -> Exception:
        return ValueError(OUTSIDE)

    @property
    def request_context(self) -> Any:
        if self._request_context is None:
            raise self.mcpc_outside()
        return self._request_context

    @property
    def fastmcp(self) -> Any:
        if self._server is None:
            raise self.mcpc_outside()
        return self._server

    @property
    def session(self) -> Any:
        return self.request_context.session

    @property
    def headers(self) -> object:
        """The headers of the HTTP request; None over stdio."""
        return getattr(self.request_context.request, "headers", None)

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

    async def read_resource(self, uri: object) -> object:
        return await self.fastmcp.read_resource(uri)

    async def elicit(self, message: str, schema: type[object]) -> object:
        """Ask the user for the values of a model."""
        return await elicit_with_validation(self.session, message, schema)

    async def log(
        self, level: str, message: object = None, *, logger_name: str | None = None, data: object = None
    ) -> None:
        await self.mcpc_log(level, message if data is None else data, logger_name)

    async def debug(self, message: object, *, logger_name: str | None = None, data: object = None) -> None:
        """Send a message of the log for debugging."""
        await self.log("debug", message, logger_name=logger_name, data=data)

    async def info(self, message: object, *, logger_name: str | None = None, data: object = None) -> None:
        await self.log("info", message, logger_name=logger_name, data=data)

    async def warning(self, message: object, *, logger_name: str | None = None, data: object = None) -> None:
        await self.log("warning", message, logger_name=logger_name, data=data)

    async def error(self, message: object, *, logger_name: str | None = None, data: object = None) -> None:
        await self.log("error", message, logger_name=logger_name, data=data)


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


def injected_in(function: Function, given: str | None) -> frozenset[str]:
    """Return the parameter that gets the context, the given one or the one that is found, if there is one."""
    name = given or find_context_parameter(function)
    return frozenset(() if name is None else (name,))


def converting(function: Function) -> Function:
    """Return a function whose arguments are converted to the types of its parameters."""
    made: Function = resolve("pydantic:validate_call")(function)
    return made


def described(function: Any, given: Object) -> Object:
    """Return options of a component, with the name and the description of its function where none are given."""
    name: str = given.get("name") or function.__name__
    if name == "<lambda>":
        raise ValueError("You must provide a name for lambda functions")
    return {**given, "name": name, "description": given.get("description") or function.__doc__ or ""}


def get_logger(name: str) -> logging.Logger:
    return logging.getLogger(name)


def configure_logging(level: str = "INFO") -> None:
    """Let messages be written to the standard error output."""
    logging.basicConfig(format="%(message)s", level=level)
