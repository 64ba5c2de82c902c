"""The low-level server of version 1 of the SDK: decorators register handlers, `jsonschema` checks arguments."""

from __future__ import annotations

import contextvars
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar, get_type_hints

from mcpc_runtime.systems.fastmcp.engine.server import METHOD_NOT_FOUND, ProtocolError, raised_as
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Call, Decorator, Function, Object
from mcpc_runtime.systems.fastmcp.standins.exports import placeholder
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import types
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.low_level import (
    LowLevelServer,
    lifespan,
    resource_contents,
    result_of,
)
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.requests import (
    AddressParams,
    CompletionParams,
    NamedParams,
    RequestContext,
    http_request,
)
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.session import (
    CodedError,
    McpUrlElicitationRequiredError,
    ServerSession,
)

Handler = Callable[[Any], Awaitable[Any]]


class RequestHandlers(MutableMapping[type, Handler]):
    """A mapping as projects know it; `register` and `named` know requests by the names of their types."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._kinds: Object = {}

    def register(self, name: str, handler: Handler) -> None:
        self._handlers[name] = handler

    def named(self, name: str) -> Handler | None:
        return self._handlers.get(name)

    def __getitem__(self, kind: type) -> Handler:
        name = getattr(kind, "__name__", "")
        if name not in self._handlers:
            raise KeyError(kind)
        return self._handlers[name]

    def __setitem__(self, kind: type, handler: Handler) -> None:
        """Set the handler of a type of requests, which may be the project's own."""
        self._kinds[kind.__name__] = kind
        self._handlers[kind.__name__] = handler

    def __delitem__(self, kind: type) -> None:
        if kind not in self:
            raise KeyError(kind)
        del self._handlers[kind.__name__]

    def __iter__(self) -> Iterator[type]:
        return iter([self._kinds.get(name) or getattr(types, name) for name in self._handlers])

    def __len__(self) -> int:
        return len(self._handlers)

    def __repr__(self) -> str:
        return repr(dict(self))


FIRST_THAT_CHECKS = (1, 10)
"""The first version of the SDK that checks them."""


def checks_tools() -> bool:
    """Tell whether the selected SDK checks arguments and results."""
    return selected().family != "sdk" or selected().at_least(*FIRST_THAT_CHECKS)


def schema_problem(value: object, schema: Object) -> str | None:
    """Return what is wrong with a value, None if it is valid, or if the built server alone checks it."""
    try:
        jsonschema = import_module("jsonschema")
    except ImportError:
        return None
    try:
        jsonschema.validate(instance=value, schema=schema)
    except jsonschema.ValidationError as problem:
        return str(problem.message)
    return None


LifespanResultT = TypeVar("LifespanResultT")
RequestT = TypeVar("RequestT")
REQUESTS = {
    "completion/complete": "CompleteRequest",
    "logging/setLevel": "SetLevelRequest",
    "prompts/get": "GetPromptRequest",
    "prompts/list": "ListPromptsRequest",
    "resources/list": "ListResourcesRequest",
    "resources/read": "ReadResourceRequest",
    "resources/subscribe": "SubscribeRequest",
    "resources/templates/list": "ListResourceTemplatesRequest",
    "resources/unsubscribe": "UnsubscribeRequest",
    "tools/call": "CallToolRequest",
    "tools/list": "ListToolsRequest",
}
"""The types of requests by their methods."""
UNKNOWN_ERROR = 0
"""The code of an error that a handler raises as any exception."""

request_ctx: contextvars.ContextVar[RequestContext[object, object, object]] = contextvars.ContextVar("request_ctx")


@dataclass(slots=True)
class Response:
    """What a handler returns: a result in `root`, as in `ServerResult`."""

    root: Any


def response(result: object) -> object:
    """Return a handler's response: a model as it is, anything else as `ServerResult` understands it."""
    return Response(result) if hasattr(result, "model_dump") else types.ServerResult(result)


