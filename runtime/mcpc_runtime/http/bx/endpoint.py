"""bx-mcp's endpoint over HTTP: who may ask is decided by the head alone, and every answer has the same headers.

An error of JSON-RPC has the status 200; other statuses are for those who may not ask, and for what is no request.
"""

from __future__ import annotations

import posix
import re

from mcpc_runtime.http.bodies import no_room, read_body, refuse_values
from mcpc_runtime.http.bx.doors import LOOPBACK, Origins, credentials
from mcpc_runtime.http.bx.methods import UNAUTHORIZED, Asked, Desk, asked, refusal
from mcpc_runtime.http.endpoint import Anybody, Sender
from mcpc_runtime.http.memory_budget import WAITING_COST, cost_of
from mcpc_runtime.http.peers import Peers
from mcpc_runtime.http.posts import Post
from mcpc_runtime.http.replies import RETRY, refuse, respond
from mcpc_runtime.http.said import mismeasured, repeated
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, PARSE_ERROR
from mcpc_runtime.protocol.globs import Tools
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.protocol.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from mcpc_runtime.http.guard import Guard
    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.replies import Message, Pairs, Receive, Reply, Send
    from mcpc_runtime.http.settings import Settings
    from mcpc_runtime.http.stage import Stage
    from mcpc_runtime.protocol.jsonrpc import Json

    class Application(Protocol):
        """What answers all requests of a server, of which this endpoint is a part."""

        settings: Settings
        guard: Guard

        async def in_turn(self, principal: Any) -> Any:
            """Return a principal when its request may begin."""


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
ONCE = (b"x-api-key", b"x-request-id")
FORBIDDEN = 403
request_name = re.compile(rb"[A-Za-z0-9._:/+=@~-]{1,128}").fullmatch
"""A request's own name that is said again: nothing that a log or a header could take for something else."""
IDENTIFIER = re.compile(rb"(?:^|&)id=([A-Za-z0-9._~-]{1,128})(?:&|$)")


class Quiet:
    """What a client takes who is told nothing but the answer."""

    streams = only_streams = False
    pairs: Any = ()


class Pending(Post):
    """A request whose answer is being made; `tell` makes a reply of it."""

    __slots__ = ("_asked", "_tell")

    def __init__(self, stage: Stage, session: Session, wanted: Asked, tell: Callable[[Json | Failure], Reply]) -> None:
        super().__init__(stage, session, Quiet())  # type: ignore[arg-type]
        self._asked = wanted
        self._tell = tell

    def begin(self) -> Reply | Post:
        """Ask; return the answer if it is there at once, else this."""
        message: Json = {"jsonrpc": "2.0", "id": 1, "method": self._asked.method, "params": self._asked.params}
        return self.receive(message)

    def reply(self) -> Reply:
        """Return the answer as it is told here."""
        found: Any = parse(self.lines[0]) if self.lines else {"error": {"code": INTERNAL_ERROR, "message": "stopped"}}
        if "error" in found:
            return self._tell(refusal(self._asked.method, found["error"]))
        return self._tell(self._asked.conclude(found["result"]))


