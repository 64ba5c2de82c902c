"""The client side of the protocol, as far as a server's lists need it: one request after the other.

A server of the stateless era answers `server/discover`; any other is greeted with `initialize`.  A server is not
trusted: time, bytes, pages and items are limited, and what is not of the protocol's form is an error.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mcpc import __version__
from mcpc.client.model import SnapshotError, lists_from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from mcpc.client.model import ServerLists

    Object = dict[str, Any]

STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"
CLIENT = {"name": "mcpc", "version": __version__}
SECONDS = 60.0
DISCOVER_SECONDS = 10.0
"""How long a server may take to answer `server/discover`: some servers do not answer what they do not know."""
MAX_BYTES = 64 << 20
MAX_ITEMS = 100_000
METHOD_NOT_FOUND = -32601
INITIALIZE = "initialize"
PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": STATELESS, f"{PREFIX}clientInfo": CLIENT}
CAPABILITIES = f"{PREFIX}clientCapabilities"
REQUESTS = {
    "tools": ("tools", "tools/list"),
    "prompts": ("prompts", "prompts/list"),
    "resources": ("resources", "resources/list"),
    "resourceTemplates": ("resources", "resources/templates/list"),
}
"""The lists of a server: the capability that promises each, and its method."""


class ConversationError(Exception):
    """A server did not start, or did not answer as the protocol demands; the message says what it did.

    `status`: that of an HTTP response that is the reason, else 0.
    """

    status = 0


class AnsweredError(ConversationError):
    """A server answered a request with an error."""

    def __init__(self, method: str, code: object, message: object) -> None:
        super().__init__(f"its answer to {method} is error {code}: {str(message)[:300]}")
        self.code = code
        self.text = str(message)


class Deadline:
    """The limits of one conversation: until when, and how many bytes are still read."""

    def __init__(self, seconds: float, size: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds = seconds
        self._until = clock() + seconds
        self._size = self._left = size
        self._whole: Deadline | None = None

    def seconds(self) -> float:
        """Return the time that is left; raise ConversationError if there is none."""
        left = self._until - self._clock()
        if left <= 0:
            raise ConversationError(f"it did not answer in {self._seconds:g} seconds")
        return left

    def count(self, size: int) -> None:
        """Count received bytes; raise ConversationError if there are too many."""
        self._left -= size
        if self._whole is not None:
            self._whole.count(size)
        if self._left < 0:
            raise ConversationError(f"it sent more than {self._size >> 20} MB")

    def limited(self, seconds: float, size: int = MAX_BYTES) -> Deadline:
        """Return the limits of a part of the conversation, whose bytes count here, too; raise ConversationError."""
        deadline = Deadline(min(seconds, self.seconds()), min(size, max(0, self._left)), self._clock)
        deadline._whole = self
        return deadline

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more can be read."""
        return self._left <= 0 or self._until <= self._clock()


def refusal(request: Object) -> Object:
    """Return the response to a request of the server by a client that supports none but `ping`."""
    answer: Object = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "ping":
        return {**answer, "result": {}}
    return {**answer, "error": {"code": METHOD_NOT_FOUND, "message": "not supported by this client"}}


class Transport(Protocol):
    """A connection to one server: requests and notifications, one at a time.

    `answer`: makes the response to a request of the server.
    """

    answer: Callable[[Object], Object]

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request, and return the response with its id; raise ConversationError."""

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Send a notification; raise ConversationError."""

    def use_revision(self, version: str) -> None:
        """Name the revision in all further requests."""


