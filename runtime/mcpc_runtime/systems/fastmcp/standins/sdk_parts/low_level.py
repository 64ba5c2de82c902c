"""What low-level servers of both versions of the SDK share: handlers of requests by their methods, and transports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.server import LISTS, ProtocolError, note
from mcpc_runtime.systems.fastmcp.interfaces import Call, ListEntry, Lists, Object, ProgramServer, Route
from mcpc_runtime.systems.fastmcp.program import NotStartedError, current_program
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import types
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.requests import InitializationOptions, NoCall, NotificationOptions

PAGES = 1000
"""How many pages of a list are read at most."""
ENVELOPE = ("cacheScope", "resultType", "ttlMs")
"""What the built server itself adds to results."""
COMPLETE = "complete"
"""The type of a result that needs no further round."""
CAPABILITIES = {
    "prompts": ("prompts/list", "PromptsCapability", {"listChanged": "prompts_changed"}),
    "resources": ("resources/list", "ResourcesCapability", {"listChanged": "resources_changed"}),
    "tools": ("tools/list", "ToolsCapability", {"listChanged": "tools_changed"}),
    "logging": ("logging/setLevel", "LoggingCapability", {}),
    "completions": ("completion/complete", "CompletionsCapability", {}),
}
"""A server's capabilities: the method that each is for, its type, and its flags with those of the notifications."""


@asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[Object]:
    """Be the lifespan of a server that has none: an empty context."""
    yield {}


class LowLevelServer(ABC):
    """A server whose handlers take requests by their methods."""

    mcpc_arguments: str = "handler"
    mcpc_application: object = None

    def __init__(
        self, name: str, version: str | None, lifespan: Callable[[object], AbstractAsyncContextManager[object]]
    ) -> None:
        self.name = name
        self.version = version
        self.title: str | None = None
        self.instructions: str | None = None
        self.website_url: str | None = None
        self.icons: list[object] | None = None
        self.lifespan = lifespan
        self.lifespan_context: object = {}
        self._options: Any = None
        current_program.note_server(self)

    @cached_property
    def session_manager(self) -> StreamableHTTPSessionManager:
        """What would serve HTTP."""
        return StreamableHTTPSessionManager(self)

    @abstractmethod
    def handles(self, method: str) -> bool:
        """Tell whether there is a handler for a method."""

    def ordered(self, entry: Object) -> Object:
        """Return an entry of a list with its fields in the order of the wire."""
        return entry

    @abstractmethod
    async def respond(self, method: str, params: Object, call: Call) -> Object:
        """Return a handler's result; raise ProtocolError for an error."""

    def mcpc_information(self) -> Object:
        """Return the information about the server: the options that it was run with come first."""
        options = self._options or self
        told = {
            "name": getattr(options, "server_name", self.name),
            "version": getattr(options, "server_version", self.version) or "",
            "title": options.title,
            "instructions": options.instructions,
            "websiteUrl": options.website_url,
            "icons": wire(options.icons),
        }
        # The protocol requires a name and a version (`Implementation`); the others are optional.
        return {key: value for key, value in told.items() if value or key in ("name", "version")}

    async def mcpc_lists(self) -> Lists:
        """Ask the server's own handlers for its lists."""
        lists: Object = {}
        failed: list[str] = []
        for method, (kind, field) in LISTS.items():
            try:
                lists[kind] = await self._list(method, field)
            except ProtocolError as problem:
                # Resources and their templates are one capability.
                failed.append("resources" if kind == "templates" else kind)
                note(f"the list of {kind} cannot be made without a client: {problem}")
        return Lists(**lists, completions=self.handles("completion/complete"), dynamic=tuple(failed))

    async def _list(self, method: str, field: str) -> tuple[ListEntry, ...]:
        if not self.handles(method):
            return ()
        entries: list[ListEntry] = []
        params: Object = {}
        # A handler may return a cursor with every page.
        for _ in range(PAGES):
            result = await self.respond(method, params, NoCall())
            entries += [ListEntry(entry=self.ordered(entry), function=None) for entry in result[field]]
            if not result.get("nextCursor"):
                break
            params = {"cursor": result["nextCursor"]}
        return tuple(entries)

    async def mcpc_list(self, method: str, cursor: str | None, call: Call) -> Object:
        """Ask the server's own handler for a list, or a page of it."""
        result = await self.respond(method, with_meta({} if cursor is None else {"cursor": cursor}, call), call)
        _, field = LISTS[method]
        return {**result, field: [self.ordered(entry) for entry in result[field]]}

    @asynccontextmanager
    async def mcpc_lifespan(self) -> AsyncIterator[None]:
        """Enter the server's own lifespan."""
        async with self.lifespan(self) as context:
            self.lifespan_context = context
            yield

    async def mcpc_call_tool(self, name: str, arguments: Object, call: Call) -> Object:
        return await self.respond("tools/call", with_meta({"name": name, "arguments": arguments}, call), call)

    async def mcpc_get_prompt(self, name: str, arguments: Object | None, call: Call) -> Object:
        return await self.respond("prompts/get", with_meta({"name": name, "arguments": arguments}, call), call)

    async def mcpc_read_resource(self, uri: str, call: Call) -> Object:
        return await self.respond("resources/read", with_meta({"uri": uri}, call), call)

    async def mcpc_complete(self, ref: Object, argument: Object, context: Object, call: Call) -> Object:
        params: Object = {"ref": ref, "argument": argument, **({"context": context} if context else {})}
        result: Object = (await self.respond("completion/complete", with_meta(params, call), call))["completion"]
        return result

    def mcpc_routes(self) -> list[Route]:
        """Return no routes: a low-level server has none."""
        return []

    def mcpc_parts(self) -> list[ProgramServer]:
        """Return no servers: none are mounted in a low-level server."""
        return []

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, Object] | None = None,
        extensions: dict[str, Object] | None = None,
    ) -> InitializationOptions:
        """Return the information about the server for its clients."""
        return InitializationOptions(
            server_name=self.name,
            server_version=self.version or "",
            capabilities=self.get_capabilities(notification_options, experimental_capabilities),
            title=self.title,
            instructions=self.instructions,
            website_url=self.website_url,
            icons=self.icons,
        )

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, Object] | None = None,
        *_: object,
        **__: object,
    ) -> object:
        """Return the capabilities that the server's handlers give it."""
        options = notification_options or NotificationOptions()
        given = {"experimental": experimental_capabilities}
        for name, (method, type_name, flags) in CAPABILITIES.items():
            if self.handles(method):
                values = {flag: getattr(options, option) for flag, option in flags.items()}
                given[name] = getattr(types, type_name).model_validate(values)
        return types.ServerCapabilities.model_validate(given)

    async def run(self, *given: object, initialization_options: object = None, **_: object) -> None:
        """Serve the server; of what is given, only the options count, which follow two streams."""
        self._options = given[2] if len(given) > 2 else initialization_options
        await current_program.serve_async(self)


