"""bx-mcp's endpoint over HTTP: access is decided by the headers alone, and every reply has the same security headers.

A JSON-RPC error has the status 200; other statuses are for requests that are denied or malformed.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.memory_budget import WAITING_COST, MemoryAccount, cost_of
from mcpc_runtime.http.origins import ClientAddressFilter, OriginCheck
from mcpc_runtime.http.post_response import PostResponse
from mcpc_runtime.http.principals import Denied, Principal
from mcpc_runtime.http.replies import RETRY, Answer, Message, Pairs, Receive, Reply, Send, refuse, respond
from mcpc_runtime.http.request import HttpRequest, length_error, no_room, read_body, refuse_values, repeated_header
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, PARSE_ERROR
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.tool_choice import ToolSelection
from mcpc_runtime.systems.bx.auth import ALL_TOOLS, INDEX_KEY, LOOPBACK, Origins, with_api_key
from mcpc_runtime.systems.bx.methods import UNAUTHORIZED, McpRequest, ServerView, convert_error, resolve_request
from mcpc_runtime.transports.platforms import system

EncodeResult = Callable[[Json | Failure], Reply]
Mounted = Callable[[Message, Receive, Send], Awaitable[None]]


class HostApplication(Protocol):
    """The application that this endpoint is mounted in."""

    settings: HttpSettings
    origin_check: OriginCheck

    def request(self, scope: Message) -> HttpRequest:
        """Return the request that an ASGI scope describes."""
        ...

    async def wait_turn(self, principal: Principal) -> None:
        """Wait until a request of a principal may begin."""


ABSENT = object()
JSON, EVENT = b"application/json", b"text/event-stream"
SECURITY: Pairs = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"strict-origin-when-cross-origin"),
    (b"strict-transport-security", b"max-age=31536000; includeSubDomains"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"x-xss-protection", b"1; mode=block"),
]
PREFLIGHT: Pairs = [
    (b"access-control-allow-methods", b"POST, GET, OPTIONS"),
    (b"access-control-allow-headers", b"Content-Type, Authorization, X-API-Key"),
    (b"access-control-max-age", b"86400"),
]
ALLOW: Pairs = [(b"allow", b"POST, GET, OPTIONS")]
SINGLE_HEADERS = (b"x-api-key", b"x-request-id")
FORBIDDEN = 403
match_request_id = re.compile(rb"[A-Za-z0-9._:/+=@~-]{1,128}").fullmatch
"""A request id that may be repeated in a reply: harmless in a log and in a header."""
IDENTIFIER = re.compile(rb"(?:^|&)id=([A-Za-z0-9._~-]{1,128})(?:&|$)")


class BxPostResponse(PostResponse):
    """The response to a request of bx-mcp's, which is never a stream; `encode_result` makes a reply of a result."""

    __slots__ = ("_encode_result", "_mcp_request")

    def __init__(
        self,
        endpoint: BxEndpoint,
        session: Session,
        request: HttpRequest,
        mcp_request: McpRequest,
        encode_result: EncodeResult,
    ) -> None:
        super().__init__(endpoint.stage, session, request)
        self.takes_events = self.takes_only_events = False
        self._mcp_request = mcp_request
        self._encode_result = encode_result

    def begin(self) -> Reply | PostResponse:
        """Send the request of MCP's; return the reply if it is ready, else this."""
        message: Json = {
            "jsonrpc": "2.0",
            # The client's own id is put into the reply: bx-mcp accepts some that MCP does not.
            "id": 1,
            "method": self._mcp_request.method,
            "params": self._mcp_request.params,
        }
        return self.receive(message)

    def reply(self) -> Reply:
        """Return the reply as bx-mcp encodes it."""
        response: Any = (
            parse(self.lines[0]) if self.lines else {"error": {"code": INTERNAL_ERROR, "message": "stopped"}}
        )
        if "error" in response:
            return self._encode_result(convert_error(self._mcp_request.method, response["error"]))
        return self._encode_result(self._mcp_request.convert(response["result"]))