class Endpoint:
    """bx-mcp's way to one server."""

    def __init__(self, application: Application, stage: Stage) -> None:
        said = stage.image.index["bx"]
        settings = application.settings
        self._application = application
        self._stage = stage
        self._desk = Desk(stage.image)
        self._tools = None if said["tools"] == (("*",), ()) else Tools(said["tools"])
        self._origins = Origins(said["origins"])
        named = settings.allowed_ips or (LOOPBACK if said["allowed"] is None else said["allowed"])
        self._peers = Peers(named or ("0.0.0.0/0", "::/0"), settings.proxies)
        self._limit = min(said["body_limit"] or settings.body_limit, settings.body_limit)

    async def answer(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        pairs: Pairs = [(name.lower(), value) for name, value in scope["headers"]]
        fields = dict(pairs)
        given = fields.get(b"x-request-id", b"")
        name = given if request_name(given) else posix.urandom(16).hex().encode()
        more = [*SECURITY, (b"x-request-id", name), *self._shared(fields)]
        made = await self._made(scope, receive, pairs, fields)
        if type(made) is tuple:
            status, headers, body = made
            await respond(send, (status, merged(headers, more), body))
        elif made is not None:
            await made.serve(receive, send, more)

    def _shared(self, fields: dict[bytes, bytes]) -> Pairs:
        """Return the headers that let a page read the answer."""
        given = fields.get(b"origin", b"")
        if not given:
            return [(b"vary", b"origin")]
        if given not in self._origins and not self._application.guard.shares_with(fields):
            return [(b"vary", b"origin")]
        exposed = b"x-request-id, www-authenticate"
        return [
            (b"access-control-allow-origin", given),
            (b"access-control-expose-headers", exposed),
            (b"vary", b"origin"),
        ]

    async def _made(self, scope: Message, receive: Receive, pairs: Pairs, fields: dict[bytes, bytes]) -> Any:
        """Return the answer, or what will serve it; None if the client has left."""
        refused = self._refused(scope, pairs, fields)
        if refused is not None:
            return refused
        if scope["method"] == "OPTIONS":
            return 200, [*ALLOW, *(PREFLIGHT if self._is_shared(fields) else [])], b""
        principal = await self._who(pairs, scope)
        if type(principal) is tuple:
            return principal
        if scope["method"] == "GET":
            return self._discovered(scope, principal)
        if scope["method"] != "POST":
            return refuse(405, "this is for POST, and GET to look around", ALLOW)
        account = self._stage.settings.budget.account(principal.name)
        made: Any = None
        try:
            body = await self._read(receive, fields, account)
            await self._application.in_turn(principal)
            sender = Sender(principal, scope.get("client"), account)
            made = self._posted(body, fields, sender) if type(body) is bytes else body
        finally:
            if not isinstance(made, Post):
                account.clear()
        return made

    async def _read(self, receive: Receive, fields: dict[bytes, bytes], account: Account) -> bytes | Reply | None:
        """Return the body of a request, or why it is not read; None if the client has left."""
        wrong = refuse(503, "the server was stopped", RETRY) if self._stage.is_closed else None
        wrong = wrong or mismeasured(fields, self._limit)
        length, seconds = fields.get(b"content-length", b"-1"), self._application.settings.body_seconds
        return wrong or await read_body(receive, int(length), self._limit, seconds, account)

    def _is_shared(self, fields: dict[bytes, bytes]) -> bool:
        return len(self._shared(fields)) > 1

    def _refused(self, scope: Message, pairs: Pairs, fields: dict[bytes, bytes]) -> Reply | None:
        """Return the refusal of whoever may not ask here, whatever it is."""
        twice = repeated(pairs, fields, ONCE)
        if twice:
            return refuse(400, f"there are two {twice} headers")
        if not self._peers.lets_in(scope):
            return refuse(FORBIDDEN, "this address may not ask here: allowedIPs, or --allow-ip, names those that may")
        judged = dict(fields)
        if judged.get(b"origin", b"") in self._origins:
            del judged[b"origin"]
        status, words = self._application.guard.judge(judged)
        return refuse(status, words) if status else None

    async def _who(self, pairs: Pairs, scope: Message) -> Any:
        """Return on whose behalf a request is, or the refusal of one that brings no good token."""
        authenticator = self._application.settings.authenticator
        if authenticator is None:
            return Anybody
        found = authenticator.check(credentials(pairs), scope["path"], scope.get("client"))
        if hasattr(found, "__await__"):
            found = await found
        return unauthorized(found) if hasattr(found, "status") else found

    def _allows(self, principal: Any) -> Callable[[str], bool] | None:
        """Return which tools somebody may see and call here; None for all."""
        if self._tools is None or principal.allows is None:
            found: Callable[[str], bool] | None = principal.allows or self._tools
            return found
        if isinstance(principal.allows, Tools):
            return Tools(*self._tools.pairs, *principal.allows.pairs)
        return Both(self._tools, principal.allows)

    def _discovered(self, scope: Message, principal: Any) -> Reply:
        """Return what the server says of itself to whoever looks at it."""
        found = IDENTIFIER.search(scope.get("query_string", b""))
        identifier = found[1].decode() if found else None
        about: Json = {"jsonrpc": "2.0", "result": self._desk.about(self._allows(principal)), "id": identifier}
        return 200, [(b"content-type", JSON)], encode(about)

    def _posted(self, body: bytes, fields: dict[bytes, bytes], sender: Sender) -> Any:
        """Return what the body of a POST comes to."""
        principal, account = sender.principal, sender.account
        crowded = refuse_values(body)
        if crowded is not None or not account.set(cost_of(body)):
            return crowded or no_room()
        streams = EVENT in fields.get(b"accept", b"").lower()
        try:
            message = parse(body)
        except ParseError as problem:
            return answered(Failure(PARSE_ERROR, f"Parse error: {problem}"), None, streams)
        identifier = message.get("id") if type(message) is dict else None
        allows = self._allows(principal)
        made = asked(self._desk, message, allows)
        given = identifier if type(identifier) in (str, int, float) and identifier != "" else ABSENT
        if not isinstance(made, Asked):
            return answered(made, given, streams)
        refused = self._forbidden(principal, made)
        if refused is not None:
            return refused
        session = Session(self._stage.image)
        session.wire = self._desk.wire
        session.principal, session.allows = principal.name, allows
        pending = Pending(self._stage, session, made, lambda found: answered(found, given, streams))
        pending.client = sender.client
        pending.account, account.due = account, WAITING_COST
        return pending.begin()

    def _forbidden(self, principal: Any, wanted: Asked) -> Reply | None:
        """Return the refusal of what a token of an authorization server does not grant."""
        authenticator = self._application.settings.authenticator
        if authenticator is None:
            return None
        name = str(wanted.params.get("name", ""))
        found = authenticator.permit(principal, wanted.method, name, self._application.settings.path)
        return None if found is None else unauthorized(found)


class Both:
    """What two sets of tools have in common."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Callable[[str], bool], second: Callable[[str], bool]) -> None:
        self._first = first
        self._second = second

    def __call__(self, name: str) -> bool:
        """Tell whether both have this tool."""
        return self._first(name) and self._second(name)

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, Both) and (other._first, other._second) == (self._first, self._second)

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash((self._first, self._second))


def answered(found: Json | Failure, identifier: object, streams: bool) -> Reply:
    """Return an answer: JSON, or one event for who takes events; without an id if the request had none."""
    said: dict[str, Json] = {"jsonrpc": "2.0"}
    if identifier is not ABSENT:
        said["id"] = identifier  # type: ignore[assignment]
    if isinstance(found, Failure):
        error: dict[str, Json] = {"code": found.code, "message": found.message}
        said["error"] = error if found.data is None else {**error, "data": found.data}
    else:
        said["result"] = found
    line = encode(said)
    if streams:
        return 200, [(b"content-type", EVENT)], b"event: message\ndata: %b\n\n" % line
    return 200, [(b"content-type", JSON)], line


def unauthorized(found: Any) -> Reply:
    """Return the refusal of a token, or of none: with the challenge that says what would do."""
    status = found.status if found.status in (403, 503) else 401
    code = INTERNAL_ERROR if status == 503 else UNAUTHORIZED
    words = {403: "Unauthorized: the token does not grant this", 503: "Nobody can say now whether the token is good"}
    headers = [(name, value) for name, value in found.headers if name in (b"www-authenticate", b"retry-after")]
    error: Json = {"code": code, "message": words.get(status, "Unauthorized: a good token is needed")}
    body = encode({"jsonrpc": "2.0", "error": error})
    return status, [(b"content-type", JSON), *headers], body


def merged(headers: Pairs, more: Pairs) -> Pairs:
    """Return headers, each name once: those of the answer come first."""
    return list({**dict(more), **dict(headers)}.items())


def mount(application: Application, stage: Stage) -> dict[str, Any]:
    """Return the paths of bx-mcp's endpoint, each with what answers there; none if it is switched off."""
    if not stage.image.index["bx"]["enabled"]:
        return {}
    return {application.settings.bx_path: Endpoint(application, stage).answer}
