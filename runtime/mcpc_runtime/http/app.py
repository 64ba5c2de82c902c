"""The ASGI application: a table of routes, and the checks that come before a handler.

Cheap checks come first, and nothing is allocated for a request before it has passed them: the client's address, Host
and Origin, the headers about the body, authentication, then the body.
"""

from __future__ import annotations

from asyncio import get_running_loop, sleep, timeout
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from mcpc_runtime.http.auth.token_file import Rotation
from mcpc_runtime.http.auth.token_file import reload as rotation_reload
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.embedded.messages import RequestHead
from mcpc_runtime.http.endpoint import Endpoint
from mcpc_runtime.http.fair_turns import FairLock, FairTurns
from mcpc_runtime.http.legacy_sse import MESSAGES_PATH, PATHS, STREAM_PATH, LegacySseSessions
from mcpc_runtime.http.memory_budget import CONNECTIONS, MemoryAccount
from mcpc_runtime.http.metrics import Metrics
from mcpc_runtime.http.origins import ClientAddressFilter, OriginCheck
from mcpc_runtime.http.post_response import DeferredRequest, LongReply
from mcpc_runtime.http.principals import Authenticated, Denied, Principal
from mcpc_runtime.http.quotas import Quotas
from mcpc_runtime.http.replies import (
    METHODS,
    PLAIN,
    PROTECTED,
    RETRY,
    Answer,
    Client,
    Message,
    Pairs,
    Receive,
    Reply,
    Send,
    preflight,
    refuse,
    respond,
)
from mcpc_runtime.http.request import HttpRequest, RequestHeaders, read_body
from mcpc_runtime.http.routes import DisabledRoute, Handler, Route, describe_missing, discovery_routes, document_route
from mcpc_runtime.http.server_log import FIRST_REFUSAL, RefusalLog, describe_message
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.lazy import resolve
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.transports.platforms.artifact_file import CHANGED, is_changed

Mounted = Callable[[Message, Receive, Send], Awaitable[None]]


MAX_CACHED, MAX_CACHED_LENGTH = 512, 2048
"""Maximum number and length of cached headers: clients send equal headers again and again."""
LARGE_MESSAGE = 1 << 18
"""A message longer than this takes long to parse."""
POLL_SECONDS = 0.02
ALIVE, READY, METRICS = "/healthz", "/readyz", "/metrics"
REMOTE_REFUSED = (
    "this server is closed to other machines: it needs MCPC_TOKEN_FILE, MCPC_TOKENS or MCPC_ISSUER, or MCPC_OPEN=1"
)
UNKNOWN_ADDRESS = "client address not allowed (see --allow-ip)"
METRICS_DENIED = "metrics name every tool: they need a token that may call every tool"
MAX_NAMED = 5
STOPPED = "Internal error: the server is being stopped"