class BxEndpoint:
    """The endpoint of one server, as bx-mcp's clients know it."""

    def __init__(self, application: HostApplication, stage: HttpDriver) -> None:
        configured = stage.image.index[INDEX_KEY]
        settings = application.settings
        self.stage = stage
        self._application = application
        self._view = ServerView(stage.image)
        self._tools = None if configured["tools"] == ALL_TOOLS else ToolSelection(configured["tools"])
        self._origins = Origins(configured["origins"])
        # No list in boxlang.json allows this machine only, an empty one every address.
        allowed = settings.allowed_ips or (LOOPBACK if configured["allowed"] is None else configured["allowed"])
        self._addresses = ClientAddressFilter(allowed or ("0.0.0.0/0", "::/0"), settings.proxies)
        self._limit = min(configured["body_limit"] or settings.body_limit, settings.body_limit)

    async def serve(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = self._application.request(scope)
        identifier = request.headers.fields.get(b"x-request-id", b"")
        request_id = identifier if match_request_id(identifier) else system.urandom(16).hex().encode()
        common = [*SECURITY, (b"x-request-id", request_id), *self._cors(request)]
        answer = await self._answer(request, receive)
        if answer is not None and not isinstance(answer, tuple):
            answer = await answer.serve(receive, send, common)
        if answer is not None:
            status, headers, body = answer
            # A header of the answer replaces the common one of its name.
            await respond(send, (status, list({**dict(common), **dict(headers)}.items()), body))

    def _cors(self, request: HttpRequest) -> Pairs:
        """Return the headers that let a page read the reply."""
        fields = request.headers.fields
        origin = fields.get(b"origin", b"")
        if not origin or (origin not in self._origins and not self._application.origin_check.shares_with(fields)):
            # Caches must know that the reply depends on the origin, also if this one is not allowed.
            return [(b"vary", b"origin")]
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"x-request-id, www-authenticate"),
            (b"vary", b"origin"),
        ]

    async def _answer(self, request: HttpRequest, receive: Receive) -> Answer | None:
        """Return the answer to a request; None if its client has left."""
        refused = self._refuse(request)
        if refused is not None:
            return refused
        # Before authentication: browsers send no credentials with a preflight.
        if request.method == "OPTIONS":
            return 200, [*ALLOW, *(PREFLIGHT if len(self._cors(request)) > 1 else [])], b""
        denied = await self._authenticate(request)
        if denied is not None:
            return denied
        if request.method == "GET":
            return self._describe_server(request)
        if request.method != "POST":
            return refuse(405, "method not allowed: use POST, or GET for a description", ALLOW)
        account = self.stage.settings.budget.account(request.principal.name)
        answer: Answer | None = None
        try:
            body = await self._read(request, receive, account)
            await self._application.wait_turn(request.principal)
            answer = self._receive(request, body, account) if isinstance(body, bytes) else body
        finally:
            # A response that is not complete keeps its memory until it is.
            if not isinstance(answer, PostResponse):
                account.clear()
        return answer

    async def _read(self, request: HttpRequest, receive: Receive, account: MemoryAccount) -> bytes | Reply | None:
        """Return the body of a request, or why it is not read; None if the client has left."""
        fields = request.headers.fields
        refused = refuse(503, "the server is stopped", RETRY) if self.stage.is_closed else None
        refused = refused or length_error(fields, self._limit)
        length, seconds = fields.get(b"content-length", b"-1"), self._application.settings.body_seconds
        return refused or await read_body(receive, int(length), self._limit, seconds, account)

    def _refuse(self, request: HttpRequest) -> Reply | None:
        """Return the refusal of a client that may not send requests here, whatever they are."""
        headers = request.headers
        repeated = repeated_header(headers.pairs, headers.fields, SINGLE_HEADERS)
        if repeated:
            return refuse(400, f"more than one {repeated} header")
        if not self._addresses.allows(request.client, headers.pairs):
            return refuse(FORBIDDEN, "client address not allowed (see allowedIPs and --allow-ip)")
        checked = dict(headers.fields)
        # Origins of boxlang.json are allowed in addition to those of the server.
        if checked.get(b"origin", b"") in self._origins:
            del checked[b"origin"]
        status, reason = self._application.origin_check.check(checked)
        return refuse(status, reason) if status else None

    async def _authenticate(self, request: HttpRequest) -> Reply | None:
        """Set the principal of a request; return the refusal of one without a good token."""
        authenticator = self._application.settings.authenticator
        if authenticator is None:
            return None
        principal = authenticator.check(with_api_key(request.headers.pairs), request.path, request.client)
        if not isinstance(principal, Principal | Denied):
            principal = await principal
        if isinstance(principal, Denied):
            return unauthorized_reply(principal)
        request.principal = principal
        return None

    def _allows(self, principal: Principal) -> Callable[[str], bool] | None:
        """Return which tools a principal may see and call here; None for all."""
        if self._tools is None or principal.allows is None:
            return principal.allows or self._tools
        if isinstance(principal.allows, ToolSelection):
            return ToolSelection(*self._tools.pairs, *principal.allows.pairs)
        return Intersection(self._tools, principal.allows)

    def _describe_server(self, request: HttpRequest) -> Reply:
        """Return the description of the server."""
        match = IDENTIFIER.search(request.query)
        identifier = match[1].decode() if match else None
        about: Json = {"jsonrpc": "2.0", "result": self._view.about(self._allows(request.principal)), "id": identifier}
        return 200, [(b"content-type", JSON)], encode(about)

    def _receive(self, request: HttpRequest, body: bytes, account: MemoryAccount) -> Answer:
        """Take the body of a POST."""
        too_many_values = refuse_values(body)
        if too_many_values is not None or not account.set(cost_of(body)):
            return too_many_values or no_room()
        events = EVENT in request.headers.fields.get(b"accept", b"").lower()
        try:
            message = parse(body)
        except ParseError as problem:
            return encode_reply(Failure(PARSE_ERROR, f"Parse error: {problem}"), None, events)
        identifier = message.get("id") if type(message) is dict else None
        allows = self._allows(request.principal)
        mcp_request = resolve_request(self._view, message, allows)
        request_id = identifier if type(identifier) in (str, int, float) and identifier != "" else ABSENT
        if not isinstance(mcp_request, McpRequest):
            return encode_reply(mcp_request, request_id, events)
        forbidden = self._forbidden(request.principal, mcp_request)
        if forbidden is not None:
            return forbidden
        called: Json = {"method": mcp_request.method, "params": mcp_request.params, "id": identifier}
        exceeded = self.stage.quota_refusal(called, request.principal, request.client, request.headers.pairs)
        if exceeded is not None:
            return exceeded
        session = Session(self.stage.image)
        session.wire = self._view.wire
        session.principal, session.allows = request.principal.name, allows
        response = BxPostResponse(
            self, session, request, mcp_request, lambda result: encode_reply(result, request_id, events)
        )
        response.account, account.due = account, WAITING_COST
        return response.begin()

    def _forbidden(self, principal: Principal, mcp_request: McpRequest) -> Reply | None:
        """Return the refusal of what a token of an authorization server does not grant."""
        authenticator = self._application.settings.authenticator
        if authenticator is None:
            return None
        name = str(mcp_request.params.get("name", ""))
        denied = authenticator.permit(principal, mcp_request.method, name, self._application.settings.path)
        return None if denied is None else unauthorized_reply(denied)