class Server(LowLevelServer, Generic[LifespanResultT, RequestT]):
    """A low-level server."""

    def __init__(  # noqa: PLR0913 - as there
        self,
        name: str,
        version: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[object] | None = None,
        lifespan: Callable[[object], AbstractAsyncContextManager[object]] = lifespan,
    ) -> None:
        super().__init__(name, version, lifespan)
        self.instructions = instructions
        self.website_url = website_url
        self.icons = icons
        self.request_handlers = RequestHandlers()
        self.notification_handlers: dict[object, Handler] = {}
        self._tool_cache: Object = {}
        self._list_functions: Object = {}

    @property
    def request_context(self) -> RequestContext[Any, Any, Any]:
        """The context of the current request; `LookupError` outside of one."""
        return request_ctx.get()

    @property
    def experimental(self) -> object:
        return placeholder("mcp.server.Server.experimental")

    def handles(self, method: str) -> bool:
        return self.request_handlers.named(REQUESTS[method]) is not None

    def mcpc_list_function(self, method: str) -> object:
        """Return the project's function that makes a list, None if there is none."""
        return self._list_functions.get(REQUESTS[method]) or self.request_handlers.named(REQUESTS[method])

    async def respond(self, method: str, params: Object, call: Call) -> Object:
        """Return a handler's result; raise ProtocolError for an error."""
        handler = self.request_handlers.named(REQUESTS[method])
        if handler is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found")
        request = getattr(types, REQUESTS[method]).model_validate({"method": method, "params": params or None})
        token = request_ctx.set(self._context(request, call))
        try:
            with raised_as(error_of, ProtocolError):
                return result_of(await handler(request))
        finally:
            request_ctx.reset(token)

    def _context(self, request: Any, call: Call) -> RequestContext[Any, Any, Any]:
        meta = request.params.meta if request.params is not None else None
        return RequestContext(
            call.request_id, meta, ServerSession(call), self.lifespan_context, request=http_request(call)
        )

    def _lister(self, request: str, result: str, field: str) -> Decorator:
        """Return a decorator for the handler of a list: it returns the list, or a result with a page of it."""

        def decorate(function: Function) -> Function:
            self._list_functions[request] = function
            # Made at the first call: the type needs pydantic, which is not imported while the project registers.
            wrapped = cache(lambda: call_wrapper(function, getattr(types, request)))

            async def handler(given: object) -> object:
                result_type = getattr(types, result)
                found = await wrapped()(given)
                whole = not isinstance(found, result_type)
                listed = result_type(**{field: found}) if whole else found
                if field == "tools":
                    self._remember(listed.tools, whole)
                return Response(listed)

            self.request_handlers.register(request, handler)
            return function

        return decorate

    def _remember(self, tools: list[Any], whole: bool) -> None:
        # A whole list replaces what is known; a page only adds to it.
        if whole:
            self._tool_cache.clear()
        self._tool_cache.update({tool.name: tool for tool in tools})

    def list_tools(self) -> Decorator:
        return self._lister("ListToolsRequest", "ListToolsResult", "tools")

    def list_prompts(self) -> Decorator:
        return self._lister("ListPromptsRequest", "ListPromptsResult", "prompts")

    def list_resources(self) -> Decorator:
        return self._lister("ListResourcesRequest", "ListResourcesResult", "resources")

    def list_resource_templates(self) -> Decorator:
        return self._lister("ListResourceTemplatesRequest", "ListResourceTemplatesResult", "resourceTemplates")

    def _handler(self, request: str, answer: Callable[[Function, Any], Awaitable[Any]]) -> Decorator:
        """Return a decorator that registers a handler; `answer` makes its response of a function and a request."""

        def decorate(function: Function) -> Function:
            async def handler(given: Any) -> Any:
                return await answer(function, given.params)

            self.request_handlers.register(request, handler)
            return function

        return decorate

    def get_prompt(self) -> Decorator:
        return self._handler("GetPromptRequest", get_prompt)

    def read_resource(self) -> Decorator:
        return self._handler("ReadResourceRequest", read_resource)

    def set_logging_level(self) -> Decorator:
        return self._handler("SetLevelRequest", lambda function, params: call_without_result(function, params.level))

    def subscribe_resource(self) -> Decorator:
        """Register the handler of subscriptions."""
        return self._handler("SubscribeRequest", lambda function, params: call_without_result(function, params.uri))

    def unsubscribe_resource(self) -> Decorator:
        """Register the handler of a subscription's end."""
        return self._handler("UnsubscribeRequest", lambda function, params: call_without_result(function, params.uri))

    def completion(self) -> Decorator:
        """Register what completes arguments."""
        return self._handler("CompleteRequest", complete)

    def progress_notification(self) -> Decorator:

        def decorate(function: Function) -> Function:
            self.notification_handlers[types.ProgressNotification] = function
            return function

        return decorate

    def call_tool(self, *, validate_input: bool = True, looks_up: bool = True) -> Decorator:
        """Register what calls tools; `looks_up`: their definitions are looked up, and their results checked."""
        self.mcpc_arguments = "schema" if validate_input else "handler"

        async def answer(function: Function, params: NamedParams) -> object:
            try:
                return Response(await self._call_tool(function, params, validate_input, looks_up and checks_tools()))
            except McpUrlElicitationRequiredError:
                # The client has to get it as an error of the request, which has the addresses to visit.
                raise
            except Exception as problem:  # noqa: BLE001 - whatever a tool raises is an error result
                return Response(error_result(str(problem)))

        return self._handler("CallToolRequest", answer)

    async def _call_tool(self, function: Function, params: NamedParams, validate_input: bool, looks_up: bool) -> object:
        arguments = params.arguments or {}
        tool = await self._tool(params.name) if looks_up else None
        if validate_input and tool is not None:
            problem = schema_problem(arguments, tool.inputSchema)
            if problem is not None:
                return error_result(f"Input validation error: {problem}")
        returned = await function(params.name, arguments)
        if isinstance(returned, types.CallToolResult):
            return returned
        if not isinstance(returned, dict) and not hasattr(returned, "__iter__"):
            return error_result(f"Unexpected return type from tool: {type(returned).__name__}")
        return tool_result(*contents(returned), tool)

    async def _tool(self, name: str) -> Any:
        """Return a tool's definition; the list is made if it is not known."""
        lists = self.request_handlers.named("ListToolsRequest")
        if name not in self._tool_cache and lists is not None:
            await lists(types.ListToolsRequest(method="tools/list"))
        return self._tool_cache.get(name)


