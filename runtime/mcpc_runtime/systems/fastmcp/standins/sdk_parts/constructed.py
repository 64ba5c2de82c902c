"""The low-level server of version 2 of the SDK: handlers are given to its constructor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcpc_runtime.systems.fastmcp.engine.listing import SCHEMA_FIELDS, SCHEMAS
from mcpc_runtime.systems.fastmcp.engine.server import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ProtocolError,
    raised_as,
)
from mcpc_runtime.systems.fastmcp.engine.web import ServedApplication
from mcpc_runtime.systems.fastmcp.interfaces import Call, Function, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import types
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.low_level import (
    LowLevelServer,
    lifespan,
    result_of,
)
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.requests import ServerRequestContext, http_request
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.session import CodedError, ServerSession

RequestHandler = Callable[[Any, Any], Awaitable[Any]]


LifespanResultT = TypeVar("LifespanResultT")
HANDLERS = {
    "on_call_tool": ("tools/call", "CallToolRequestParams"),
    "on_completion": ("completion/complete", "CompleteRequestParams"),
    "on_get_prompt": ("prompts/get", "GetPromptRequestParams"),
    "on_list_prompts": ("prompts/list", "PaginatedRequestParams"),
    "on_list_resource_templates": ("resources/templates/list", "PaginatedRequestParams"),
    "on_list_resources": ("resources/list", "PaginatedRequestParams"),
    "on_list_tools": ("tools/list", "PaginatedRequestParams"),
    "on_ping": ("ping", "RequestParams"),
    "on_read_resource": ("resources/read", "ReadResourceRequestParams"),
    "on_set_logging_level": ("logging/setLevel", "SetLevelRequestParams"),
    "on_subscribe_resource": ("resources/subscribe", "SubscribeRequestParams"),
    "on_unsubscribe_resource": ("resources/unsubscribe", "UnsubscribeRequestParams"),
}
"""The constructor's handlers of requests: the method of each, and the type of its parameters."""
NOTIFIED = {
    "on_progress": ("notifications/progress", "ProgressNotificationParams"),
    "on_roots_list_changed": ("notifications/roots/list_changed", "NotificationParams"),
}
"""The constructor's handlers of notifications, likewise."""
INFORMATION = ("title", "description", "instructions", "website_url", "icons")
ACCEPTED = ("cache_hints", "get_tool_input_schema")
"""Options that decide nothing in a built server."""
RESULTS = {
    "completion/complete": "completion",
    "prompts/get": "messages",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/read": "contents",
    "resources/templates/list": "resourceTemplates",
    "tools/call": "content",
    "tools/list": "tools",
}
"""The field that the result of each method has."""
STATELESS_SINCE = "2026-07-28"
"""The first revision whose clients are not told what an unexpected exception says."""


@dataclass
class HandlerEntry(Generic[LifespanResultT]):
    """A handler, and the type of its parameters."""

    params_type: Any
    handler: RequestHandler