class Application:
    """One or more servers, each at its path, as one ASGI application; it begins in the loop that calls it first."""

    def __init__(self, images: Image | Mapping[str, Image], settings: HttpSettings) -> None:
        self.settings = settings
        self.origin_check = OriginCheck(settings)
        self.drivers: list[HttpDriver] = []
        self.is_ready = True
        self.legacy_sse: LegacySseSessions | None = None
        self._is_stopping = False
        self._is_closed = settings.authenticator is None and not settings.open
        self.quotas = Quotas(settings.quotas) if settings.quotas else None
        self.metrics = Metrics() if settings.has_metrics else None
        self._images = {settings.path: images} if isinstance(images, Image) else dict(images)
        self._endpoints: dict[str, Endpoint] = {}
        self._routes: dict[str, Route] = {}
        self._rotation: Rotation | None = None
        self._turns: FairTurns | None = None
        self._mounted: dict[str, Mounted] = {}
        self._route_finders: list[Callable[[str], Route | None]] = []
        self._addresses = ClientAddressFilter(settings.allowed_ips, settings.proxies) if settings.allowed_ips else None
        self._cached: dict[tuple[tuple[bytes, bytes], ...], RequestHeaders] = {}
        self._large_messages = FairLock()
        self.refusal_log = RefusalLog(self._known_paths, self._describe_message)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all endpoints, once it has begun."""
        return *self._images, *self._mounted

    def _known_paths(self) -> tuple[str, ...]:
        """Return the paths that may be logged."""
        return *self._endpoints, *self._mounted, *PATHS, METRICS

    def _describe_message(self, path: str, message: bytes, principal: Principal) -> str:
        """Return the method and the tool of an owner's message to a path, as far as they may be logged."""
        endpoint = self._endpoints.get(path)
        return "" if endpoint is None or not message else describe_message(message, endpoint.driver.image, principal)

    def begin(self) -> None:
        """Create drivers, endpoints and routes, in the running loop."""
        settings = self.settings
        for path, image in self._images.items():
            self._begin_server(path, image)
        self._mount()
        if settings.sse and self.drivers:
            self.legacy_sse = LegacySseSessions(self.drivers[0])
        if settings.authenticator is not None:
            self._turns = FairTurns()
            if self.drivers:
                settings.authenticator.address = self.drivers[0].address
            if settings.authenticator.watched is not None:
                self._rotation = Rotation(settings.authenticator.watched, self.drivers)
        self._routes = self._make_routes()

    def _mount(self) -> None:
        """Mount the endpoints and routes of other systems, each for the first server that was built for it."""
        # Reversed, so that of several servers with a row the first one keeps it.
        rows = {row: driver for driver in reversed(self.drivers) for row in driver.image.hooks("mount")}
        for row, driver in rows.items():
            self._mounted.update(resolve(row)(self, driver))
        drivers_by_row = {row: driver for driver in reversed(self.drivers) for row in driver.image.hooks("http_routes")}
        self._route_finders = [resolve(row)(self, driver) for row, driver in drivers_by_row.items()]

    def _begin_server(self, path: str, image: Image) -> None:
        image.endpoint = path
        driver = HttpDriver(image, self.settings)
        driver.quotas = self.quotas
        driver.observers = [observer for observer in (self.metrics, self.settings.spans) if observer is not None]
        if self.metrics is not None:
            self.metrics.watch(driver)
            self.metrics.watch_process(self.settings.budget)
        self.drivers.append(driver)
        driver.open_tasks()
        self._endpoints[path] = self._endpoints[path.rstrip("/") + "/"] = Endpoint(driver, path, self.metrics)

    def _make_routes(self) -> dict[str, Route]:
        """Return the routes by their paths."""
        main = self.settings.path
        routes: dict[str, Route] = {METRICS: DisabledRoute("metrics are off: --metrics turns them on", main)}
        if self.metrics is not None:
            expose = partial(self._expose_metrics, self.metrics)
            routes[METRICS] = Route({"GET": expose, "HEAD": expose}, main)
        for path, endpoint in self._endpoints.items():
            handlers: dict[str, Handler] = {"GET": endpoint.get, "DELETE": endpoint.delete}
            handlers["POST"] = partial(self._receive_message, endpoint)
            routes[path] = Route(handlers, endpoint.path, METHODS, METHODS)
        if self.legacy_sse is not None:
            for path, method, handler in (
                (STREAM_PATH, "GET", self._open_legacy_stream),
                (MESSAGES_PATH, "POST", self._receive_legacy_message),
            ):
                methods: dict[str, Handler] = {method: handler}
                if path in routes:  # an endpoint has the same path: POST belongs to it
                    methods["POST"] = routes[path].handlers["POST"]
                routes[path] = Route(methods, main, method.encode(), b"%b, OPTIONS" % method.encode())
        for path in (ALIVE, READY):
            routes[path] = Route({"GET": self._report_health, "HEAD": self._report_health}, is_public=True)
        return {**discovery_routes(self._images, self.settings), **routes} if self.settings.url else routes

    def reload(self) -> None:
        """Read the token file again: nothing else can change while the server runs."""
        rotation_reload(self._rotation)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or handle the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not supported")
        # A server without lifespan events begins with its first request.
        if not self._endpoints:
            self.begin()
        await self._serve(scope, receive, send)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, whose route may be a mounted application."""
        raw = scope.get("raw_path")
        # Other servers decode the path; the embedded one does not.
        if raw and b"%" in raw and "mcpc.head" not in scope:
            scope = {**scope, "path": raw.partition(b"?")[0].decode("latin-1")}  # the path as a proxy has seen it
        request = self.request(scope)
        if self.metrics is not None:
            send = self.metrics.watching(request.method, send)
        if request.path not in (ALIVE, READY):
            send = self.refusal_log.watching(request, send)
        refused = self._refuse_address(request)
        if refused is not None:
            await respond(send, refused)
        elif request.path in self._mounted:
            await self._mounted[request.path](scope, receive, send)
        else:
            await self._serve_route(request, receive, send)

    def request(self, scope: Message) -> HttpRequest:
        """Return the request that an ASGI scope describes."""
        head: RequestHead | None = scope.get("mcpc.head")
        headers = self._cached_headers(scope["headers"]) if head is None else self._parse_head(head)
        return HttpRequest(scope["method"], scope["path"], scope.get("query_string", b""), headers, scope.get("client"))

    def _parse_head(self, head: RequestHead) -> RequestHeaders:
        """Return the parsed headers of a head, which keeps them: the embedded server caches heads."""
        if head.parsed is None:
            head.parsed = RequestHeaders(head.headers, self.origin_check, self.settings)
        return head.parsed

    def _cached_headers(self, raw_headers: Pairs) -> RequestHeaders:
        """Return the parsed headers of an ASGI scope."""
        pairs = tuple([(name, value) for name, value in raw_headers])  # some servers have lists
        headers = self._cached.get(pairs)
        if headers is None:
            headers = RequestHeaders(list(pairs), self.origin_check, self.settings)
            # All at once: what clients send again is back after one request.
            if len(self._cached) >= MAX_CACHED:
                self._cached.clear()
            if sum([len(name) + len(value) for name, value in pairs]) <= MAX_CACHED_LENGTH:
                self._cached[pairs] = headers
        return headers

    def _refuse_address(self, request: HttpRequest) -> Reply | None:
        """Return the refusal of a client by its address, None if the address is allowed."""
        if request.path in (ALIVE, READY):
            return None
        # Another ASGI server may listen on any address, whatever the settings say.
        if self._is_closed and request.is_remote:
            return refuse(403, REMOTE_REFUSED)
        if self._addresses is None or request.path in self._mounted:
            return None
        return None if self._addresses.allows(request.client, request.headers.pairs) else refuse(403, UNKNOWN_ADDRESS)

    async def _serve_route(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        """Answer one request by its route."""
        cors = request.headers.cors
        answer = await self._answer(request, receive)
        if answer is not None and not isinstance(answer, tuple):
            answer = await answer.serve(receive, send, cors)
        if answer is not None:
            status, headers, body = answer
            await respond(send, (status, headers + cors if cors else headers, body))

    async def _answer(self, request: HttpRequest, receive: Receive) -> Answer | None:
        """Return the answer to a request; None if its client has disconnected."""
        headers, method = request.headers, request.method
        route = self._routes.get(request.path) or document_route(request.path, self.settings.authenticator)
        route = route or next(filter(None, (find(request.path) for find in self._route_finders)), None)
        if headers.denial is not None and (route is None or not route.is_public):
            return headers.denial
        if route is None:
            return refuse(404, describe_missing(request.path, self.settings))
        if method == "OPTIONS" and route.preflight:
            cors = preflight(route.preflight, headers.fields) if headers.cors else []
            return 204, [*PROTECTED, (b"allow", route.preflight), *cors], b""
        if method == "POST" and "POST" in route.handlers and headers.body_error is not None and not route.is_open:
            return headers.body_error
        if not (route.is_public or route.is_open):
            denied = await self._authenticate(request, route.auth_path)
            if denied is not None:
                return denied
        handler = route.handlers.get(method)
        return route.refuse_method() if handler is None else await handler(request, receive)

    def answer_now(self, head: RequestHead, body: bytes, client: Client = None) -> tuple[Answer, Pairs] | None:
        """Return the answer to a POST and headers to add, for the embedded server, which has its head and its body.

        Return None if the request has to go through `__call__`.
        """
        endpoint = self._endpoints.get(head.path)
        # With a list of allowed addresses the other way is taken, which checks the client first.
        if endpoint is None or head.method != "POST" or endpoint.driver.is_closed or self._addresses is not None:
            return None
        headers = head.parsed or self._parse_head(head)
        request = HttpRequest(head.method, head.path, head.query, headers, client)
        begun = 0.0 if self.metrics is None else self.metrics.begin(head.method)
        answer: Answer
        refused = headers.denial or headers.body_error
        if refused is not None:
            answer = refused
        elif self.settings.authenticator is None:
            answer = endpoint.handle_post(request, body)
        else:
            answer = self._answer_authenticated(endpoint, request, body)
        if self.metrics is not None:
            answer = self.metrics.count(answer, begun)
        reply = answer.reply if isinstance(answer, LongReply) else answer
        if isinstance(reply, tuple) and reply[0] >= FIRST_REFUSAL:
            self.refusal_log.add(reply[0], (head.method, head.path, client), reply[2], body, request.principal)
        return answer, headers.cors

    def _answer_authenticated(self, endpoint: Endpoint, request: HttpRequest, body: bytes) -> Answer:
        """Return the answer to a POST after authentication; a deferred one if it has to wait."""
        result = self._check(request, endpoint.path)
        if isinstance(result, Denied):
            return result.reply
        name: str | None = CONNECTIONS
        if isinstance(result, Principal):
            if self._turns is None or self._turns.admits(result.name):
                request.principal = result
                return endpoint.handle_post(request, body)
            name = result.name
        account = self.settings.budget.account(name)
        admit, answer = partial(self._admit, request, result), partial(endpoint.handle_post, request, body)
        return DeferredRequest(admit, answer, account, len(body))

    def _check(self, request: HttpRequest, path: str) -> Authenticated | Awaitable[Authenticated]:
        """Return the result of authentication, or an awaitable of it."""
        if self.settings.authenticator is None:
            return request.principal
        return self.settings.authenticator.check(request.headers.pairs, path, request.client)

    async def _authenticate(self, request: HttpRequest, path: str) -> Reply | None:
        """Set the principal of a request; return the reply to one that is denied."""
        return await self._identify(request, self._check(request, path))

    async def _identify(self, request: HttpRequest, result: Authenticated | Awaitable[Authenticated]) -> Reply | None:
        """Set the principal of a request by the result of authentication; return the reply to one that is denied."""
        if not isinstance(result, Principal | Denied):
            result = await result
        if isinstance(result, Denied):
            return result.reply
        request.principal = result
        return None

    async def _admit(self, request: HttpRequest, result: Authenticated | Awaitable[Authenticated]) -> Reply | None:
        """Set the principal of a request and wait for its turn; return the reply to one that is denied."""
        denied = await self._identify(request, result)
        if denied is None:
            await self.wait_turn(request.principal)
        return denied

    async def wait_turn(self, principal: Principal) -> None:
        """Wait until a request of a principal may begin."""
        if self._turns is not None:
            await self._turns.begin(principal.name)

    async def _receive_message(self, endpoint: Endpoint, request: HttpRequest, receive: Receive) -> Answer | None:
        """Answer a POST to an endpoint."""
        if endpoint.driver.is_closed:
            return refuse(503, "the server is stopped", RETRY)
        account = self.settings.budget.account(request.principal.name)
        try:
            body = await self._read_body(request, receive, account)
            if not isinstance(body, bytes):
                return body
            if len(body) <= LARGE_MESSAGE:
                account.clear()  # the endpoint charges all that it costs
                return self._post(endpoint, request, body)
            async with self._large_messages.of(request.principal.name):
                await sleep(0)  # one large message in a turn of the loop: other requests wait for one, not for all
                account.clear()
                return self._post(endpoint, request, body)
        finally:
            account.clear()

    def _post(self, endpoint: Endpoint, request: HttpRequest, body: bytes) -> Answer:
        answer = endpoint.handle_post(request, body)
        if isinstance(answer, tuple) and answer[0] >= FIRST_REFUSAL:
            request.body = body
        return answer

    async def _read_body(self, request: HttpRequest, receive: Receive, account: MemoryAccount) -> bytes | Reply | None:
        """Return the body of a request when it may begin, or as `read_body`."""
        settings = self.settings
        length = request.headers.content_length
        body = await read_body(receive, length, settings.body_limit, settings.body_seconds, account)
        if isinstance(body, bytes):
            await self.wait_turn(request.principal)
        return body

    async def _open_legacy_stream(self, request: HttpRequest, _: Receive) -> Answer | None:
        full = self.drivers[0].stream_refusal(request.principal.name)
        if full or self.legacy_sse is None:
            return refuse(503, full, RETRY)
        return self.legacy_sse.open(request.principal, request.client)

    async def _receive_legacy_message(self, request: HttpRequest, receive: Receive) -> Answer | None:
        account = self.settings.budget.account(request.principal.name)
        try:
            body = await self._read_body(request, receive, account)
        finally:
            account.clear()
        if not isinstance(body, bytes) or self.legacy_sse is None:
            return body if isinstance(body, tuple) else None
        return self.legacy_sse.handle_post(request, body)

    async def _expose_metrics(self, metrics: Metrics, request: HttpRequest, _: Receive) -> Reply:
        if request.principal.allows is not None:
            return refuse(403, METRICS_DENIED)
        kind, text = metrics.expose()
        return 200, [(b"content-type", kind), *PROTECTED], text

    async def _report_health(self, request: HttpRequest, _: Receive) -> Reply:
        """Return whether the process runs, or for READY whether it accepts calls."""
        status, headers, text = 200, PLAIN, b"ok\n"
        if request.path == READY and not self.is_ready:
            status, headers, text = 503, PLAIN + RETRY, b"the server is being stopped\n"
        # A file that was replaced cannot be read further: what is not imported yet would be missing.
        elif request.path == READY and any(is_changed(image.archive) for image in self._images.values()):
            status, text = 503, CHANGED.encode() + b"\n"
        return status, headers, b"" if request.method == "HEAD" else text

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        """Begin and end with the server (ASGI lifespan)."""
        await receive()
        self.begin()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.shutdown()
        await send({"type": "lifespan.shutdown.complete"})

    def stopping(self) -> str:
        """Be ready no more; return the log line: how many calls are awaited, and which."""
        self.is_ready = False
        dispatchers = [driver.dispatcher for driver in self.drivers if driver.dispatcher is not None]
        names = [call.name for dispatcher in dispatchers for call in dispatcher.calls]
        if not names:
            return "stopping"
        listed = ", ".join(sorted(set(names))[:MAX_NAMED])
        calls = "1 call" if len(names) == 1 else f"{len(names)} calls"
        return f"stopping, {calls} under way: {listed}; they have {self.settings.grace_seconds:g} s"

    def _end_streams(self) -> None:
        if self._rotation is not None:
            self._rotation.close()
        for driver in self.drivers:
            driver.end_streams()

    async def shutdown(self) -> None:
        """Stop serving, once: end the streams, let calls end within the grace time, then end all that still runs."""
        if self._is_stopping:
            return
        self._is_stopping, self.is_ready = True, False
        self._end_streams()
        try:
            async with timeout(self.settings.grace_seconds):
                while any(driver.posts for driver in self.drivers):
                    await sleep(POLL_SECONDS)
        except TimeoutError:
            log_line(f"calls were ended that had not finished in {self.settings.grace_seconds:g} s")
        for driver in self.drivers:
            driver.abandon(STOPPED)
        await sleep(POLL_SECONDS)  # the last answers are sent
        for driver in self.drivers:
            driver.close()
        self.refusal_log.close()
        if self.settings.spans is not None:
            # It sends what is buffered, and waits for that.
            await get_running_loop().run_in_executor(None, self.settings.spans.close)