class Intersection:
    """The intersection of two sets of tools."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Callable[[str], bool], second: Callable[[str], bool]) -> None:
        self._first = first
        self._second = second

    def __call__(self, name: str) -> bool:
        """Tell whether both have this tool."""
        return self._first(name) and self._second(name)

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, Intersection) and (other._first, other._second) == (self._first, self._second)

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash((self._first, self._second))


def encode_reply(result: Json | Failure, identifier: object, events: bool) -> Reply:
    """Return a reply: JSON, or one event for a client that accepts events; without an id if the request had none."""
    response: dict[str, Json] = {"jsonrpc": "2.0"}
    if identifier is None or isinstance(identifier, str | int | float):
        response["id"] = identifier
    if isinstance(result, Failure):
        error: dict[str, Json] = {"code": result.code, "message": result.message}
        response["error"] = error if result.data is None else {**error, "data": result.data}
    else:
        response["result"] = result
    line = encode(response)
    if events:
        return 200, [(b"content-type", EVENT)], b"event: message\ndata: %b\n\n" % line
    return 200, [(b"content-type", JSON)], line


def unauthorized_reply(denied: Denied) -> Reply:
    """Return the refusal of a token, or of none, with the challenge that says which token is needed."""
    status = denied.status if denied.status in (403, 503) else 401
    code = INTERNAL_ERROR if status == 503 else UNAUTHORIZED
    messages = {403: "Unauthorized: the token does not grant this", 503: "The token cannot be checked now"}
    headers = [(name, value) for name, value in denied.headers if name in (b"www-authenticate", b"retry-after")]
    error: Json = {"code": code, "message": messages.get(status, "Unauthorized: a valid token is needed")}
    body = encode({"jsonrpc": "2.0", "error": error})
    return status, [(b"content-type", JSON), *headers], body


def mount(application: HostApplication, stage: HttpDriver) -> dict[str, Mounted]:
    """Return bx-mcp's endpoint by its path; nothing if it is switched off."""
    if not stage.image.index[INDEX_KEY]["enabled"]:
        return {}
    return {application.settings.bx_path: BxEndpoint(application, stage).serve}
