"""What handlers know of a request: its HTTP request, its context, and small records that projects make or get."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Generic, NoReturn, Protocol, TypeVar
from urllib.parse import parse_qsl

from mcpc_runtime.systems.fastmcp.engine.server import INVALID_REQUEST, ProtocolError
from mcpc_runtime.systems.fastmcp.interfaces import Call, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import HANDSHAKE_PROTOCOL_VERSIONS


class Headers(dict[str, str]):
    """Headers by their names; case does not matter."""

    def __init__(self, headers: dict[str, str]) -> None:
        # Names of fields are case-insensitive (RFC 9110, section 5.1).
        super().__init__({name.lower(): value for name, value in headers.items()})

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.lower())

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)


class HTTPRequest:
    """A call's HTTP request: its head; the body is the call itself."""

    def __init__(self, headers: dict[str, str], head: Object | None = None) -> None:
        given = head or {}
        query: bytes = given.get("query", b"")
        client = given.get("client")
        self.headers = Headers(headers)
        # Every message of a client is a POST (MCP, Streamable HTTP).
        self.method = "POST"
        self.path_params: dict[str, str] = {}
        # Each byte becomes one character; escapes are read as UTF-8.
        self.query_params = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        self.cookies = cookies_of(self.headers.get("cookie", ""))
        self.client = SimpleNamespace(host=client[0], port=client[1]) if client else None
        self.url = SimpleNamespace(path=given.get("path", ""), query=query.decode("latin-1"))
        self.state = SimpleNamespace()
        self.scope = {
            "type": "http",
            "method": self.method,
            "path": given.get("path", ""),
            "query_string": query,
            "client": tuple(client) if client else None,
            "headers": given.get("headers") or [(k.encode(), v.encode()) for k, v in self.headers.items()],
            "state": {},
        }


def cookies_of(header: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in header.split(";")]
    return {name.strip(): value.strip() for name, sign, value in pairs if sign}


def http_request(call: Call) -> HTTPRequest | None:
    """Return the HTTP request of a call, None over stdio."""
    return HTTPRequest(call.headers, call.http) if call.transport == "http" else None


class NamedParams(Protocol):
    """Parameters of a call of a tool, or of a request for a prompt."""

    name: str
    arguments: Object | None


class AddressParams(Protocol):
    """Parameters of a request for a resource."""

    uri: object


class CompletionParams(Protocol):
    """Parameters of a request to complete an argument."""

    ref: object
    argument: NamedParams
    context: object


class NoCall:
    """The call while lists are made: there is no client."""

    request_id = session_id = protocol_version = ""
    client_id: str | None = None
    transport = "stdio"

    def __init__(self) -> None:
        self.meta: Object = {}
        self.client_capabilities: Object = {}
        self.client_info: Object = {}
        self.headers: dict[str, str] = {}
        self.http: Object = {}
        self.principal: Object | None = None

    async def _nothing(self, *_: object, **__: object) -> None:
        """Do nothing: there is no client."""

    async def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse: there is no client."""
        raise ProtocolError(INVALID_REQUEST, "there is no client while lists are made")

    log = progress = resource_updated = list_changed = _nothing
    elicit = sample = list_roots = _refuse


SessionT = TypeVar("SessionT")
LifespanContextT = TypeVar("LifespanContextT")
RequestT = TypeVar("RequestT")


@dataclass
class RequestContext(Generic[SessionT, LifespanContextT, RequestT]):
    """A request's context."""

    request_id: str | int
    meta: Any
    session: SessionT
    lifespan_context: LifespanContextT
    experimental: object = None
    request: RequestT | None = None
    close_sse_stream: object = None
    close_standalone_sse_stream: object = None


HandlerResult = CallNext = ServerMiddleware = object


@dataclass(kw_only=True)
class ServerRequestContext(Generic[LifespanContextT, RequestT]):
    """A request's context."""

    session: Any
    lifespan_context: LifespanContextT
    protocol_version: str
    method: str
    params: Any = None
    request_id: str | int | None = None
    meta: Any = None
    request: RequestT | None = None
    close_sse_stream: object = None
    close_standalone_sse_stream: object = None


LATEST_PROTOCOL_VERSION = HANDSHAKE_PROTOCOL_VERSIONS[-1]
SUPPORTED_PROTOCOL_VERSIONS = [*HANDSHAKE_PROTOCOL_VERSIONS]


@dataclass(kw_only=True)
class InitializationOptions:
    """What a low-level server tells its clients of itself."""

    server_name: str
    server_version: str
    capabilities: object
    title: str | None = None
    description: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    icons: list[object] | None = None


@dataclass
class ReadResourceContents:
    """A resource's contents: text, or bytes."""

    content: str | bytes
    mime_type: str | None = None
    meta: Object | None = None


class NotificationOptions:
    """The lists whose changes a server notifies its clients of."""

    def __init__(
        self, prompts_changed: bool = False, resources_changed: bool = False, tools_changed: bool = False
    ) -> None:
        self.prompts_changed = prompts_changed
        self.resources_changed = resources_changed
        self.tools_changed = tools_changed


DEFAULT_MAX_REQUEST_BODY_SIZE = 4 * 1024 * 1024


@dataclass(kw_only=True)
class TransportSecuritySettings:
    """Which hosts and origins a server accepts."""

    enable_dns_rebinding_protection: bool = True
    allowed_hosts: list[str] = field(default_factory=list)
    allowed_origins: list[str] = field(default_factory=list)
