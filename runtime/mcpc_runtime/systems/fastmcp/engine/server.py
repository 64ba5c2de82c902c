"""The interface of every server object of the stand-ins: what the build and the worker use of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from mcpc_runtime.systems.fastmcp.engine.errors import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine.calls import Call
    from mcpc_runtime.systems.fastmcp.engine.notes import Note

    Object = dict[str, Any]
    Route = tuple[str, list[str], Callable[..., Any]]


LISTS = {
    "tools/list": ("tools", "tools"),
    "prompts/list": ("prompts", "prompts"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("templates", "resourceTemplates"),
}
"""By method: the attribute of `Lists`, and the member of the protocol's result."""
UNKNOWN_CURSOR = -32602, "Invalid params: unknown cursor"


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An entry of a list, as clients get it, and the function that it is about, if it has one."""

    entry: Object
    function: Callable[..., Any] | None = None


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


class BaseServer(ABC):
    """A server of a project.  `mcpc_arguments`: what checks the arguments of its tools, `handler` or their `schema`."""

    mcpc_arguments: str = "handler"

    @abstractmethod
    def mcpc_information(self) -> Object:
        """Return `name`, `version` (which may be empty), and the rest of its description."""

    @abstractmethod
    async def mcpc_lists(self) -> Lists:
        """Return what the server offers."""

    @abstractmethod
    def mcpc_lifespan(self) -> AbstractAsyncContextManager[Any]:
        """Return what is entered before the first call, and left at the end; that of mounted servers is in it."""

    @abstractmethod
    async def mcpc_call_tool(self, name: str, arguments: Object, call: Call) -> Object:
        """Call a tool; return the protocol's CallToolResult."""

    @abstractmethod
    async def mcpc_get_prompt(self, name: str, arguments: Object, call: Call) -> Object:
        """Return the protocol's GetPromptResult."""

    @abstractmethod
    async def mcpc_read_resource(self, uri: str, call: Call) -> Object:
        """Return the protocol's ReadResourceResult."""

    @abstractmethod
    async def mcpc_complete(self, ref: Object, argument: Object, context: Object, call: Call) -> Object:
        """Return `values`, and perhaps `total` and `hasMore`."""

    async def mcpc_list(self, method: str, cursor: str | None, call: Call) -> Object:
        """Return the protocol's result of a list that is made at run time."""
        if cursor is not None:
            raise ProtocolError(*UNKNOWN_CURSOR)
        entries = getattr(await self.mcpc_lists(), LISTS[method][0])
        return {LISTS[method][1]: [each.entry for each in entries]}

    @abstractmethod
    def mcpc_routes(self) -> list[Route]:
        """Return the server's own HTTP routes: path, methods, function."""

    def mcpc_parts(self) -> list[BaseServer]:
        """Return the servers that are mounted in this one."""
        return []
