"""FastMCP of version 1 of the SDK, and MCPServer of version 2: servers of decorated functions."""

from __future__ import annotations

import logging
from typing import Any, Generic, TypeVar

from mcpc_runtime.systems.fastmcp.engine.server import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ResourceError,
    ResourceNotFoundError,
    raised_as,
)
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Decorator, Function, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts import constructed, decorated
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.context import Context
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import types
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.high_level import HighLevelServer, of_inner, wrapped_lifespan
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.low_level import resource_contents
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.requests import AddressParams, CompletionParams, NamedParams
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.session import MCPError, UnexpectedResourceError

LifespanResultT = TypeVar("LifespanResultT")
DUPLICATES = ("warn_on_duplicate_resources", "warn_on_duplicate_tools", "warn_on_duplicate_prompts")
SETTINGS = {
    **dict.fromkeys(("debug", "json_response", "stateless_http"), False),
    **dict.fromkeys(DUPLICATES, True),
    **dict.fromkeys(("lifespan", "auth", "transport_security")),
    "log_level": "INFO",
    "host": "127.0.0.1",
    "port": 8000,
    "mount_path": "/",
    "sse_path": "/sse",
    "message_path": "/messages/",
    "streamable_http_path": "/mcp",
    "max_request_body_size": 4 * 1024 * 1024,
    "session_idle_timeout": 1800,
    "max_sessions": 10_000,
}
"""The settings of a server, with their values where the project gives none."""
OPTIONS = frozenset(
    {"auth_server_provider", "token_verifier", "event_store", "retry_interval", "tools", "dependencies"}
)
FIRST_WITHOUT_OTHERS = (1, 13)
"""The first version that refuses options that it does not know."""


class FastMCP(HighLevelServer, Generic[LifespanResultT]):
    """A server of decorated functions."""

    def __init__(
        self,
        name: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[object] | None = None,
        **options: Any,
    ) -> None:
        unknown = options.keys() - SETTINGS.keys() - OPTIONS
        if unknown and selected().at_least(*FIRST_WITHOUT_OTHERS):
            raise TypeError(f"FastMCP.__init__() got an unexpected keyword argument {min(unknown)!r}")
        settings = {key: options.get(key, default) for key, default in SETTINGS.items()}
        settings["dependencies"] = list(options.get("dependencies") or ())
        lifespan = wrapped_lifespan(self, settings["lifespan"])
        self._mcp_server: Any = decorated.Server(
            name or "FastMCP", None, instructions, website_url=website_url, icons=icons, lifespan=lifespan
        )
        # Before the base notes which handlers are the server's own.
        self._setup_handlers()
        super().__init__(self._mcp_server, settings, options)

    def _setup_handlers(self) -> None:
        server = self._mcp_server
        server.list_tools()(self.list_tools)
        # Tools check their arguments and results themselves, by pydantic.
        server.call_tool(validate_input=False, looks_up=False)(self.call_tool)
        server.list_resources()(self.list_resources)
        server.read_resource()(self.read_resource)
        server.list_prompts()(self.list_prompts)
        server.get_prompt()(self.get_prompt)
        server.list_resource_templates()(self.list_resource_templates)

    def _handler(self, method: str) -> object:
        return self._mcp_server.request_handlers.named(decorated.REQUESTS[method])

    def get_context(self) -> Context:
        return Context(request_context=decorated.request_ctx.get(None), fastmcp=self)

    async def call_tool(self, name: str, arguments: Object) -> object:
        return await self._tool_manager.call_tool(name, arguments, context=self.get_context(), convert_result=True)

    async def read_resource(self, uri: object) -> object:
        context = self.get_context()
        resource = await self._resource_manager.get_resource(uri, context)
        with raised_as(lambda problem: ResourceError(str(problem))):
            return await self._contents(resource)

    async def get_prompt(self, name: str, arguments: Object | None = None) -> object:
        with raised_as(lambda problem: ValueError(str(problem))):
            return await self._prompt(name, arguments, self.get_context())

    def completion(self) -> Decorator:
        """Register what completes arguments."""
        found: Decorator = self._mcp_server.completion()
        return found


log = logging.getLogger(__name__)
SETTINGS_2 = {name: SETTINGS[name] for name in ("debug", "log_level", *DUPLICATES, "lifespan", "auth")}
OPTIONS_2 = frozenset(
    {
        *("auth_server_provider", "cache_hints", "dependencies", "extensions", "middleware"),
        *("request_state_security", "resource_security", "resources", "subscriptions", "token_verifier", "tools"),
    }
)
IDENTITY = ("title", "description", "instructions", "website_url", "icons")


