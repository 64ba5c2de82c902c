"""What a server gives of its components: lists and single ones, through middleware; the methods that register them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import listing
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.context import BaseContext, current_context, entered
from mcpc_runtime.systems.fastmcp.engine.mounts import Mount, Visibility, visibility_rules
from mcpc_runtime.systems.fastmcp.engine.registration import DECORATED, Registration
from mcpc_runtime.systems.fastmcp.engine.server import NotFoundError, lack, note
from mcpc_runtime.systems.fastmcp.engine.uris import ResourceSecurity
from mcpc_runtime.systems.fastmcp.interfaces import Call, Function, Lists, Object, ProgramServer, Route
from mcpc_runtime.systems.fastmcp.standins.fastmcp_parts.components import CLASSES, OWN, plain_options
from mcpc_runtime.systems.fastmcp.standins.fastmcp_parts.context import session_rules


class Registering(Registration):
    """What registers components."""

    classes = CLASSES

    def mcpc_decorate(self, kind: str, given: object, name: str | None, options: Object) -> object:
        """Be a decorator; from FastMCP 3 on, mark a function for which it was given options."""
        if callable(given) and (name or options) and not behaviour().decorators_return_components:
            with suppress(AttributeError):  # a built-in function, for example
                setattr(getattr(given, "__func__", given), DECORATED, True)
        return super().mcpc_decorate(kind, given, name, options)

    def mcpc_make(self, kind: str, function: object, name: str | None, options: Object) -> Any:
        return super().mcpc_make(kind, function, name, plain_options(options))

    def mcpc_add(self, component: Component) -> object:
        """Register a component; from FastMCP 3 on one that is not enabled is hidden by a rule."""
        if behaviour().versioned and not component.enabled:
            component.enabled = True
            self.mcpc_hide(component.key)
        return super().mcpc_add(component)

    @abstractmethod
    def mcpc_hide(self, key: str) -> None:
        """Hide a component."""


GETTING = {
    "tool": "get_tool",
    "prompt": "get_prompt",
    "resource": "get_resource",
    "template": "get_resource_template",
}
"""The method for a single component of each kind."""


class ServerContent(Registering):
    """A server with components and mounted servers."""

    def __init_subclass__(cls) -> None:
        for name in filter(PRIVATE.fullmatch, vars(cls)):
            if cls.__module__.partition(".")[0] != OWN:
                lack(f"fastmcp.FastMCP.{name}")

    middleware: list[Function]
    context_class: type[BaseContext] = BaseContext
    mcpc_arguments: str = "handler"
    mcpc_application: object = None

    def mcpc_start(
        self,
        information: Object,
        lifespan: Function | None = None,
        policies: dict[str, str | None] | None = None,
    ) -> None:
        """Set up the server: its description, its lifespan, what happens to duplicates."""
        self.mcpc_register(policies)
        self.mcpc_given = information
        self.mcpc_given_lifespan = lifespan
        self.mcpc_lifespan_result: object = None
        self.mcpc_is_entered = False
        self.mcpc_mounts: list[Mount] = []
        self.mcpc_rules: list[Visibility] = []
        self.mcpc_masked: bool | None = None
        self.mcpc_path_policy: ResourceSecurity | None = ResourceSecurity()
        self.mcpc_changed_at_run_time: set[str] = set()
        self.mcpc_asgi_middleware: Sequence[object] | None = None

    @property
    def name(self) -> str:
        return str(self.mcpc_given.get("name", ""))

    @property
    def instructions(self) -> str | None:
        return self.mcpc_given.get("instructions")

    @instructions.setter
    def instructions(self, text: str | None) -> None:
        self.mcpc_given["instructions"] = text

    @property
    def version(self) -> str | None:
        return self.mcpc_given.get("version")

    @property
    def website_url(self) -> str | None:
        return self.mcpc_given.get("websiteUrl")

    @property
    def icons(self) -> list[object]:
        return self.mcpc_given.get("icons") or []

    def mcpc_information(self) -> Object:
        given = {**self.mcpc_given, "name": self.name, "version": self.mcpc_given.get("version") or ""}
        return {key: wire(value) for key, value in given.items() if value or key in ("name", "version")}

    async def mcpc_lists(self, call: Call | None = None) -> Lists:
        """Return what the server offers, to the session of a call if there is one."""
        with self.mcpc_entered(call):
            return await listing.lists_of(self)

    def mcpc_shows(self, component: Component) -> bool:
        return component.enabled and component.shown is not False

    @asynccontextmanager
    async def mcpc_lifespan(self) -> AsyncIterator[object]:
        if self.mcpc_is_entered:  # by another session with the server
            yield self.mcpc_lifespan_result
            return
        async with AsyncExitStack() as stack:
            self.mcpc_is_entered = True
            # The first to be registered is the last to run: until then the server is entered.
            stack.callback(setattr, self, "mcpc_is_entered", False)
            if self.mcpc_given_lifespan is not None:
                self.mcpc_lifespan_result = await stack.enter_async_context(self.mcpc_given_lifespan(self))
            for mount in self.mcpc_mounts:
                await stack.enter_async_context(mount.server.mcpc_lifespan())
            yield self.mcpc_lifespan_result

    def mcpc_parts(self) -> list[ProgramServer]:
        return [mount.server for mount in self.mcpc_mounts]

    def mcpc_routes(self) -> list[Route]:
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

    async def mcpc_listed(self, kind: str) -> list[Any]:
        """List components as FastMCP's own handler does: through middleware."""
        return await listed(self, kind)

    async def list_tools(self, *, run_middleware: bool = True, **_: object) -> list[Any]:
        return await public(self, "tool", run_middleware)

    async def list_prompts(self, *, run_middleware: bool = True, **_: object) -> list[Any]:
        return await public(self, "prompt", run_middleware)

    async def list_resources(self, *, run_middleware: bool = True, **_: object) -> list[Any]:
        return await public(self, "resource", run_middleware)

    async def list_resource_templates(self, *, run_middleware: bool = True, **_: object) -> list[Any]:
        return await public(self, "template", run_middleware)

    async def get_tools(self, **_: object) -> Object:
        """Return the tools by their names, those included that clients do not see."""
        return {each.name: each for each in await listing.every(self, "tool")}

    async def get_prompts(self, **_: object) -> Object:
        return {each.name: each for each in await listing.every(self, "prompt")}

    async def get_resources(self, **_: object) -> Object:
        return {each.identifier: each for each in await listing.every(self, "resource")}

    async def get_resource_templates(self, **_: object) -> Object:
        return {each.identifier: each for each in await listing.every(self, "template")}

    async def get_tool(self, name: str) -> object:
        """Return a tool by its name; where there is none, None or NotFoundError."""
        return await self._single("tool", name, f"Unknown tool: {name}")

    async def get_prompt(self, name: str) -> object:
        return await self._single("prompt", name, f"Unknown prompt: {name}")

    async def get_resource(self, uri: object) -> object:
        return await self._single("resource", str(uri), f"Unknown resource: {uri}")

    async def get_resource_template(self, uri: object) -> object:
        """Return the template of an address; in FastMCP 2 by its own text."""
        return await self._single("template", str(uri), f"Unknown resource template: {uri}")

    async def _single(self, kind: str, key: str, problem: str) -> object:
        with self.mcpc_entered():
            if behaviour().gives_none:
                return await listing.find(self, kind, key)
            found = {each.identifier: each for each in await listing.every(self, kind)}
        if key not in found:
            raise NotFoundError(problem)
        return found[key]

    async def mcpc_get(self, kind: str, key: str) -> Any:
        """Return a component that clients see, or None: by the method that a project may have overridden."""
        if not behaviour().gives_none:
            return await listing.find(self, kind, key)
        return await getattr(self, GETTING[kind])(key)

    async def mcpc_session_rules(self) -> Sequence[Visibility]:
        """Return what the session of the current call shows and hides."""
        return session_rules(current_context())

    def mcpc_hide(self, key: str) -> None:
        """Hide a component, unless a rule shows it."""
        self.mcpc_rules[:0] = visibility_rules(False, {"keys": {key}})


