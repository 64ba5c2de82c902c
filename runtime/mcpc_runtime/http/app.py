"""The ASGI application: which path is asked, whether it may be, and what answers.

Cheap refusals come first, and nothing is allocated for a request before it was found good: its names, then what is said
of its body, then who sends it, then the body.  An answer that is ready is sent without waiting for anything.
"""

from __future__ import annotations

from asyncio import get_running_loop, sleep, timeout
from functools import partial

from mcpc_runtime.errors import tell
from mcpc_runtime.http.auth.principals import SEND_TOKEN
from mcpc_runtime.http.bodies import read_body
from mcpc_runtime.http.deferred_replies import DeferredRequest, LongReply, Unauthorized
from mcpc_runtime.http.elder import ASKED_BY, Elders
from mcpc_runtime.http.endpoint import ALLOW, Anybody, Endpoint
from mcpc_runtime.http.fair_turns import FairLock, FairTurns
from mcpc_runtime.http.guard import Guard
from mcpc_runtime.http.memory_budget import CONNECTIONS
from mcpc_runtime.http.refusals import FIRST, REGISTRATION, SENT, WELL_KNOWN, Refusals, asked_of
from mcpc_runtime.http.replies import JSON, METHODS, PIECE, PLAIN, PROTECTED, RETRY, preflight, refuse, respond
from mcpc_runtime.http.said import Said
from mcpc_runtime.http.stage import Stage
from mcpc_runtime.image import Image
from mcpc_runtime.lazy import lazy
from mcpc_runtime.opened import CHANGED, is_changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any

    from mcpc_runtime.http.bx.endpoint import mount
    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.metrics import Metrics
    from mcpc_runtime.http.peers import Peers
    from mcpc_runtime.http.replies import Client, Message, Pairs, Receive, Reply, Send
    from mcpc_runtime.http.rotation import Rotation
    from mcpc_runtime.http.rotation import reload as rotation_reload
    from mcpc_runtime.http.settings import Settings
else:
    Metrics = lazy("mcpc_runtime.http.metrics:Metrics")
    Peers = lazy("mcpc_runtime.http.peers:Peers")
    Rotation = lazy("mcpc_runtime.http.rotation:Rotation")
    mount = lazy("mcpc_runtime.http.bx.endpoint:mount")
    rotation_reload = lazy("mcpc_runtime.http.rotation:reload", "rotation_reload")

BX = "bx"
UNKNOWN_PEER = "this address may not ask: --allow-ip names those that may"
MOST_SAID, LONGEST_SAID = 512, 2048
"""So many heads are remembered, of so many bytes: a client sends the same one again and again."""
LARGE = 1 << 18
"""A message longer than this takes long to parse."""
POLL_SECONDS = 0.02
ALIVE, READY = "/healthz", "/readyz"
FAR = "this server is closed to other machines: it needs MCPC_TOKEN_FILE, MCPC_TOKENS or MCPC_ISSUER, or MCPC_OPEN=1"
LOOKING, LOOK, ONLY_LOOKING = ("GET", "HEAD"), [(b"allow", b"GET, HEAD")], "only GET is for this"
METRICS_FOR = "metrics name every tool: they are for tokens that may call every tool"
MOST_NAMED = 5
STOPPED = "Internal error: the server is being stopped"


