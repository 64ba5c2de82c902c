"""FastMCP of version 1 of the SDK."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from mcpc_runtime.systems.fastmcp.engine.errors import ResourceError, raised_as
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Decorator, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.context import Context
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.decorated import REQUESTS, Server, request_ctx
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.high_level import LIST_METHODS, HighLevelServer, wrapped_lifespan

LifespanResultT = TypeVar("LifespanResultT")
SETTINGS = {
    "debug": False,
    "log_level": "INFO",
    "host": "127.0.0.1",
    "port": 8000,
    "mount_path": "/",
    "sse_path": "/sse",
    "message_path": "/messages/",
    "streamable_http_path": "/mcp",
    "json_response": False,
    "stateless_http": False,
    "max_request_body_size": 4 * 1024 * 1024,
    "session_idle_timeout": 1800,
    "max_sessions": 10_000,
    "warn_on_duplicate_resources": True,
    "warn_on_duplicate_tools": True,
    "warn_on_duplicate_prompts": True,
    "lifespan": None,
    "auth": None,
    "transport_security": None,
}
"""The settings of a server, with their values where the project gives none."""
OPTIONS = frozenset(
    {"auth_server_provider", "token_verifier", "event_store", "retry_interval", "tools", "dependencies"}
)
FIRST_WITHOUT_OTHERS = (1, 13)
"""The first version that refuses options that it does not know."""
LIST_REQUESTS = {function: REQUESTS[method] for method, function in LIST_METHODS.items()}
"""The type of the request for each list of the server."""


class FastMCP(HighLevelServer, Generic[LifespanResultT]):
    """A server of decorated functions."""

    def __init__(
        self,
        name: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[Any] | None = None,
        **options: Any,
    ) -> None:
        unknown = options.keys() - SETTINGS.keys() - OPTIONS
        if unknown and selected().at_least(*FIRST_WITHOUT_OTHERS):
            raise TypeError(f"FastMCP.__init__() got an unexpected keyword argument {min(unknown)!r}")
        settings = {key: options.get(key, default) for key, default in SETTINGS.items()}
        settings["dependencies"] = list(options.get("dependencies") or ())
        lifespan = wrapped_lifespan(self, settings["lifespan"])
        self._mcp_server: Any = Server(
            name or "FastMCP", None, instructions, website_url=website_url, icons=icons, lifespan=lifespan
        )
        super().__init__(self._mcp_server, settings, options)
        self._setup_handlers()

    def _setup_handlers(self) -> None:
        server = self._mcp_server
        server.list_tools()(self.list_tools)
        server.call_tool(validate_input=False, looks_up=False)(self.call_tool)
        server.list_resources()(self.list_resources)
        server.read_resource()(self.read_resource)
        server.list_prompts()(self.list_prompts)
        server.get_prompt()(self.get_prompt)
        server.list_resource_templates()(self.list_resource_templates)
        self._own = {kind: server.request_handlers.named(request) for kind, request in LIST_REQUESTS.items()}

    def _lists_itself(self, kind: str) -> bool:
        handler = self._mcp_server.request_handlers.named(LIST_REQUESTS[kind])
        return handler is self._own[kind] and getattr(type(self), kind) is getattr(HighLevelServer, kind)

    def get_context(self) -> Context:
        return Context(request_context=request_ctx.get(None), fastmcp=self)

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