METHODS = {
    "tool": ("tools/list", "list_tools", "tools"),
    "prompt": ("prompts/list", "list_prompts", "prompts"),
    "resource": ("resources/list", "list_resources", "resources"),
    "template": ("resources/templates/list", "list_resource_templates", "resources"),
}
"""By kind: the protocol's method, the server's, and the kind of list that may change."""
PRIVATE = re.compile(
    r"_(mcp_)?(list_(tools|prompts|resources|resource_templates)|call_tool|get_prompt|read_resource)(_mcp|_middleware)?"
)
"""The framework's own handlers of requests, which the adapter does not call."""


def is_overridden(owner: type, name: str) -> bool:
    """Tell whether a project's class defines a method of the server."""
    return not getattr(owner, name).__module__.startswith(__name__.rpartition(".")[0])


async def listed(server: ServerContent, kind: str) -> list[Any]:
    """Return the components of a kind as a handler lists them.

    What a project's own code cannot list without a client is listed without it, and is made at run time.
    """
    _, method, changing = METHODS[kind]
    try:
        return list(await getattr(server, method)())
    except Exception as problem:
        if has_client() or not (server.middleware or is_overridden(type(server), method)):
            raise
        server.mcpc_changed_at_run_time.add(changing)
        note(f"the list of {changing} cannot be made without a client: {type(problem).__name__}: {problem}")
        return await listing.visible(server, kind)


def has_client() -> bool:
    """Tell whether a list is made for a client, and not at build."""
    context = current_context()
    return context is not None and context._call is not None


async def public(server: Any, kind: str, run_middleware: bool) -> list[Any]:
    """Return the components of a kind, through middleware if there is any."""
    method = METHODS[kind][0]
    with server.mcpc_entered():

        async def last(_: object = None) -> list[Any]:
            return await visible_components(server, kind)

        if not run_middleware or not server.middleware:
            return await last()
        return list(await server.mcpc_chain(method, Request(method), last))


async def visible_components(server: ServerContent, kind: str) -> list[Any]:
    """Return the components of a kind that clients see: each version of them, but for FastMCP 2."""
    found = await listing.visible(server, kind)
    return found if behaviour().gives_none else listing.deduplicated(found)


class Request:
    """A request for a list."""

    params = None

    def __init__(self, method: str) -> None:
        self.method = method