class Application:
    """Servers, each under its path, as one ASGI application.  It begins with the loop that calls it first."""

    def __init__(self, images: Image | Mapping[str, Image], settings: Settings) -> None:
        self.settings = settings
        self.guard = Guard(settings)
        self.stages: list[Stage] = []
        self.is_ready = True
        self._is_stopping = False
        self._is_closed = settings.authenticator is None and not settings.open
        self.metrics = settings.metrics or (Metrics() if settings.has_metrics else None)
        self._images = {settings.path: images} if isinstance(images, Image) else dict(images)
        self._endpoints: dict[str, Endpoint] = {}
        self._elders: Elders | None = None
        self._rotation: Any = None
        self._turns: FairTurns | None = None
        self._others: dict[str, Callable[[Message, Receive, Send], Awaitable[None]]] = {}
        self._peers = Peers(settings.allowed_ips, settings.proxies) if settings.allowed_ips else None
        self._said: dict[tuple[tuple[bytes, bytes], ...], Said] = {}
        self._large = FairLock()
        self.refusals = Refusals(self._known_paths, self._asked)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all endpoints, once it has begun."""
        return *self._images, *self._others

    def _known_paths(self) -> tuple[str, ...]:
        """Return where something is served."""
        return *self._endpoints, *self._others, *ASKED_BY, "/metrics"

    def _asked(self, path: str, message: bytes) -> str:
        """Return what a message to a path asks, as far as whoever runs the server may be told."""
        endpoint = self._endpoints.get(path)
        return "" if endpoint is None or not message else asked_of(message, endpoint.stage.image)

    def begin(self) -> None:
        """Be ready for requests, in the loop that runs."""
        if self.settings.authenticator is not None:
            self._turns = FairTurns()
        for path, image in self._images.items():
            image.endpoint = path
            stage = Stage(image, self.settings)
            stage.observers = [one for one in (self.metrics, self.settings.spans) if one is not None]
            if self.metrics is not None:
                self.metrics.watch(stage)
                self.metrics.watch_memory(self.settings.budget)
            self.stages.append(stage)
            stage.open_tasks()
            self._endpoints[path] = self._endpoints[path.rstrip("/") + "/"] = Endpoint(stage, path, self.metrics)
        written_for_bx = [stage for stage in self.stages if BX in stage.image.index]
        if written_for_bx:
            self._others = mount(self, written_for_bx[0])
        if self.settings.sse and self.stages:
            self._elders = Elders(self.stages[0])
        if self.settings.authenticator is not None and self.stages:
            self.settings.authenticator.address = self.stages[0].address
        watched = getattr(self.settings.authenticator, "watched", None)
        if watched is not None:
            self._rotation = Rotation(watched, self.stages)

    def reload(self) -> None:
        """Read again what can change while the server runs, which is the file of tokens."""
        rotation_reload(self._rotation)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or live and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"there is nothing here for {scope['type']}")
        if not self._endpoints:
            self.begin()
        raw = scope.get("raw_path")
        if raw and b"%" in raw and "mcpc.head" not in scope:
            scope = {**scope, "path": raw.partition(b"?")[0].decode("latin-1")}  # what a proxy has seen
        if self.metrics is not None:
            send = self.metrics.watching(scope["method"], send)
        if scope["path"] not in (ALIVE, READY):
            send = self.refusals.watching(scope, send)
        barred = self._barred(scope)
        if barred:
            await respond(send, refuse(403, barred))
        else:
            await self._others.get(scope["path"], self._answer)(scope, receive, send)

    def _barred(self, scope: Message) -> str:
        """Return why nobody at this address may ask, or nothing."""
        if self._is_closed and is_far(scope):
            return FAR
        if self._peers is None or scope["path"] in (ALIVE, READY) or scope["path"] in self._others:
            return ""
        return "" if self._peers.lets_in(scope) else UNKNOWN_PEER

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request to an endpoint of MCP's, or to whatever is no message."""
        said = self.said(scope)
        endpoint = self._endpoints.get(scope["path"])
        if endpoint is None or scope["method"] != "POST":
            await self._otherwise(scope, receive, send, said)
            return
        refusal = said.refusal or said.unreadable
        is_asked = not refusal and self.settings.authenticator is not None
        principal = await self._who(said, endpoint.path, scope.get("client")) if is_asked else Anybody
        refusal = refusal or getattr(principal, "refusal", None)
        made: Any = refusal or await self._posted(endpoint, scope, receive, said, principal)
        if type(made) is tuple and not said.shared:
            await respond(send, made)
        else:
            await self._deliver(made, receive, send, said)

    def at_once(self, head: Any, body: bytes, client: Any = None) -> tuple[Any, Pairs] | None:
        """Return what a POST comes to, and headers to add, for a server that reads heads itself and has the whole body.

        It is a reply, or what will serve one; None where the usual way has to be taken.
        """
        if self.metrics is not None:
            found: tuple[Any, Pairs] | None = self.metrics.at_once(partial(self._at_once, client), head, body)
        else:
            found = self._at_once(client, head, body)
        if found is not None and type(found[0]) is tuple and found[0][0] >= FIRST:
            self.refusals.add(found[0][0], (head.method, head.path, client), found[0][2], body)
        return found

    def _at_once(self, client: Client, head: Any, body: bytes) -> tuple[Any, Pairs] | None:
        endpoint = self._endpoints.get(head.path)
        if endpoint is None or head.method != "POST" or endpoint.stage.is_closed or self._peers is not None:
            return None
        said = self.known(head)
        refusal = said.refusal or said.unreadable
        if refusal is not None:
            return refusal, said.shared
        authenticator = self.settings.authenticator
        if authenticator is None:
            return self._replied(endpoint, said, body, client, Anybody), said.shared
        found = authenticator.check(said.pairs, endpoint.path, client)
        if hasattr(found, "status"):
            return Unauthorized(found).refusal, said.shared
        is_known = not hasattr(found, "__await__")
        if is_known and (self._turns is None or self._turns.admits(found.name)):
            return self._replied(endpoint, said, body, client, found), said.shared
        account = self.settings.budget.account(found.name if is_known else CONNECTIONS)
        later = partial(self.in_turn, found) if is_known else partial(self._when_known, found)
        return DeferredRequest(
            partial(self._replied, endpoint, said, body, client), later, account, len(body)
        ), said.shared

    def _replied(self, endpoint: Endpoint, said: Said, body: bytes, client: Client, principal: Any) -> Any:
        """Return what a whole body comes to: a reply, or what serves one."""
        made = endpoint.post(said, body, principal, client)
        if type(made) is tuple and len(made[2]) > PIECE:
            return LongReply(made, self.settings.budget.account(principal.name))
        return made

    async def _when_known(self, found: Awaitable[Any]) -> Any:
        """Return a principal when its request may begin, or a refusal."""
        principal = await found
        return principal if hasattr(principal, "status") else await self.in_turn(principal)

    async def in_turn(self, principal: Any) -> Any:
        """Return a principal when its request may begin."""
        if self._turns is not None:
            await self._turns.begin(principal.name)
        return principal

    def said(self, scope: Message) -> Said:
        """Return what a request's head says."""
        head = scope.get("mcpc.head")
        if head is not None:
            return self.known(head)
        pairs = tuple(scope["headers"])
        try:
            found = self._said.get(pairs)
        except TypeError:  # a server may give lists
            pairs = tuple([(name, value) for name, value in pairs])
            found = self._said.get(pairs)
        if found is None:
            found = Said(list(pairs), self.guard, self.settings)
            if len(self._said) >= MOST_SAID:
                self._said.clear()
            if sum([len(name) + len(value) for name, value in pairs]) <= LONGEST_SAID:
                self._said[pairs] = found
        return found

    def known(self, head: Any) -> Said:
        """Return what a head says that the server may keep: then it is kept with it."""
        if head.known is None:
            head.known = Said(head.headers, self.guard, self.settings)
        found: Said = head.known
        return found

    async def _posted(self, endpoint: Endpoint, scope: Message, receive: Receive, said: Said, principal: Any) -> Any:
        """Return what the body of a POST comes to; None if the client left before it was whole."""
        if endpoint.stage.is_closed:
            return refuse(503, "the server was stopped", RETRY)
        account = self.settings.budget.account(principal.name)
        try:
            body = await self._body(receive, said.length, account)
            if type(body) is not bytes:
                return body
            await self.in_turn(principal)
            if len(body) <= LARGE:
                account.clear()  # what takes it charges all that it costs
                return self._taken(endpoint, said, body, principal, scope)
            async with self._large.of(principal.name):
                await sleep(0)  # one such message in a turn of the loop: others wait for one, not for all
                account.clear()
                return self._taken(endpoint, said, body, principal, scope)
        finally:
            account.clear()

    def _taken(self, endpoint: Endpoint, said: Said, body: bytes, principal: Any, scope: Message) -> Any:
        """Return what a body comes to; that of a refused request is kept for the line that tells of it."""
        made = self._replied(endpoint, said, body, scope.get("client"), principal)
        if type(made) is tuple and made[0] >= FIRST:
            scope[SENT] = body
        return made

    async def _body(self, receive: Receive, length: int, account: Account) -> bytes | Reply | None:
        """Return the body of a message, or as `read_body`."""
        return await read_body(receive, length, self.settings.body_limit, self.settings.body_seconds, account)

    async def _who(self, said: Said, path: str, client: Client) -> Any:
        """Return on whose behalf a request is, or a `Unauthorized`."""
        found = self.settings.authenticator.check(said.pairs, path, client)
        if hasattr(found, "__await__"):
            found = await found
        return Unauthorized(found) if hasattr(found, "status") else found

    async def _otherwise(self, scope: Message, receive: Receive, send: Send, said: Said) -> None:
        """Answer whatever is not a message to an endpoint."""
        plain = self._plain(scope)
        if plain is not None and scope["method"] == "HEAD":
            plain = plain[0], plain[1], b""
        made: Any = plain or said.refusal or self._preflight(scope, said)
        if made is None:
            made = await self._addressed(scope, receive, said)
        await self._deliver(made, receive, send, said)

    async def _deliver(self, made: Any, receive: Receive, send: Send, said: Said) -> None:
        """Send an answer, or let what has none yet serve; None: the client has left."""
        if type(made) is tuple:
            status, headers, body = made
            await respond(send, (status, headers + said.shared if said.shared else headers, body))
        elif made is not None:
            await made.serve(receive, send, said.shared)

    def _plain(self, scope: Message) -> Reply | None:
        """Return what anybody may know: whether the process lives, takes calls, and where tokens come from."""
        path, authenticator = scope["path"], self.settings.authenticator
        document = None
        if path.startswith(WELL_KNOWN) and authenticator is not None:
            document = authenticator.document(path)
        if path not in (ALIVE, READY) and document is None:
            return None
        if scope["method"] not in LOOKING:
            return refuse(405, ONLY_LOOKING, LOOK)
        if document is not None:
            return 200, JSON, document
        if path == READY and not self.is_ready:
            return 503, PLAIN + RETRY, b"the server is being stopped\n"
        if path == READY and any(is_changed(image.archive) for image in self._images.values()):
            return 503, PLAIN, CHANGED.encode() + b"\n"
        return 200, PLAIN, b"ok\n"

    def _preflight(self, scope: Message, said: Said) -> Reply | None:
        """Return the answer to OPTIONS: what may be done, and to whose pages a browser may tell it."""
        elder = self._elder(scope)
        if scope["method"] != "OPTIONS" or (elder is None and scope["path"] not in self._endpoints):
            return None
        methods = METHODS if elder is None else b"%b, OPTIONS" % ASKED_BY[elder].encode()
        more = preflight(methods, said.fields) if said.shared else []
        return 204, [*PROTECTED, (b"allow", methods), *more], b""

    async def _addressed(self, scope: Message, receive: Receive, said: Said) -> Any:
        """Return the answer to what is asked of an endpoint otherwise than by a message, or what will serve it."""
        endpoint, elder = self._endpoints.get(scope["path"]), self._elder(scope)
        path = self.settings.path if endpoint is None else endpoint.path
        if endpoint is None and elder is None and scope["path"] != "/metrics":
            return refuse(404, self._nothing_at(scope["path"]))
        is_asked = self.settings.authenticator is not None
        principal = await self._who(said, path, scope.get("client")) if is_asked else Anybody
        if isinstance(principal, Unauthorized):
            return principal.refusal
        if elder is not None:
            return await self._by_elder(scope, receive, said, principal)
        if endpoint is None:
            return self._metrics(scope["method"]) if principal.allows is None else refuse(403, METRICS_FOR)
        ask = {"GET": endpoint.get, "DELETE": endpoint.delete}.get(scope["method"])
        return refuse(405, "this is for messages: POST", ALLOW) if ask is None else ask(said, principal)

    def _nothing_at(self, path: str) -> str:
        """Return why a path leads nowhere, in words that clients show to people."""
        if not path.startswith(WELL_KNOWN) and path not in REGISTRATION:
            return f"there is nothing at this path; the endpoint is {self.settings.path}"
        if self.settings.authenticator is None:
            return "there is no authorization server here, and no token is asked for"
        return f"there is no authorization server here; {SEND_TOKEN}"

    def _elder(self, scope: Message) -> str | None:
        """Return the path of the transport of 2024-11-05 that is asked, if it is served."""
        return scope["path"] if self._elders is not None and scope["path"] in ASKED_BY else None

    async def _by_elder(self, scope: Message, receive: Receive, said: Said, principal: Any) -> Any:
        if self._elders is None:
            return None
        wanted = ASKED_BY[scope["path"]]
        if scope["method"] != wanted:
            return refuse(405, f"this is for {wanted}", [(b"allow", wanted.encode())])
        if wanted == "GET":
            full = self.stages[0].no_stream(principal.name)
            return refuse(503, full, RETRY) if full else self._elders.open(principal, scope.get("client"))
        if said.unreadable is not None:
            return said.unreadable
        account = self.settings.budget.account(principal.name)
        try:
            body = await self._body(receive, said.length, account)
            if type(body) is not bytes:
                return body
            await self.in_turn(principal)
            account.clear()
            return self._elders.post(scope["query_string"], body, principal)
        finally:
            account.clear()

    def _metrics(self, method: str) -> Reply:
        if self.metrics is None:
            return refuse(404, "metrics are off: --metrics turns them on")
        if method not in LOOKING:
            return refuse(405, ONLY_LOOKING, LOOK)
        kind, text = self.metrics.expose()
        return 200, [(b"content-type", kind), *PROTECTED], text

    async def _live(self, receive: Receive, send: Send) -> None:
        """Begin and end with the server."""
        await receive()
        self.begin()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.shutdown()
        await send({"type": "lifespan.shutdown.complete"})

    def stopping(self) -> str:
        """Return what is said when the server begins to stop: how many calls it waits for, and which."""
        names = [one.definition.name for stage in self.stages if stage.dispatcher for one in stage.dispatcher.calls]
        if not names:
            return "stopping"
        some = ", ".join(sorted(set(names))[:MOST_NAMED])
        calls = "1 call" if len(names) == 1 else f"{len(names)} calls"
        return f"stopping, {calls} under way: {some}; they have {self.settings.grace_seconds:g} s"

    def _end_streams(self) -> None:
        if self._rotation is not None:
            self._rotation.close()
        for stage in self.stages:
            stage.end_streams()

    async def shutdown(self) -> None:
        """Stop serving: streams end, calls have their time of grace, then all that still runs is ended.  Once."""
        if self._is_stopping:
            return
        self._is_stopping, self.is_ready = True, False
        self._end_streams()
        try:
            async with timeout(self.settings.grace_seconds):
                while any(stage.posts for stage in self.stages):
                    await sleep(POLL_SECONDS)
        except TimeoutError:
            tell(f"calls were ended that had not finished in {self.settings.grace_seconds:g} s")
        for stage in self.stages:
            stage.abandon(STOPPED)
        await sleep(POLL_SECONDS)  # so that what was answered last goes out
        for stage in self.stages:
            stage.close()
        self.refusals.close()
        if self.settings.spans is not None:
            await get_running_loop().run_in_executor(None, self.settings.spans.close)


def is_far(scope: Message) -> bool:
    """Tell whether a request comes from another machine, and asks for more than whether the server lives."""
    client = scope.get("client")
    if client is None or scope["path"] in (ALIVE, READY):
        return False
    host: str = client[0].removeprefix("::ffff:")
    return not (host.startswith("127.") or host in ("::1", ""))
