"""Servers whose components are functions: the common part of FastMCP and of the SDK's servers with decorators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import listing, replies, running
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.context import BaseContext, current_context, entered
from mcpc_runtime.systems.fastmcp.engine.mounts import Mount, Visibility
from mcpc_runtime.systems.fastmcp.engine.registration import Registration
from mcpc_runtime.systems.fastmcp.engine.uris import ResourceSecurity
from mcpc_runtime.systems.fastmcp.engine.web import ServedApplication, note_middleware
from mcpc_runtime.systems.fastmcp.interfaces import Call, Component, Lists, Object, ProgramServer, Route
from mcpc_runtime.systems.fastmcp.program import current_program


class ComponentServer(Registration):
    """A server with components and mounted servers."""

    context_class: type[BaseContext] = BaseContext
    mcpc_arguments: str = "handler"
    mcpc_application: object = None

    def mcpc_start(
        self,
        information: Object,
        lifespan: Callable[[Any], Any] | None = None,
        policies: dict[str, str | None] | None = None,
        *,
        noted: bool = True,
    ) -> None:
        """Set up the server: its description, its lifespan, what happens to duplicates.

        `noted`: it is a server that a program may serve.
        """
        self.mcpc_register(policies)
        self.mcpc_given = information
        self.mcpc_given_lifespan = lifespan
        self.mcpc_lifespan_result: Any = None
        self.mcpc_is_entered = False
        self.mcpc_is_noted = noted
        self.mcpc_mounts: list[Mount] = []
        self.mcpc_rules: list[Visibility] = []
        self.mcpc_masked: bool | None = None
        self.mcpc_path_policy: ResourceSecurity | None = ResourceSecurity()
        self.mcpc_changed_at_run_time: set[str] = set()
        self.mcpc_asgi_middleware: Any = None
        if noted:
            current_program.note_server(self)

    @property
    def name(self) -> str:
        """The server's name."""
        return str(self.mcpc_given.get("name", ""))

    @property
    def instructions(self) -> str | None:
        """How the server is to be used."""
        return self.mcpc_given.get("instructions")

    @instructions.setter
    def instructions(self, text: str | None) -> None:
        self.mcpc_given["instructions"] = text

    @property
    def title(self) -> str | None:
        """The server's title."""
        return self.mcpc_given.get("title")

    @property
    def version(self) -> str | None:
        """The server's version."""
        return self.mcpc_given.get("version")

    @property
    def website_url(self) -> str | None:
        """The address of the server's website."""
        return self.mcpc_given.get("websiteUrl")

    @property
    def icons(self) -> list[Any]:
        """The server's icons."""
        return self.mcpc_given.get("icons") or []

    def mcpc_information(self) -> Object:
        """Return the server's description."""
        given = {**self.mcpc_given, "name": self.name, "version": self.mcpc_given.get("version") or ""}
        return {key: wire(value) for key, value in given.items() if value or key in ("name", "version")}

    async def mcpc_lists(self, call: Call | None = None) -> Lists:
        """Return what the server offers, to the session of a call if there is one."""
        with self.mcpc_entered(call):
            return await listing.lists_of(self)

    async def mcpc_visible(self, kind: str) -> list[Component]:
        """Return the components of a kind that clients see."""
        return await listing.visible(self, kind)

    async def mcpc_listed(self, kind: str) -> list[Any]:
        """Return the same as the framework's own handler does: through what a project may have overridden."""
        return await self.mcpc_visible(kind)

    async def mcpc_get(self, kind: str, key: str) -> Any:
        """Return a component that clients see, or None."""
        return await listing.find(self, kind, key)

    async def mcpc_session_rules(self) -> Sequence[Visibility]:
        """Return what the session of the current call shows and hides."""
        return ()

    def mcpc_shows(self, component: Component) -> bool:
        """Tell whether clients see a component."""
        return component.enabled and component.shown is not False

    @asynccontextmanager
    async def mcpc_lifespan(self) -> AsyncIterator[object]:
        """Enter the lifespans of the server and of the servers mounted in it."""
        if self.mcpc_is_entered:  # by another session with the server
            yield self.mcpc_lifespan_result
            return
        async with AsyncExitStack() as stack:
            self.mcpc_is_entered = True
            stack.callback(setattr, self, "mcpc_is_entered", False)
            if self.mcpc_given_lifespan is not None:
                self.mcpc_lifespan_result = await stack.enter_async_context(self.mcpc_given_lifespan(self))
            for mount in self.mcpc_mounts:
                await stack.enter_async_context(mount.server.mcpc_lifespan())
            yield self.mcpc_lifespan_result

    def mcpc_parts(self) -> list[ProgramServer]:
        """Return the servers that are mounted in this one; those in them, too, if no program may serve them."""
        servers = [mount.server for mount in self.mcpc_mounts]
        return [part for each in servers for part in ((each,) if each.mcpc_is_noted else (each, *each.mcpc_parts()))]

    def mcpc_routes(self) -> list[Route]:
        """Return the HTTP routes of the server and of the servers mounted in it."""
        return [*self.mcpc_own_routes, *(route for mount in self.mcpc_mounts for route in mount.server.mcpc_routes())]

    def mcpc_entered(self, call: Call | None = None, method: str = "") -> AbstractContextManager[BaseContext]:
        """Enter a context of this server: a new one for a call, else one in the current call."""
        present = current_context()
        if call is None and present is not None:
            same = present._server is self or not behaviour().inner_contexts
            return nullcontext(present) if same else entered(present.mcpc_inner(self))
        context = self.context_class(self, call)
        context._method = method
        return entered(context)

    async def mcpc_list(self, method: str, cursor: str | None, call: Call) -> Object:
        with self.mcpc_entered(call, method):
            return await replies.list_reply(self, method, cursor)

    async def mcpc_call_tool(self, name: str, arguments: Object, call: Call) -> Object:
        with self.mcpc_entered(call, "tools/call"):
            return await replies.tool_reply(self, name, arguments)

    async def mcpc_get_prompt(self, name: str, arguments: Object, call: Call) -> Object:
        """Return the messages of a prompt."""
        with self.mcpc_entered(call, "prompts/get"):
            return await replies.prompt_reply(self, name, arguments)

    async def mcpc_read_resource(self, uri: str, call: Call) -> Object:
        """Return the contents of a resource."""
        with self.mcpc_entered(call, "resources/read"):
            return await replies.resource_reply(self, uri)

    async def mcpc_complete(self, ref: Object, argument: Object, context: Object, call: Call) -> Object:
        with self.mcpc_entered(call, "completion/complete"):
            return await running.completion_answer(self, ref, argument, context)

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
        """Call a tool as the framework's own handler does: through what a project may have overridden."""
        return await self.mcpc_run_tool(name, arguments)

    async def mcpc_prompt_result(self, name: str, arguments: Object | None) -> Any:
        """Get a prompt as the framework's own handler does."""
        return await self.mcpc_run_prompt(name, arguments)

    async def mcpc_resource_result(self, uri: str) -> Any:
        """Read a resource as the framework's own handler does."""
        return await self.mcpc_run_resource(uri)

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

    def http_app(self, path: str | None = None, middleware: Any = None, **_: object) -> ServedApplication:
        """Return an application that tells which server it serves, with middleware around the program's own routes."""
        return ServedApplication(self, middleware)

    sse_app = streamable_http_app = http_app
