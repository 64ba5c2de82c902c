"""What FastMCP of version 1 of the SDK and MCPServer of version 2 share: registration, lists, and how they run."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import listing
from mcpc_runtime.systems.fastmcp.engine.components import Component
from mcpc_runtime.systems.fastmcp.engine.server import LISTS, UNKNOWN_CURSOR, ProtocolError, note
from mcpc_runtime.systems.fastmcp.engine.web import ServedApplication
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import (
    Call,
    Decorator,
    Function,
    ListEntry,
    Lists,
    Object,
    ProgramServer,
    Route,
)
from mcpc_runtime.systems.fastmcp.program import current_program
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import types
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.low_level import LowLevelServer
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.low_level import lifespan as no_lifespan
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.requests import ReadResourceContents
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.resources import (
    FunctionResource,
    Resource,
    ResourceManager,
    check_parameters,
    variables,
)
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.tools import Prompt, PromptManager, ToolManager

TRANSPORTS = ("stdio", "sse", "streamable-http")
FIRST_WITH_DESCRIPTIONS = (1, 11)
"""The first version of the SDK whose prompts' results have the description."""
NOTED = {
    "auth": "the built server's own options protect it",
    "auth_server_provider": "the built server's own options protect it",
    "token_verifier": "the built server's own options protect it",
    "event_store": "the built server keeps its streams itself",
    "middleware": "it sees calls of tools, prompts and resources only",
    "subscriptions": "the built server keeps subscriptions itself",
}
"""Options that mean little in a built server, and why."""


LIST_METHODS = {
    "tools/list": "list_tools",
    "prompts/list": "list_prompts",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
}
"""The method of the server for each list."""
METHODS = {function: method for method, function in LIST_METHODS.items()}
"""The method of the protocol for each list of the server."""


def of_inner(name: str) -> property:
    """Return an attribute that is the low-level server's."""
    return property(lambda server: getattr(server.inner, name))