def with_meta(params: Object, call: Call) -> Object:
    """Add a call's `_meta` to the parameters of a request."""
    return {**params, "_meta": call.meta} if call.meta else params


def result_of(value: object) -> Object:
    """Return a handler's result in the protocol's form."""
    dumped: Object = wire(getattr(value, "root", value))
    # A question to the client is passed on whole.
    if dumped.get("resultType", COMPLETE) != COMPLETE:
        return dumped
    return {key: each for key, each in dumped.items() if key not in ENVELOPE}


def resource_contents(uri: object, data: str | bytes, mime_type: str | None, meta: object) -> object:
    """Return the contents of a resource: text or bytes."""
    more: Object = {"uri": uri} if meta is None else {"uri": uri, "_meta": meta}
    if isinstance(data, str):
        return types.TextResourceContents.model_validate({**more, "text": data, "mimeType": mime_type or "text/plain"})
    blob = {"blob": b64encode(data).decode(), "mimeType": mime_type or "application/octet-stream"}
    return types.BlobResourceContents.model_validate({**more, **blob})


class Stream:
    """An end of a transport; the built server reads and writes itself."""

    async def aclose(self) -> None:
        """Do nothing."""

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Do nothing."""


@asynccontextmanager
async def stdio_server(stdin: object = None, stdout: object = None) -> AsyncIterator[tuple[Stream, Stream]]:
    """Return the streams that `Server.run` is given."""
    yield Stream(), Stream()


class SseServerTransport:
    """Accepts what a project tells it."""

    def __init__(self, endpoint: str, *_: object, **__: object) -> None:
        self.endpoint = endpoint

    @asynccontextmanager
    async def connect_sse(self, scope: object, receive: object, send: object) -> AsyncIterator[tuple[Stream, Stream]]:
        """Return streams that stand for those of the built server."""
        yield Stream(), Stream()

    async def handle_post_message(self, scope: object, receive: object, send: object) -> None:
        """Refuse: no framework serves HTTP."""
        raise NotStartedError("requests are served by the built file")


StreamId = str
EventId = str
EventCallback = object
MCP_PROTOCOL_VERSION_HEADER = "mcp-protocol-version"
MCP_SESSION_ID_HEADER = "mcp-session-id"


@dataclass
class EventMessage:
    """A message of a stream."""

    message: object
    event_id: str | None = None


class EventStore:
    """Keeps the messages of streams; no message reaches it."""


DEFAULT_MAX_SESSIONS = 10_000
DEFAULT_SESSION_IDLE_TIMEOUT = 1800


class StreamableHTTPSessionManager:
    """Accepts what a project tells it; a built server keeps the sessions."""

    def __init__(self, app: object, *_: object, **__: object) -> None:
        self.app = app

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        yield

    async def handle_request(self, scope: object, receive: object, send: object) -> None:
        """Refuse: no framework serves HTTP."""
        raise NotStartedError("requests are served by the built file")
