"""The joint of a project's program with the build and the worker: servers, components, calls, lists, and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

Object = dict[str, Any]
"""An object of JSON, or arguments by their names."""
Function = Callable[..., Any]
"""A function of the project."""
Decorator = Callable[[Function], Function]
Route = tuple[str, list[str], Function]
"""The path, the methods, and the function."""


class Call(Protocol):
    """A request of a client.

    `headers`, `http`: those of its HTTP request, and its `path`, `query` and `client`; empty over stdio.
    `principal`: `name`, `scopes` and `expires` of an authenticated client.
    """

    request_id: str
    session_id: str
    client_id: str | None
    protocol_version: str
    transport: str
    meta: Object
    client_capabilities: Object
    client_info: Object
    headers: dict[str, str]
    http: Object
    principal: Object | None

    async def log(self, level: str, data: object, logger: str | None = None) -> None:
        """Send a log message."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call."""

    async def elicit(self, message: str, schema: Object, url: str = "") -> Object:
        """Ask the user; return `{"action": …, "content": …}`."""

    async def sample(self, params: Object) -> Object:
        """Send messages to the client's model; return its result."""

    async def list_roots(self) -> list[Object]:
        """Return the client's roots."""

    async def resource_updated(self, uri: str) -> None:
        """Notify clients that a resource has new contents."""

    async def list_changed(self, kind: str) -> None:
        """Notify clients that a list has changed."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note, and the place in the project that it is about; `kind`: `duplicate` for what the framework warns of."""

    text: str
    file: str = ""
    line: int = 0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An entry of a list, as clients get it, and the function that it is about, if it has one."""

    entry: Object
    function: Function | None = None


@dataclass(frozen=True, slots=True)
class Lists:
    """What a server offers.

    `completions`: it completes arguments; `dynamic`: the kinds whose list may be another one at run time; `notes`:
    what was found while the lists were made.
    """

    tools: tuple[ListEntry, ...] = ()
    prompts: tuple[ListEntry, ...] = ()
    resources: tuple[ListEntry, ...] = ()
    templates: tuple[ListEntry, ...] = ()
    completions: bool = False
    dynamic: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


class ProgramServer(Protocol):
    """A server of a project, as the build and the worker use it.

    `mcpc_arguments`: what checks the arguments of its tools, `handler` or their `schema`; `mcpc_application`: what it
    has in place of a web application that the program serves.
    """

    mcpc_arguments: str
    mcpc_application: object

    def mcpc_information(self) -> Object:
        """Return `name`, `version` (which may be empty), and the rest of its description."""

    async def mcpc_lists(self) -> Lists:
        """Return what the server offers."""

    def mcpc_lifespan(self) -> AbstractAsyncContextManager[object]:
        """Return what is entered before the first call, and left at the end; that of mounted servers is in it."""

    async def mcpc_list(self, method: str, cursor: str | None, call: Call) -> Object:
        """Return the protocol's result of a list that is made at run time."""

    async def mcpc_call_tool(self, name: str, arguments: Object, call: Call) -> Object:
        """Call a tool; return the protocol's CallToolResult."""

    async def mcpc_get_prompt(self, name: str, arguments: Object, call: Call) -> Object:
        """Return the protocol's GetPromptResult."""

    async def mcpc_read_resource(self, uri: str, call: Call) -> Object:
        """Return the protocol's ReadResourceResult."""

    async def mcpc_complete(self, ref: Object, argument: Object, context: Object, call: Call) -> Object:
        """Return `values`, and perhaps `total` and `hasMore`."""

    def mcpc_routes(self) -> Sequence[Route]:
        """Return the server's own HTTP routes: path, methods, function."""

    def mcpc_parts(self) -> Sequence[ProgramServer]:
        """Return the servers that are mounted in this one."""
