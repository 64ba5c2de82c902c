"""FastMCP: a server with components, middleware and mounted servers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import GenericAlias, SimpleNamespace
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import listing, mounts, results, running
from mcpc_runtime.systems.fastmcp.engine.contents import typed, wire
from mcpc_runtime.systems.fastmcp.engine.context import current_context
from mcpc_runtime.systems.fastmcp.engine.mounts import Mount, Visibility, visibility_rules
from mcpc_runtime.systems.fastmcp.engine.server import UnsupportedFeatureError, lack, note
from mcpc_runtime.systems.fastmcp.engine.web import ServedApplication, note_middleware
from mcpc_runtime.systems.fastmcp.interfaces import Call, Function, Object
from mcpc_runtime.systems.fastmcp.program import current_program
from mcpc_runtime.systems.fastmcp.standins.fastmcp_parts.context import Context
from mcpc_runtime.systems.fastmcp.standins.fastmcp_parts.server_content import ServerContent

log = logging.getLogger(__name__)
SERVED = frozenset(
    {
        *("host", "port", "log_level", "debug", "sse_path", "message_path", "streamable_http_path"),
        *("json_response", "stateless_http", "dependencies", "cache_expiration_seconds", "event_store"),
        *("retry_interval", "list_page_size", "request_state_security", "cache_ttl", "cache_scope"),
        *("session_state_store", "client_log_level", "experimental_capabilities", "resource_prefix_format"),
        *("include_fastmcp_meta", "strict_input_validation", "tasks", "sampling_handler"),
        *("sampling_handler_behavior",),
    }
)
"""Options that only say how a server is served, or what the built server does in its own way."""
NOTHING: tuple[object, ...] = (None, [], (), {})
LACKING: dict[str, tuple[object, ...]] = {
    "tool_transformations": NOTHING,
    "providers": NOTHING,
    "transforms": NOTHING,
    "tool_serializer": NOTHING,
    "dereference_schemas": (None, True),
}
"""Options that the adapter does not have, with the values that mean nothing to it."""
SETTINGS = {"host": "127.0.0.1", "port": 8000, "log_level": "INFO", "debug": False, "stateless_http": False}
"""The attributes of `settings`, with their values where the project gives none."""
QUIET = frozenset({"dependencies", "debug", "log_level", "include_fastmcp_meta"})
"""Those of them that are not worth a note."""


class FastMCP(ServerContent):
    """A server."""

    __class_getitem__: object = classmethod(GenericAlias)
    context_class = Context

    def __init__(  # noqa: PLR0913 - FastMCP's options
        self,
        name: str | None = None,
        instructions: str | None = None,
        *,
        version: object = None,
        website_url: str | None = None,
        icons: list[object] | None = None,
        lifespan: Function | None = None,
        **options: Any,
    ) -> None:
        told = {"name": name or "FastMCP", "version": "" if version is None else str(version), "icons": icons}
        self.mcpc_start(
            {**told, "instructions": instructions, "websiteUrl": website_url}, lifespan, policies_of(options)
        )
        current_program.note_server(self)
        self.middleware: list[Function] = list(options.pop("middleware", None) or ())
        self.mcpc_masked = options.pop("mask_error_details", None)
        self.mcpc_path_policy = options.pop("resource_security", self.mcpc_path_policy)
        for name, ours in LACKING.items():
            if options.pop(name, None) not in ours:
                raise UnsupportedFeatureError(f"fastmcp.FastMCP({name}=…)")
        self.mcpc_rules += tag_rules(options.pop("include_tags", None), options.pop("exclude_tags", None))
        for tool in options.pop("tools", None) or ():
            self.add_tool(tool)
        given = {name: value for name, value in options.items() if name in SETTINGS and value is not None}
        self.settings = SimpleNamespace(**SETTINGS | given)
        note_options(options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    # What the protocol's handlers do

    async def mcpc_list(self, method: str, cursor: str | None, call: Call) -> Object:
        with self.mcpc_entered(call, method):
            return await running.list_reply(self, method, cursor)

    async def mcpc_call_tool(self, name: str, arguments: Object, call: Call) -> Object:
        with self.mcpc_entered(call, "tools/call"):
            return await running.tool_reply(self, name, arguments)

    async def mcpc_get_prompt(self, name: str, arguments: Object, call: Call) -> Object:
        with self.mcpc_entered(call, "prompts/get"):
            return await running.prompt_reply(self, name, arguments)

    async def mcpc_read_resource(self, uri: str, call: Call) -> Object:
        with self.mcpc_entered(call, "resources/read"):
            return await running.resource_reply(self, uri)

    async def mcpc_complete(self, ref: Object, argument: Object, context: Object, call: Call) -> Object:
        """Complete nothing: a server that completes arguments runs with the framework itself."""
        return {"values": []}

    async def mcpc_run_tool(self, name: str, arguments: Object) -> object:
        """Run a tool, of this server or of a mounted one; return its ToolResult."""
        return await running.call_tool(self, name, arguments)

    async def mcpc_run_prompt(self, name: str, arguments: Object | None) -> object:
        """Run a prompt; return its PromptResult."""
        return await running.render_prompt(self, name, arguments)

    async def mcpc_run_resource(self, uri: str) -> object:
        """Read a resource; return its ResourceResult."""
        return await running.read_resource(self, uri)

    async def mcpc_tool_result(self, name: str, arguments: Object) -> Any:
        """Call a tool as FastMCP's own handler does."""
        return results_of(await self.call_tool(name, arguments))

    async def mcpc_prompt_result(self, name: str, arguments: Object | None) -> Any:
        """Get a prompt as FastMCP's own handler does."""
        return await self.render_prompt(name, arguments)

    async def mcpc_resource_result(self, uri: str) -> Any:
        """Read a resource as FastMCP's own handler does."""
        return await self.read_resource(uri)

    # Calls

    async def call_tool(
        self, name: str, arguments: Object | None = None, *, run_middleware: bool = True, **_: object
    ) -> object:
        with self.mcpc_entered():
            given = arguments or {}
            if not run_middleware or not self.middleware:
                return await self.mcpc_run_tool(name, given)

            async def last(context: Any) -> object:
                return await self.mcpc_run_tool(context.message.name, context.message.arguments or {})

            message = typed("CallToolRequestParams", {"name": name, "arguments": given})
            return await self.mcpc_chain("tools/call", message, last)

    async def read_resource(self, uri: object, *, run_middleware: bool = True, **_: object) -> object:
        with self.mcpc_entered():
            if not run_middleware or not self.middleware:
                return await self.mcpc_run_resource(str(uri))

            async def last(context: Any) -> object:
                return await self.mcpc_run_resource(str(context.message.uri))

            message = typed("ReadResourceRequestParams", {"uri": str(uri)})
            return await self.mcpc_chain("resources/read", message, last)

    async def render_prompt(
        self, name: str, arguments: Object | None = None, *, run_middleware: bool = True, **_: object
    ) -> object:
        with self.mcpc_entered():
            texts = all(isinstance(each, str) for each in (arguments or {}).values())
            # The type of the message refuses arguments that are not texts, also where there is no middleware.
            if not run_middleware or (not self.middleware and texts):
                return await self.mcpc_run_prompt(name, arguments)

            async def last(context: Any) -> object:
                return await self.mcpc_run_prompt(context.message.name, context.message.arguments)

            message = typed("GetPromptRequestParams", {"name": name, "arguments": arguments})
            return await self.mcpc_chain("prompts/get", message, last)

    async def mcpc_chain(self, method: str, message: object, last: Any) -> object:
        """Run the middleware around a function."""
        context = mounts.MiddlewareContext(message=message, method=method, fastmcp_context=current_context())
        return await mounts.run_chain(self.middleware, context, last)

    # Components

    def add_middleware(self, middleware: Function) -> None:
        """Let middleware run around calls and lists."""
        self.middleware.append(middleware)

    def completion(self, handler: object = None) -> object:
        """Say that the adapter completes no arguments."""
        lack("fastmcp.FastMCP.completion")
        return handler or self.completion

    add_completion_handler = completion

    def enable(self, **rule: object) -> FastMCP:
        self.mcpc_rules += visibility_rules(True, rule)
        current_program.note_change()
        return self

    def disable(self, **rule: object) -> FastMCP:
        self.mcpc_rules += visibility_rules(False, rule)
        current_program.note_change()
        return self

    # Other servers

    def mount(self, server: Any, prefix: Any = None, *_: object, namespace: str | None = None, **options: Any) -> None:
        """Mount a server: its components become this one's, under a prefix."""
        # Both orders are taken: in earlier versions of FastMCP the prefix comes first.
        if isinstance(server, str) or server is None:
            server, prefix = prefix, server
        if server is self:
            raise ValueError("Cannot mount a server onto itself")
        if not isinstance(server, FastMCP):
            raise UnsupportedFeatureError(f"fastmcp.FastMCP.mount({type(server).__name__})")
        if self.mcpc_masked and not server.mcpc_masked:
            log.warning("%r masks details of errors, and %r, which it mounts, does not", self.name, server.name)
        if options.get("tool_names"):
            raise UnsupportedFeatureError("fastmcp.FastMCP.mount(tool_names=…)")
        self.mcpc_mounts.append(Mount(server, namespace or prefix or ""))
        current_program.note_change()

    async def import_server(self, server: Any, prefix: Any = None, **_: object) -> None:
        """Add the components that a server has now."""
        if isinstance(server, str):
            server, prefix = prefix, server
        mount = Mount(server, prefix or "")
        for kind in listing.KINDS:
            for each in await mount.every(kind):
                self.mcpc_add(each)

    # Serving

    def mcpc_serves_with(self, options: Object) -> None:
        """Keep what a program says of its web application when it serves."""
        self.mcpc_asgi_middleware = options.get("middleware")
        note_middleware(self.mcpc_asgi_middleware or ())

    def run(self, transport: str | None = None, *_: object, **options: object) -> None:
        """Serve until the process ends."""
        self.mcpc_serves_with(options)
        current_program.serve(self)

    async def run_async(self, transport: str | None = None, *_: object, **options: object) -> None:
        """Serve until the process ends."""
        self.mcpc_serves_with(options)
        await current_program.serve_async(self)

    async def run_stdio_async(self, *_: object, **__: object) -> None:
        """Serve until the process ends."""
        await current_program.serve_async(self)

    async def run_http_async(self, *_: object, **options: object) -> None:
        """Serve until the process ends."""
        self.mcpc_serves_with(options)
        await current_program.serve_async(self)

    run_sse_async = run_streamable_http_async = run_http_async

    def http_app(
        self, path: str | None = None, middleware: Sequence[object] | None = None, **_: object
    ) -> ServedApplication:
        """Return an application that tells which server it serves, with middleware around the program's own routes."""
        return ServedApplication(self, middleware)

    sse_app = streamable_http_app = http_app