def error_of(problem: Exception) -> ProtocolError:
    if isinstance(problem, CodedError):
        return ProtocolError(problem.code, problem.message, problem.data)
    return ProtocolError(UNKNOWN_ERROR, str(problem))


def contents(returned: object) -> tuple[object, object]:
    """Return the content, and the structured content, that a tool's handler returned."""
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned[0], returned[1]
    if isinstance(returned, dict):
        return [types.TextContent(type="text", text=json.dumps(returned, indent=2))], returned
    return returned, None


def tool_result(content: Any, structured: object, tool: Any) -> object:
    """Return a tool's result; a structured one is as its tool says, or the result is an error."""
    if tool is not None and tool.outputSchema is not None:
        if structured is None:
            return error_result("Output validation error: outputSchema defined but no structured output returned")
        problem = schema_problem(structured, tool.outputSchema)
        if problem is not None:
            return error_result(f"Output validation error: {problem}")
    return types.CallToolResult(content=list(content), structuredContent=structured, isError=False)


def error_result(text: str) -> object:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], isError=True)


async def get_prompt(function: Function, params: NamedParams) -> object:
    """Answer `prompts/get`."""
    return response(await function(params.name, params.arguments))


async def call_without_result(function: Function, value: object) -> object:
    """Call a handler that returns nothing; the result is empty."""
    await function(value)
    return Response(types.EmptyResult())


async def complete(function: Function, params: CompletionParams) -> object:
    """Answer `completion/complete`."""
    context = (params.context,) if checks_tools() else ()
    completion = await function(params.ref, params.argument, *context)
    found = types.Completion(values=[], total=None, hasMore=None) if completion is None else completion
    return Response(types.CompleteResult(completion=found))


async def read_resource(function: Function, params: AddressParams) -> object:
    """Answer `resources/read`."""
    result = await function(params.uri)
    if isinstance(result, (str, bytes)):
        return Response(types.ReadResourceResult(contents=[resource_contents(params.uri, result, None, None)]))
    if not hasattr(result, "__iter__"):
        raise ValueError(f"Unexpected return type from read_resource: {type(result)}")
    parts = [
        resource_contents(params.uri, part.content, part.mime_type, getattr(part, "meta", None)) for part in result
    ]
    return Response(types.ReadResourceResult(contents=parts))


def call_wrapper(function: Function, kind: object) -> Handler:
    """Return how the handler of a list is called: with the request if a parameter without a default has its type."""
    try:
        parameters, hints = inspect.signature(function).parameters, get_type_hints(function)
    except (ValueError, TypeError, NameError):
        return lambda _: function()
    for name, parameter in parameters.items():
        if hints.get(name) is not kind or parameter.default is not inspect.Parameter.empty:
            continue
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            return lambda request: function(request)
        return lambda request, name=name: function(**{name: request})  # type: ignore[misc]
    return lambda _: function()