class Server(LowLevelServer, Generic[LifespanResultT]):
    """A low-level server."""

    def __init__(
        self,
        name: str,
        *,
        version: str = "",
        lifespan: Callable[[object], AbstractAsyncContextManager[object]] = lifespan,
        **options: object,
    ) -> None:
        super().__init__(name, version, lifespan)
        self.description: str | None = None
        self.middleware: list[Function] = []
        self.extensions: dict[str, Object] = {}
        self._handlers: dict[str, HandlerEntry[Any]] = {}
        self._notification_handlers: dict[str, HandlerEntry[Any]] = {}
        for option, value in options.items():
            self._set(option, value)

    def _set(self, option: str, value: Any) -> None:
        if option in INFORMATION:
            setattr(self, option, value)
        elif option in HANDLERS or option in NOTIFIED:
            method, params_type = {**HANDLERS, **NOTIFIED}[option]
            handlers = self._handlers if option in HANDLERS else self._notification_handlers
            if value is not None:
                handlers[method] = HandlerEntry(getattr(types, params_type), value)
        elif option not in ACCEPTED:
            raise TypeError(f"Server.__init__() got an unexpected keyword argument {option!r}")

    def add_request_handler(self, method: str, params_type: object, handler: RequestHandler) -> None:
        if method == "initialize":
            raise ValueError(
                "'initialize' is handled by the server runner and cannot be overridden; "
                "use Server.middleware to observe or wrap initialization"
            )
        self._handlers[method] = HandlerEntry(params_type, handler)

    def add_notification_handler(self, method: str, params_type: object, handler: RequestHandler) -> None:
        """Set the handler of a notification, which a built server does not call."""
        self._notification_handlers[method] = HandlerEntry(params_type, handler)

    def get_request_handler(self, method: str) -> HandlerEntry[object] | None:
        return self._handlers.get(method)

    def get_notification_handler(self, method: str) -> HandlerEntry[object] | None:
        return self._notification_handlers.get(method)

    def handles(self, method: str) -> bool:
        return method in self._handlers

    @property
    def server_info(self) -> object:
        return types.Implementation(
            name=self.name,
            version=self.version,
            title=self.title,
            description=self.description,
            website_url=self.website_url,
            icons=self.icons,
        )

    def mcpc_list_function(self, method: str) -> object:
        """Return the project's function that makes a list, None if there is none."""
        entry = self._handlers.get(method)
        return None if entry is None else entry.handler

    async def respond(self, method: str, params: Object, call: Call) -> Object:
        """Return a handler's result, of the middleware's chain around it; raise ProtocolError for an error."""
        context = ServerRequestContext(
            session=ServerSession(call),
            lifespan_context=self.lifespan_context,
            protocol_version=call.protocol_version,
            method=method,
            params=params,
            request_id=call.request_id,
            meta=types.RequestParams.model_validate({"_meta": call.meta}).meta if call.meta else None,
            request=http_request(call),
        )
        handle: Callable[[Any], Awaitable[Any]] = self._handle
        for middleware in reversed(self.middleware):
            handle = wrapped(middleware, handle)
        with raised_as(lambda problem: error_of(problem, call), ProtocolError):
            result = result_of(await handle(context))
        # The empty name stands for methods whose results need no field.
        if "resultType" not in result and RESULTS.get(method, "") not in {"", *result}:
            raise ProtocolError(INTERNAL_ERROR, "Handler returned an invalid result")
        return result

    def ordered(self, entry: Object) -> Object:
        """Return an entry with its fields in alphabetical order, as this version of the SDK sends them."""
        return {key: value if key == "_meta" else in_order(value, key) for key, value in sorted(entry.items())}

    async def _handle(self, context: ServerRequestContext[Any, Any]) -> object:
        entry = self._handlers.get(context.method)
        if entry is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", context.method)
        result = await entry.handler(context, entry.params_type.model_validate(context.params or {}, by_name=False))
        if isinstance(result, types.ErrorData):
            raise ProtocolError(result.code, result.message, result.data)
        if result is not None and not isinstance(result, dict) and not hasattr(result, "model_dump"):
            raise TypeError(f"handler returned {type(result).__name__}; expected BaseModel, dict, or None")
        return {} if result is None else result

    def streamable_http_app(self, **_: object) -> ServedApplication:
        return ServedApplication(self)


def in_order(value: object, key: str) -> object:
    """Return a field's value with its fields in the order of the wire: schemas begin with some, all else is sorted."""
    if isinstance(value, list):
        return [in_order(each, key) for each in value]
    if not isinstance(value, dict):
        return value
    if key in SCHEMAS:
        return {name: value[name] for name in SCHEMA_FIELDS if name in value} | value
    return {name: in_order(each, name) for name, each in sorted(value.items())}


def wrapped(middleware: Any, handle: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:

    async def call(context: Any) -> Any:
        return await middleware(context, handle)

    return call


def error_of(problem: Exception, call: Call) -> ProtocolError:
    """Return the error of an exception: its own, invalid parameters, or what the revision lets clients know of it."""
    if isinstance(problem, CodedError):
        return ProtocolError(problem.code, problem.message, problem.data)
    if type(problem).__module__.startswith("pydantic"):
        return ProtocolError(INVALID_PARAMS, "Invalid request parameters", "")
    # Revisions are dates, so they compare as texts.
    if call.protocol_version >= STATELESS_SINCE:
        return ProtocolError(INTERNAL_ERROR, "Internal server error")
    return ProtocolError(0, str(problem))