@dataclass(slots=True)
class ServerClient:
    """A conversation with one server.  `capabilities`: those that this client declares."""

    transport: Transport
    deadline: Deadline
    is_stateless: bool = False
    capabilities: Object = field(default_factory=dict)
    _number: int = 0

    def request(self, method: str, params: Object, deadline: Deadline | None = None) -> Object:
        """Return the result of a request; raise ConversationError."""
        self._number += 1
        if self.is_stateless:
            params = {**params, "_meta": {**META, CAPABILITIES: self.capabilities}}
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        answer = self.transport.request(message, deadline or self.deadline)
        error = answer.get("error")
        if error is not None:
            details = error if isinstance(error, dict) else {}
            raise AnsweredError(method, details.get("code"), details.get("message", error))
        result = answer.get("result")
        if not isinstance(result, dict):
            raise ConversationError(f"its answer to {method} has no result")
        return result

    def discover(self) -> Object:
        """Return what a server of the stateless era says about itself; raise ConversationError for others."""
        self.is_stateless = True
        self.transport.use_revision(STATELESS)
        result = self.request("server/discover", {}, self.deadline.limited(DISCOVER_SECONDS))
        if STATELESS not in (result.get("supportedVersions") or ()):
            raise ConversationError(f"it does not support revision {STATELESS}")
        meta = result.get("_meta")
        information = meta.get(f"{PREFIX}serverInfo") if isinstance(meta, dict) else None
        return {**result, "serverInfo": information or result.get("serverInfo")}

    def initialize(self) -> Object:
        """Return what a server of the handshake era says about itself; raise ConversationError."""
        self.is_stateless = False
        self.transport.use_revision("")
        params = {"protocolVersion": HANDSHAKE, "capabilities": self.capabilities, "clientInfo": CLIENT}
        result = self.request(INITIALIZE, params)
        version = result.get("protocolVersion")
        if not isinstance(version, str):
            raise ConversationError("its answer to initialize has no `protocolVersion`")
        # From here on the header `MCP-Protocol-Version` has the revision that the server chose.
        self.transport.use_revision(version)
        self.transport.notify({"jsonrpc": "2.0", "method": "notifications/initialized"}, self.deadline)
        return result

    def items(self, method: str, name: str) -> Iterator[Object]:
        """Yield the items of all pages of a list; raise ConversationError."""
        cursor, seen, count = None, set[str](), 0
        while True:
            result = self.request(method, {} if cursor is None else {"cursor": cursor})
            page = result.get(name)
            if not isinstance(page, list):
                raise ConversationError(f"its answer to {method} has no list `{name}`")
            count += len(page)
            if count > MAX_ITEMS:
                raise ConversationError(f"it has more than {MAX_ITEMS} {name}")
            yield from page
            cursor = result.get("nextCursor")
            # An empty text is a cursor like any other: it is opaque to clients.
            if cursor is None:
                return
            # A server that returns a cursor again would be asked without end.
            if not isinstance(cursor, str) or cursor in seen:
                raise ConversationError(f"its pages of {method} do not end")
            seen.add(cursor)


def read_server(connect: Callable[[], AbstractContextManager[Transport]], seconds: float = SECONDS) -> ServerLists:
    """Return what a running server offers; raise ConversationError."""
    with conversation(connect, seconds) as (client, about):
        return read_lists(client, about)


@contextmanager
def conversation(
    connect: Callable[[], AbstractContextManager[Transport]], seconds: float
) -> Iterator[tuple[ServerClient, Object]]:
    """Yield a conversation that has begun, and what the server says about itself; raise ConversationError.

    `connect`: a new connection.  A server that does not know `server/discover` gets `initialize` over a new one,
    because some servers end, or ignore everything that comes before.
    """
    deadline = Deadline(seconds)
    with connect() as transport:
        client = ServerClient(transport, deadline)
        about = discovered(client)
        if about is not None:
            yield client, about
            return
    with connect() as transport:
        client = ServerClient(transport, deadline)
        yield client, client.initialize()


def discovered(client: ServerClient) -> Object | None:
    """Return what a server says about itself; None if it needs a new connection for that."""
    try:
        return client.discover()
    except AnsweredError as problem:
        # Who says that has understood the message and goes on with this connection; who says anything else may not.
        return client.initialize() if problem.code == METHOD_NOT_FOUND else None
    except ConversationError:
        return None


def read_lists(client: ServerClient, about: Object) -> ServerLists:
    """Return the lists that a server's capabilities promise."""
    capabilities = about.get("capabilities")
    capabilities = capabilities if isinstance(capabilities, dict) else {}
    information = about.get("serverInfo")
    information = information if isinstance(information, dict) else {}
    given: Object = {
        "name": information.get("name", ""),
        "version": information.get("version", ""),
        "serverInfo": information,
        "instructions": about.get("instructions"),
        "capabilities": capabilities,
    }
    for name, (capability, method) in REQUESTS.items():
        if capability in capabilities:
            given[name] = _list(client, method, name)
    try:
        return lists_from_json(given)
    except SnapshotError as problem:
        raise ConversationError(f"it breaks the protocol: {problem}") from None


def _list(client: ServerClient, method: str, name: str) -> list[Object]:
    """Return a list; a server with resources may have no templates."""
    try:
        return [*client.items(method, name)]
    except AnsweredError as problem:
        if problem.code == METHOD_NOT_FOUND:
            return []
        raise