class HighLevelServer(ABC):
    """A server of decorated functions, around a low-level server."""

    mcpc_arguments: str = "handler"
    mcpc_application: object = None

    def __init__(self, inner: LowLevelServer, settings: Object, options: Object) -> None:
        self.settings: Any = SimpleNamespace(**settings)
        self.inner = inner
        self.mcpc_information = inner.mcpc_information
        self.mcpc_lifespan = inner.mcpc_lifespan
        self.mcpc_call_tool = inner.mcpc_call_tool
        self.mcpc_get_prompt = inner.mcpc_get_prompt
        self.mcpc_read_resource = inner.mcpc_read_resource
        self.mcpc_complete = inner.mcpc_complete
        self.dependencies = settings["dependencies"]
        self._tool_manager = ToolManager(settings["warn_on_duplicate_tools"], tools=options.get("tools"))
        self._resource_manager = ResourceManager(
            settings["warn_on_duplicate_resources"], resources=options.get("resources")
        )
        self._prompt_manager = PromptManager(settings["warn_on_duplicate_prompts"])
        self._custom_starlette_routes: list[tuple[str, list[str], Function]] = []
        # Compared later with the handlers of that time: a project may put its own in their place.
        self._own = {kind: self._handler(method) for kind, method in METHODS.items()}
        for option in NOTED:
            if options.get(option):
                note(f"`{option}` of the server: {NOTED[option]}")
        logging.basicConfig(format="%(message)s", level=str(settings["log_level"]).upper())
        current_program.note_server(self)

    name = of_inner("name")
    instructions = of_inner("instructions")
    website_url = of_inner("website_url")
    icons = of_inner("icons")

    session_manager = of_inner("session_manager")

    def add_tool(self, fn: Function, *given: object, **options: object) -> None:
        self._tool_manager.add_tool(fn, *given, **options)

    def remove_tool(self, name: str) -> None:
        self._tool_manager.remove_tool(name)

    def tool(
        self, name: str | None = None, title: str | None = None, description: str | None = None, **options: Any
    ) -> Decorator:
        refuse_function(name, "tool", "()")

        def decorate(function: Function) -> Function:
            self.add_tool(function, name=name, title=title, description=description, **options)
            return function

        return decorate

    def add_prompt(self, prompt: Prompt) -> None:
        self._prompt_manager.add_prompt(prompt)

    def prompt(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[object] | None = None,
    ) -> Decorator:
        refuse_function(name, "prompt", "()")

        def decorate(function: Function) -> Function:
            self.add_prompt(Prompt.from_function(function, name, title, description, icons))
            return function

        return decorate

    def add_resource(self, resource: Resource) -> None:
        self._resource_manager.add_resource(resource)

    def resource(self, uri: str, **options: Any) -> Decorator:
        """Register functions as resources, or as templates if the address has variables."""
        refuse_function(uri, "resource", "('uri')")

        def decorate(function: Function) -> Function:
            if check_parameters(uri, set(variables(uri)), function):
                self._resource_manager.add_template(function, uri, **options)
            else:
                # It is about the values of variables, and only templates have some.
                options.pop("security", None)
                self.add_resource(FunctionResource.from_function(function, uri, **options))
            return function

        return decorate

    def custom_route(self, path: str, methods: list[str], *_: object, **__: object) -> Decorator:

        def decorate(function: Function) -> Function:
            self._custom_starlette_routes.append((path, methods, function))
            return function

        return decorate

    def _entries(self, kind: str) -> list[tuple[Object, Function | None]]:
        table: dict[str, Callable[[], Sequence[Component]]] = {
            "list_tools": self._tool_manager.list_tools,
            "list_prompts": self._prompt_manager.list_prompts,
            "list_resources": self._resource_manager.list_resources,
            "list_resource_templates": self._resource_manager.list_templates,
        }
        return [(listing.entry_of(each), each.function) for each in table[kind]()]

    def _models(self, kind: str, model: str) -> list[object]:
        return [getattr(types, model).model_validate(entry) for entry, _ in self._entries(kind)]

    async def list_tools(self) -> list[object]:
        return self._models("list_tools", "Tool")

    async def list_prompts(self) -> list[object]:
        return self._models("list_prompts", "Prompt")

    async def list_resources(self) -> list[object]:
        return self._models("list_resources", "Resource")

    async def list_resource_templates(self) -> list[object]:
        return self._models("list_resource_templates", "ResourceTemplate")

    async def _contents(self, resource: Resource) -> list[ReadResourceContents]:
        content = await resource.read()
        return [ReadResourceContents(content=content, mime_type=resource.mime_type, meta=resource.meta)]

    async def _prompt(self, name: str, arguments: Object | None, context: object) -> object:
        prompt = self._prompt_manager.get_prompt(name)
        if prompt is None:
            raise ValueError(f"Unknown prompt: {name}")
        messages = await prompt.render(arguments, context)
        described = selected().family != "sdk" or selected().at_least(*FIRST_WITH_DESCRIPTIONS)
        return types.GetPromptResult(
            description=prompt.description if described else None,
            messages=[message.model_dump() for message in messages],
        )

    def run(self, transport: str = "stdio", *_: object, **__: object) -> None:
        """Serve the server; the built file decides about the transport."""
        if transport not in TRANSPORTS:
            raise ValueError(f"Unknown transport: {transport}")
        current_program.serve(self)

    async def run_stdio_async(self, *_: object, **__: object) -> None:
        await current_program.serve_async(self)

    run_sse_async = run_streamable_http_async = run_stdio_async

    def sse_app(self, *_: object, **__: object) -> ServedApplication:
        return ServedApplication(self)

    streamable_http_app = sse_app

    @abstractmethod
    def _handler(self, method: str) -> object:
        """Return the handler of a list in the low-level server."""

    def _lists_itself(self, kind: str) -> bool:
        """Tell whether the server makes a list itself: the project has not replaced what does."""
        own = getattr(type(self), kind) is getattr(HighLevelServer, kind)
        return own and self._handler(METHODS[kind]) is self._own[kind]

    async def mcpc_lists(self) -> Lists:
        asked = await self.inner.mcpc_lists() if not all(map(self._lists_itself, LIST_METHODS.values())) else Lists()
        found: Object = {
            field: tuple(ListEntry(*each) for each in self._entries(kind))
            if self._lists_itself(kind)
            else getattr(asked, field)
            for field, kind in ((field, LIST_METHODS[method]) for method, (field, _) in LISTS.items())
        }
        return Lists(**found, completions=self.inner.handles("completion/complete"))

    async def mcpc_list(self, method: str, cursor: str | None, call: Call) -> Object:
        """Return a list: the server's own, or what the project has put in its place."""
        kind = LIST_METHODS[method]
        if not self._lists_itself(kind) or bool(getattr(self.inner, "middleware", ())):  # the project's, around lists
            return await self.inner.mcpc_list(method, cursor, call)
        if cursor is not None:
            raise ProtocolError(*UNKNOWN_CURSOR)
        return {LISTS[method][1]: [entry for entry, _ in self._entries(kind)]}

    def mcpc_routes(self) -> list[Route]:
        return self._custom_starlette_routes

    def mcpc_parts(self) -> list[ProgramServer]:
        return [self.inner]


def refuse_function(given: object, name: str, how: str) -> None:
    """Raise TypeError if a decorator was given the function that it should have decorated."""
    if callable(given):
        raise TypeError(
            f"The @{name} decorator was used incorrectly. "
            f"Did you forget to call it? Use @{name}{how} instead of @{name}"
        )


def wrapped_lifespan(server: object, lifespan: Function | None) -> Function:
    """Return the lifespan of the inner server: that of the project, which is given the outer one."""
    if lifespan is None:
        return no_lifespan
    return lambda _: lifespan(server)