def tag_rules(included: object, excluded: object) -> list[Visibility]:
    shown = [] if included is None else visibility_rules(True, {"tags": included, "only": True})
    return [*shown, *([] if excluded is None else visibility_rules(False, {"tags": excluded}))]


def policies_of(options: Object) -> dict[str, str | None]:
    found = {"all": options.pop("on_duplicate", None)}
    for kind in ("tools", "prompts", "resources"):
        found[kind] = options.pop(f"on_duplicate_{kind}", None)
        if options.pop(f"warn_on_duplicate_{kind}", None) is False:
            found[kind] = "replace"
    return found


def note_options(options: Object) -> None:
    """Note the options that mean nothing, or something else, in a built server."""
    if options.pop("auth", None) is not None:
        note("`auth` has no effect in a built server; `serve --token-file` or `--issuer` say who may call it")
    for name, value in options.items():
        if value is not None and name not in QUIET:
            said = "is decided by the built server" if name in SERVED else "is not known to a built server"
            note(f"`FastMCP({name}=…)` {said}")


def results_of(result: object) -> object:
    if isinstance(result, results.ToolResult):
        return result
    if isinstance(result, tuple) and len(result) == 2:
        return results.ToolResult(content=result[0], structured_content=result[1])
    if isinstance(result, list):
        return results.ToolResult(content=result)
    return results.WholeResult(wire(result))
