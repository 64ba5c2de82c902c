"""The HTTP routes of a program in a built server: their requests are handed to the program in the worker.

They need no token, as with FastMCP, whose documentation uses them for health checks and callbacks; the checks of Host,
Origin and addresses hold for them, and the limits of bodies.  A request is one call, which has to end within a minute;
its principal is the anonymous one.
"""

from __future__ import annotations

import re
from asyncio import Future, get_running_loop
from binascii import Error, a2b_base64
from collections.abc import Callable

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.memory_budget import MemoryAccount
from mcpc_runtime.http.replies import CHUNK_SIZE, RETRY, Answer, Pairs, Receive, Reply, Send, refuse, respond
from mcpc_runtime.http.request import HttpRequest, length_error, no_room, read_body
from mcpc_runtime.http.routes import Route
from mcpc_runtime.http.streams import wait_for_disconnect
from mcpc_runtime.protocol.effects import Call, StartHandler
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, parse
from mcpc_runtime.protocol.requests import Request, SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.systems.fastmcp.contract import ROUTE

SETTINGS = "fastmcp_routes"
"""The key of the index with the paths of the routes."""
ROUTE_SECONDS = 60.0
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
NUMBER = 1
"""The id of a route's request in its session."""
VARIABLE = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*(?::([A-Za-z_]+))?\}")
PATH = "path"
"""The kind of variable that may have slashes."""
MAX_PATH = 4096
OWN_HEADERS = frozenset({b"connection", b"content-length", b"keep-alive", b"transfer-encoding", b"upgrade", b"date"})
"""Headers that are the server's to decide."""
# A name of the characters of tokens (RFC 9110, section 5.6.2), and a value that cannot begin another header.
is_valid_header = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [^\x00\r\n]*").fullmatch
FAILED, LATE = 502, 504
# Responses without content (RFC 9110, sections 15.3.5 and 15.4.5).
NO_BODY = (204, 304)


def http_routes(app: Application, driver: HttpDriver) -> Callable[[str], Route | None]:
    """Return what finds the route of a path (hook `http_routes`)."""
    rows = [(pattern, path_pattern(pattern)) for pattern in driver.image.index[SETTINGS]["paths"]]
    routes = {pattern: ProgramRoute(app, driver, pattern).route for pattern, _ in rows}

    def find_route(path: str) -> Route | None:
        # Bounds the time of patterns with several variables.
        if len(path) > MAX_PATH:
            return None
        return next((routes[pattern] for pattern, compiled in rows if compiled.fullmatch(path)), None)

    return find_route


def route_paths(image: Image) -> tuple[str, ...]:
    """Return the paths of the program's routes (hook `route_paths`)."""
    return tuple(image.index[SETTINGS]["paths"])


def path_pattern(text: str) -> re.Pattern[str]:
    """Return the expression for the paths of a route, which may have variables."""
    parts: list[str] = []
    end = 0
    for match in VARIABLE.finditer(text):
        parts += [re.escape(text[end : match.start()]), ".*" if match[1] == PATH else "[^/]+"]
        end = match.end()
    return re.compile("".join([*parts, re.escape(text[end:])]))


class ProgramRoute:
    """One route of a program."""

    def __init__(self, app: Application, driver: HttpDriver, pattern: str) -> None:
        self._app = app
        self._driver = driver
        self._pattern = pattern
        self.route = Route(dict.fromkeys(METHODS, self.handle), allow=", ".join(METHODS).encode())
        self.route.is_open = True

    async def handle(self, request: HttpRequest, receive: Receive) -> Answer | None:
        settings = self._driver.settings
        refused = length_error(request.headers.fields, settings.body_limit)
        if refused is not None:
            return refused
        if self._driver.is_closed:
            return refuse(503, "the server is stopped", RETRY)
        length = int(request.headers.fields.get(b"content-length", b"-1"))
        account = settings.budget.account(request.principal.name)
        body = await read_body(receive, length, settings.body_limit, settings.body_seconds, account)
        if not isinstance(body, bytes):
            account.clear()
            return body
        await self._app.wait_turn(request.principal)
        return RouteResponse(self._driver, request, account, self._call(request, body))

    def _call(self, request: HttpRequest, body: bytes) -> Call:
        image = self._driver.image
        session = Session(image)
        session.principal = request.principal.name
        wire = image.revision(image.handshake_versions[-1])
        made = Request(session, NUMBER, ROUTE, {}, wire)
        arguments: dict[str, Json] = {
            "method": request.method,
            "path": request.path,
            "query": request.query,  # type: ignore[dict-item]
            "scheme": "http",
            "headers": request.headers.pairs,  # type: ignore[dict-item]
            "client": list(request.client) if request.client is not None else None,
            "body": body,  # type: ignore[dict-item]
        }
        call = Call(made, image.run_time_definition(self._pattern), arguments)
        call.seconds = ROUTE_SECONDS
        return call


