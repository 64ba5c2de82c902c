"""What the build and the worker use of a server (`BaseServer`), what servers use of a request (`Call`), notes."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from base64 import urlsafe_b64decode
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import unwrap
from typing import Any, Protocol

from mcpc_runtime.systems.fastmcp.engine.errors import ProtocolError

Object = dict[str, Any]
Route = tuple[str, list[str], Callable[..., Any]]


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

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
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


current_call: ContextVar[Call | None] = ContextVar("current_call", default=None)
"""The request that is handled, None outside of one."""


PARTS = 3
"""The parts of a signed token (RFC 7519)."""


def token_fields(call: Call | None) -> dict[str, Any] | None:
    """Return the fields of an access token, None if the server asks for none.

    The claims are those of a signed token, whose signature the server has verified; other tokens have none.
    """
    if call is None or call.principal is None:
        return None
    token = call.headers.get("authorization", "").partition(" ")[2].strip()
    claims = claims_of(token)
    expires = call.principal["expires"]
    return {
        "token": token,
        "client_id": str(claims.get("client_id") or claims.get("azp") or claims.get("sub") or call.principal["name"]),
        "scopes": list(call.principal["scopes"] or ()),
        "expires_at": None if expires is None else int(expires),
        "claims": claims,
    }


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims in a signed token; none if it is of another kind."""
    parts = token.split(".")
    if len(parts) != PARTS:
        return {}
    try:
        found = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


OWN = __name__.partition(".")[0]
MOST = 1000
"""How many notes are kept: at run time nobody takes them."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note, and the place in the project that it is about; `kind`: `duplicate` for what the framework warns of."""

    text: str
    file: str = ""
    line: int = 0
    kind: str = ""


_notes: dict[Note, None] = {}


def note(text: str, function: Callable[..., Any] | None = None, kind: str = "") -> None:
    """Take a note about a function, or about the line of the project that is running; the same one only once."""
    if len(_notes) < MOST:
        _notes[Note(text, *(running_place() if function is None else place_of(function)), kind)] = None


def taken_notes() -> tuple[Note, ...]:
    """Return the notes taken so far, in their order."""
    return tuple(_notes)


notes = taken_notes


def place_of(function: Callable[..., Any]) -> tuple[str, int]:
    """Return the file and line of a function."""
    code = getattr(unwrap(getattr(function, "__func__", function)), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def running_place() -> tuple[str, int]:
    """Return the file and line of the innermost code that is not of the stand-ins, and not of Python's imports."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (OWN, "importlib"):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
