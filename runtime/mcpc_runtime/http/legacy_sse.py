"""The HTTP+SSE transport of 2024-11-05: responses are sent on a stream opened by GET, messages come by POST.

A session lasts as long as its stream, in one process.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.http.driver import HttpDriver, receive_effects
from mcpc_runtime.http.endpoint import scope_refusal
from mcpc_runtime.http.memory_budget import WAITING_COST, MemoryAccount, cost_of
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.replies import EVENTS, Client, Pairs, Receive, Reply, accepted, error, refuse, remove_null_id
from mcpc_runtime.http.replies import Send as AsgiSend
from mcpc_runtime.http.request import HttpRequest, no_room, refuse_values
from mcpc_runtime.http.sessions import session_name
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.http.streams import SseResponse, message_event, serve_stream
from mcpc_runtime.protocol.constants import PARSE_ERROR
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.transports.platforms import system

STREAM_PATH, MESSAGES_PATH = "/sse", "/messages"
PATHS = (STREAM_PATH, MESSAGES_PATH)
QUERY = b"session_id="


class LegacySseSession:
    """One session, and the `Request.origin` of its requests.

    `principal`: whose token opened it; the stream ends when the token expires.
    """

    __slots__ = ("_accounts", "_driver", "_end", "client", "principal", "response", "session", "token")

    def __init__(
        self,
        driver: HttpDriver,
        session: Session,
        token: str,
        principal: Principal,
        end: Callable[[LegacySseSession], None],
    ) -> None:
        self._driver = driver
        self.principal = principal
        self.client: Client = None
        self._end = end
        self.session = session
        self.token = token
        self.response = SseResponse(driver.settings.budget.account(session.principal))
        self._accounts: dict[object, MemoryAccount] = {}

    def receive(self, message: dict[str, Json], cost: int) -> bool:
        """Receive a message, which is answered on the stream; False if the memory budget has no room for it.

        `cost`: the bytes to charge until it is answered.
        """
        identifier = message.get("id") if "method" in message else None
        if type(identifier) in (str, int) and identifier not in self._accounts:
            account = self._driver.settings.budget.account(self.session.principal)
            if not account.charge(cost):
                return False
            self._accounts[identifier] = account
        effects = receive_effects(self.session, message, self)
        for effect in effects:
            if type(effect) is SendResponse and effect.request is None:
                self.send(remove_null_id(effect.data))
        self._driver.perform(effects)
        # Requests that were answered at once.
        for waiting in self._accounts.keys() - self.session.running.keys():
            self.release_account(waiting)
        return True

    def release_account(self, identifier: object) -> None:
        """Charge nothing for a request any more."""
        account = self._accounts.pop(identifier, None)
        if account is not None:
            account.clear()

    def respond(self, effect: SendResponse) -> None:
        """Send the answer to a request."""
        self.send(effect.data)
        if effect.request is not None:
            self.release_account(effect.request.identifier)

    def send(self, line: bytes) -> None:
        """Send a message on the stream."""
        self.response.write(message_event(line))

    def came_from(self) -> dict[str, Json]:
        """Return the address from which the stream was opened, for the call log."""
        return {"client": self._driver.address(self.client, [])} if self.client else {}

    def close_stream(self, seconds: float) -> None:
        """Do nothing: this stream cannot be resumed."""

    def release(self) -> None:
        """Do nothing: nothing is kept for a cancelled request."""

    def end_streams(self) -> None:
        """End the stream, and the session with it."""
        self.response.finish()

    async def serve(self, receive: Receive, send: AsgiSend, more: Pairs) -> None:
        """Send the events of the session until its end."""
        self._driver.begin_stream(self.session.principal)
        lease = self._driver.lease(self.principal, self.response.finish)
        try:
            await serve_stream(self.response, receive, send, EVENTS + more, self._driver.settings)
        finally:
            lease.cancel()
            self._driver.end_stream(self.session.principal)
            self._end(self)
            for identifier in list(self._accounts):
                self.release_account(identifier)


def messages_path(settings: HttpSettings) -> str:
    """Return where clients post messages: below what a proxy puts before the endpoint's path, as `--url` says."""
    path = f"/{settings.url.partition('://')[2].partition('/')[2]}".rstrip("/")
    return (path.removesuffix(settings.path) if path.endswith(settings.path) else "") + MESSAGES_PATH


class LegacySseSessions:
    """The sessions of one server that use this transport."""

    def __init__(self, driver: HttpDriver) -> None:
        self._driver = driver
        self._sessions: dict[str, LegacySseSession] = {}

    def open(self, principal: Principal, client: Client = None) -> LegacySseSession:
        """Begin a session."""
        session = Session(self._driver.image)
        session.principal, session.allows = principal.name, principal.allows
        # Until `initialize` names another one: the oldest, to which this transport belongs.
        session.wire = self._driver.image.revision(self._driver.image.handshake_versions[0])
        token = system.urandom(16).hex()
        session.conversation = session_name(token)
        sse_session = self._sessions[token] = LegacySseSession(self._driver, session, token, principal, self.remove)
        sse_session.client = client
        self._driver.sessions.by_session[session] = sse_session
        path = messages_path(self._driver.settings).encode()
        sse_session.response.write(b"event: endpoint\ndata: %b?%b%b\n\n" % (path, QUERY, token.encode()))
        return sse_session

    def remove(self, sse_session: LegacySseSession) -> None:
        """Remove a session whose stream has ended, and stop its handlers."""
        del self._sessions[sse_session.token]
        del self._driver.sessions.by_session[sse_session.session]
        for identifier in list(sse_session.session.running):
            self._driver.perform(sse_session.session.drop(identifier))

    def handle_post(self, request: HttpRequest, body: bytes) -> Reply:
        """Handle a POST with a message."""
        query, principal = request.query, request.principal
        token = query.removeprefix(QUERY).decode("latin-1") if query.startswith(QUERY) else ""
        sse_session = self._sessions.get(token)
        # One answer to both, so that nobody learns of the sessions of others.
        if sse_session is None or sse_session.session.principal != principal.name:
            return refuse(404, "session not found: its stream has ended")
        refused = refuse_values(body)
        if refused is not None:
            return refused
        try:
            message = parse(body)
        except ParseError as problem:
            return error(400, PARSE_ERROR, f"Parse error: {problem}")
        if type(message) is not dict:
            return refuse(400, "this protocol version does not support batches")
        settings = self._driver.settings
        refused = scope_refusal(self._driver, message, principal, settings.path) or self._driver.quota_refusal(
            message, principal, request.client, request.headers.pairs
        )
        if refused is not None:
            return refused
        sse_session.session.allows = principal.allows
        return accepted() if sse_session.receive(message, WAITING_COST + cost_of(body)) else no_room(message.get("id"))