class RouteResponse:
    """The response to one request for a route, and its `Request.origin`."""

    def __init__(self, driver: HttpDriver, request: HttpRequest, account: MemoryAccount, call: Call) -> None:
        self._driver = driver
        self._account = account
        self._call = call
        self._has_body = request.method != "HEAD"
        self._reply: Reply | None = None
        self._ended: Future[None] = get_running_loop().create_future()
        self.session: Session = call.request.session
        self.http_request = request
        call.request.origin = self

    async def serve(self, receive: Receive, send: Send, more: Pairs) -> Reply | None:
        """Return the response when the program has made it; None if the client has disconnected."""
        watcher = get_running_loop().create_task(wait_for_disconnect(receive, self._end))
        self.session.running[NUMBER] = self._call
        self._driver.posts[self] = None
        try:
            self._driver.perform([StartHandler(self._call)])
            await self._ended
            reply = self._reply
            if reply is None or len(reply[2]) <= CHUNK_SIZE:
                return reply
            await respond(send, (reply[0], reply[1] + more, reply[2]))  # it is charged until it is sent
        finally:
            watcher.cancel()
            self._driver.posts.pop(self, None)
            self._driver.perform(self.session.drop(NUMBER))
            self._account.clear()
        return None

    def respond(self, effect: SendResponse) -> None:
        """Take the program's response, or the error of the call."""
        self._reply = self._made_reply(effect)
        self._end()

    def _made_reply(self, effect: SendResponse) -> Reply:
        if not self._account.charge(len(effect.data)):
            return no_room()
        message = parse(effect.data)
        result = message.get("result") if type(message) is dict else None
        found = parsed_response(result, has_body=self._has_body)
        if found is not None:
            return found
        error = message.get("error") if type(message) is dict else None
        text = str(error.get("message")) if type(error) is dict else "the program returned no response"
        # The words of `RunningCalls._expire`: a timeout has no code of its own.
        return refuse(LATE if "its timeout is" in text else FAILED, text)

    def send(self, line: bytes) -> None:
        """Drop a message of the handler: there is no client of the protocol."""

    def close_stream(self, seconds: float) -> None:
        """Do nothing: there is no stream."""

    def release(self) -> None:
        """End without a response: the call was cancelled."""
        self._end()

    def end_listening(self) -> None:
        """Do nothing: nothing is subscribed to."""

    def abandon(self, reason: str) -> None:
        """Answer with an error, because the server ends."""
        self._reply = refuse(503, reason, RETRY)
        self._end()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


def parsed_response(result: Json, *, has_body: bool) -> Reply | None:
    """Return the reply that the program described, None if it is malformed."""
    if type(result) is not dict:
        return None
    status, headers, body = result.get("status"), result.get("headers"), result.get("body")
    if type(status) is not int or not 200 <= status <= 599 or type(headers) is not list or type(body) is not str:
        return None
    try:
        data = a2b_base64(body)
    except (Error, ValueError):
        return None
    pairs = [pair for row in headers if (pair := header_pair(row)) is not None]
    if len(pairs) < len(headers):
        return None
    kept = [pair for pair in pairs if pair[0] not in OWN_HEADERS]
    return status, kept, data if has_body and status not in NO_BODY else b""


def header_pair(row: Json) -> tuple[bytes, bytes] | None:
    """Return a header that the program described, None if it is malformed."""
    if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) is not str:
        return None
    try:
        pair = row[0].lower().encode("latin-1"), row[1].encode("latin-1")
    except UnicodeEncodeError:
        return None
    return pair if is_valid_header(b"%b: %b" % pair) else None