class MCPServer(HighLevelServer, Generic[LifespanResultT]):
    """A server of decorated functions."""

    def __init__(  # noqa: PLR0913 - as there
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[object] | None = None,
        version: str = "",
        **options: Any,
    ) -> None:
        unknown = options.keys() - SETTINGS_2.keys() - OPTIONS_2
        if unknown:
            raise TypeError(f"MCPServer.__init__() got an unexpected keyword argument {min(unknown)!r}")
        settings = {key: options.get(key, default) for key, default in SETTINGS_2.items()}
        settings["dependencies"] = list(options.get("dependencies") or ())
        given = (title, description, instructions, website_url, icons)
        self._lowlevel_server: constructed.Server[Any] = constructed.Server(
            name or "mcp-server",
            version=version,
            lifespan=wrapped_lifespan(self, settings["lifespan"]),
            **dict(zip(IDENTITY, given, strict=True)),
            on_list_tools=self._handle_list_tools,
            on_call_tool=self._handle_call_tool,
            on_list_resources=self._handle_list_resources,
            on_read_resource=self._handle_read_resource,
            on_list_resource_templates=self._handle_list_resource_templates,
            on_list_prompts=self._handle_list_prompts,
            on_get_prompt=self._handle_get_prompt,
        )
        super().__init__(self._lowlevel_server, settings, options)
        self._resource_security = options.get("resource_security")
        self._lowlevel_server.middleware.extend(options.get("middleware") or ())

    def _handler(self, method: str) -> object:
        entry = self._lowlevel_server.get_request_handler(method)
        return None if entry is None else entry.handler

    title = of_inner("title")
    description = of_inner("description")
    version = of_inner("version")
    middleware = of_inner("middleware")

    def resource(self, uri: str, **options: Any) -> Decorator:
        """Register functions as resources, or as templates if the address has variables."""
        if self._resource_security is not None and options.get("security") is None:
            options["security"] = self._resource_security
        return super().resource(uri, **options)

    def completion(self) -> Decorator:
        """Register what completes arguments."""

        def decorate(function: Function) -> Function:
            async def handle(context: object, params: CompletionParams) -> object:
                return await complete(function, params)

            self._lowlevel_server.add_request_handler("completion/complete", types.CompleteRequestParams, handle)
            return function

        return decorate

    async def call_tool(self, name: str, arguments: Object, context: Context | None = None) -> object:
        context = context or Context(mcp_server=self)
        result = await self._tool_manager.call_tool(name, arguments, context, convert_result=True)
        if hasattr(result, "model_dump"):
            return result
        contents, structured = result if isinstance(result, tuple) else (result, None)
        return types.CallToolResult(content=contents, structured_content=structured)

    async def read_resource(self, uri: object, context: Context | None = None) -> Any:
        context = context or Context(mcp_server=self)
        with raised_as(lambda _: UnexpectedResourceError(f"Error reading resource {uri}"), MCPError, ResourceError):
            return await self._contents(await self._resource_manager.get_resource(uri, context))

    async def get_prompt(self, name: str, arguments: Object | None = None, context: Context | None = None) -> object:
        with raised_as(lambda problem: ValueError(str(problem)), MCPError):
            return await self._prompt(name, arguments, context or Context(mcp_server=self))

    def _context(self, context: object, params: object) -> Context:
        return Context(request_context=context, mcp_server=self, input_params=params)

    async def _handle_list_tools(self, context: object, params: object) -> object:
        return types.ListToolsResult(tools=await self.list_tools())

    async def _handle_list_prompts(self, context: object, params: object) -> object:
        return types.ListPromptsResult(prompts=await self.list_prompts())

    async def _handle_list_resources(self, context: object, params: object) -> object:
        return types.ListResourcesResult(resources=await self.list_resources())

    async def _handle_list_resource_templates(self, context: object, params: object) -> object:
        return types.ListResourceTemplatesResult(resource_templates=await self.list_resource_templates())

    async def _handle_call_tool(self, context: object, params: NamedParams) -> object:
        try:
            return await self.call_tool(params.name, params.arguments or {}, self._context(context, params))
        except MCPError:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever a tool raises is an error result
            text = types.TextContent(type="text", text=str(problem))
            return types.CallToolResult(content=[text], is_error=True)

    async def _handle_get_prompt(self, context: object, params: NamedParams) -> object:
        return await self.get_prompt(params.name, params.arguments, self._context(context, params))

    async def _handle_read_resource(self, context: object, params: AddressParams) -> object:
        try:
            parts = await self.read_resource(params.uri, self._context(context, params))
        except ResourceError as problem:
            code = INVALID_PARAMS if isinstance(problem, ResourceNotFoundError) else INTERNAL_ERROR
            raise MCPError(code, str(problem), {"uri": str(params.uri)}) from problem
        return types.ReadResourceResult(
            contents=[resource_contents(params.uri, each.content, each.mime_type, each.meta) for each in parts]
        )


async def complete(function: Function, params: CompletionParams) -> object:
    """Answer `completion/complete`."""
    try:
        found = await function(params.ref, params.argument, params.context)
    except MCPError:
        raise
    except Exception as problem:
        log.exception("Completion for argument %r raised an unexpected exception", params.argument.name)
        raise MCPError(INTERNAL_ERROR, f"Error completing argument {params.argument.name}") from problem
    return types.CompleteResult(completion=types.Completion(values=[]) if found is None else found)
