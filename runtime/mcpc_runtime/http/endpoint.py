"""The Streamable HTTP endpoint of one server: what POST, GET and DELETE do.

`kind_of_post` decides which rules apply to a POST, and `POSTS` has the method for each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from mcpc_runtime.http.driver import FOREVER, MESSAGE, SESSION, HttpDriver
from mcpc_runtime.http.memory_budget import SMALL, SMALL_FACTOR, WAITING_COST, MemoryAccount, cost_of
from mcpc_runtime.http.metrics import Metrics
from mcpc_runtime.http.post_response import PRIMED_SINCE, LongReply, PostResponse
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.replies import (
    CHUNK_SIZE,
    EVENTS,
    METHODS,
    PROTECTED,
    RETRY,
    Answer,
    Pairs,
    Receive,
    Reply,
    accepted,
    error,
    refuse,
)
from mcpc_runtime.http.replies import Send as SendMessage
from mcpc_runtime.http.request import HttpRequest, header_mismatch, is_stateless, no_room, refuse_values
from mcpc_runtime.http.sessions import HttpConversation
from mcpc_runtime.http.streams import COMMENT, EventStream, SseResponse, serve_stream
from mcpc_runtime.protocol.batches import batch_refusal
from mcpc_runtime.protocol.constants import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    VERSION_KEY,
)
from mcpc_runtime.protocol.effects import PublishChange
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.operations import operations_called
from mcpc_runtime.protocol.session import STATELESS_ONLY, Session, describe_malformed
from mcpc_runtime.transports.platforms.artifact_file import FileChangedError

SESSION_HEADER = b"mcp-session-id"
ALLOW: Pairs = [(b"allow", METHODS)]
MAX_STREAMS = 4
"""Maximum GET streams of a session; another one ends the oldest."""
MISSING_SESSION = "Invalid request: missing Mcp-Session-Id header"


class GetStream:
    """The response to a GET: an event stream."""

    __slots__ = ("_endpoint", "conversation", "principal", "response", "stream")

    def __init__(
        self, endpoint: Endpoint, principal: Principal, conversation: HttpConversation, stream: EventStream, after: int
    ) -> None:
        self._endpoint = endpoint
        self.principal = principal
        self.conversation = conversation
        self.stream = stream
        self.response = SseResponse(endpoint.driver.settings.budget.account(conversation.session.principal))
        stream.attach(self.response, after)

    async def serve(self, receive: Receive, send: SendMessage, more: Pairs) -> None:
        """Send the events until the stream ends."""
        driver, principal = self._endpoint.driver, self.conversation.session.principal
        driver.begin_stream(principal)
        lease = driver.lease(self.principal, self.stream.end)
        try:
            await serve_stream(self.response, receive, send, EVENTS + more, driver.settings)
        finally:
            lease.cancel()
            driver.end_stream(principal)
            # Not if the client has resumed the stream on another connection meanwhile.
            if self.stream.response is self.response:
                self.stream.response = None
            self._endpoint.stream_closed(self.conversation, self.stream)


class Endpoint:
    """The endpoint of one server, at one path."""

    def __init__(self, driver: HttpDriver, path: str, metrics: Metrics | None = None) -> None:
        self.driver = driver
        self._metrics = metrics
        self.path = path
        self._handshake = frozenset(version.encode() for version in driver.image.handshake_versions)
        self._stateless = frozenset(version.encode() for version in driver.image.stateless_versions)
        self._sends_notifications = sends_notifications(driver)

    def handle_post(self, request: HttpRequest, body: bytes) -> Answer:
        """Handle the body of a POST; return the reply if it is ready, else the pending response."""
        budget, name = self.driver.settings.budget, request.principal.name
        account = MemoryAccount(budget, name)
        if len(body) <= SMALL:
            # Most bodies: they are charged only once it is certain that the request stays for longer.
            account.due = WAITING_COST + len(body) * SMALL_FACTOR
        else:
            refused = refuse_values(body)
            if refused is not None:
                return refused
            if not account.charge(cost_of(body)):
                return no_room()
            account.due = WAITING_COST
        answer: Reply | PostResponse | None = None
        try:
            answer = self._receive(request, body, account)
        finally:
            # A response that waits holds the account until it is answered.
            if type(answer) is not PostResponse:
                account.clear()
        if isinstance(answer, tuple) and len(answer[2]) > CHUNK_SIZE:
            return LongReply(answer, budget.account(name))
        return answer

    def _receive(self, request: HttpRequest, body: bytes, account: MemoryAccount) -> Reply | PostResponse:
        try:
            message = parse(body)
        except ParseError as problem:
            return error(400, PARSE_ERROR, f"Parse error: {problem}")
        if self._metrics is not None:
            self._metrics.set_method(message)
        if self.driver.settings.authenticator is not None:
            denied = scope_refusal(self.driver, message, request.principal, self.path)
            if denied is not None:
                return denied
        exceeded = self.driver.quota_refusal(message, request.principal, request.client, request.headers.pairs)
        if exceeded is not None:
            return exceeded
        return POSTS[kind_of_post(message, request, self._handshake)](self, message, request, account)

    def _receive_stateless(self, message: Json, request: HttpRequest, account: MemoryAccount) -> Reply | PostResponse:
        principal = request.principal
        session = Session(self.driver.image)
        session.principal, session.allows = principal.name, principal.allows
        if type(message) is dict and not describe_malformed(message):
            try:
                problem = header_mismatch(message, request.headers.fields, self.driver.image, principal.allows)
            except FileChangedError as changed:
                return error(200, INTERNAL_ERROR, f"Internal error: {changed}", message.get("id"))
            if problem:
                return error(400, HEADER_MISMATCH, f"Header mismatch: {problem}", message.get("id"))
        response = PostResponse(self.driver, session, request, None, account)
        answer = response.receive(message)
        if answer is response and session.listening:
            return self._listen(response, request)
        return answer

    def _listen(self, response: PostResponse, request: HttpRequest) -> Reply | PostResponse:
        """Keep a subscription open, if the client accepts events and may open another stream."""
        principal = request.principal
        # It was counted when it began to wait: it must not be refused because of itself.
        self.driver.remove_listener(response.session)
        full = self.driver.stream_refusal(response.session.principal)
        if request.headers.accepts_events and not full:
            self.driver.add_listener(response.session, FOREVER if principal.expires is None else principal.expires)
            response.lease = self.driver.lease(principal, response.end_listening, timed=False)
            return response
        response.end()
        if full:
            return refuse(503, full, RETRY)
        return refuse(406, "subscriptions need Accept: text/event-stream")

    def _refuse_version(self, message: Json, request: HttpRequest, _: MemoryAccount) -> Reply:
        """Refuse a version header of no handshake era, without the `_meta` of a stateless request."""
        if request.headers.session_id is not None and self._find_session(request) is not None:
            return refuse(400, "Invalid request: MCP-Protocol-Version does not match the session")
        if type(message) is dict and "method" in message:
            return missing_meta(message)
        return refuse(400, "Invalid request: the body must be one request or one notification")

    def _find_session(self, request: HttpRequest) -> HttpConversation | None:
        """Return the session that the request names, None if its principal has no such session."""
        token, principal = request.headers.session_id, request.principal
        conversation = None if token is None else self.driver.sessions.find(token, principal.name)
        if conversation is not None:
            # Of the token of this request: it need not be the one that began the session.
            conversation.session.allows = principal.allows
        return conversation

    def _initialize(self, message: Json, request: HttpRequest, _: MemoryAccount) -> Reply | PostResponse:
        """Initialize a session and return its id, which contains all of its state; a refused one has no id."""
        session = Session(self.driver.image)
        session.principal = request.principal.name
        response = PostResponse(self.driver, session, request)
        answer = response.receive(message)
        if not isinstance(answer, tuple) or session.wire is None or response.code:
            return answer
        status, headers, body = answer
        return status, [*headers, (SESSION_HEADER, self.driver.sessions.mint(session).encode())], body

    def _refuse_without_session(self, message: Json, _: HttpRequest, __: MemoryAccount) -> Reply:
        """Refuse a message of the handshake era outside of a session, before anything is allocated."""
        if type(message) is dict and message.get("method") in STATELESS_ONLY:
            return missing_meta(message)
        return refuse(400, f"{MISSING_SESSION}; call initialize first")

    def _receive_in_session(self, message: Json, request: HttpRequest, account: MemoryAccount) -> Reply | PostResponse:
        conversation = self._find_session(request)
        if conversation is None:
            return session_not_found(message)
        session = conversation.session
        response = PostResponse(self.driver, session, request, conversation, account)
        if type(message) is list:
            reason = batch_refusal(session, message) or batch_item_refusal(message)
            if reason:
                return refuse(400, f"Invalid request: {reason}")
            answer = response.receive_batch(message)
        else:
            # It is received here, too, which does no harm: only the process that has the request acts on it.
            if self.driver.events is not None and is_for_other_process(message, session):
                self.driver.events.publish(PublishChange(MESSAGE, f"{conversation.name} {encode(message).decode()}"))
            answer = response.receive(message)
        self.driver.sessions.retain(conversation)
        return answer

    async def get(self, request: HttpRequest, _: Receive) -> Reply | GetStream:
        """Open an event stream, or resume the one that the client lost."""
        refused = self._refuse_get(request)
        if refused is not None:
            return refused
        conversation, last = self._find_session(request), request.headers.fields.get(b"last-event-id")
        if conversation is None:
            return session_not_found(None)
        resumed = None if last is None else self.driver.sessions.resume(conversation, last)
        # Without notifications a stream can only be resumed.
        if resumed is None and not self._sends_notifications:
            return refuse(404, "Invalid request: unknown Last-Event-ID")
        if resumed is None:
            return self._open_stream(conversation, request.principal)
        return GetStream(self, request.principal, conversation, *resumed)

    def _refuse_get(self, request: HttpRequest) -> Reply | None:
        """Return the refusal of a GET by its headers."""
        headers = request.headers
        if headers.version is not None and headers.version not in self._handshake:
            return self._refuse_era(request)
        if not self._sends_notifications and b"last-event-id" not in headers.fields:
            return refuse(405, "this server does not offer the GET event stream", ALLOW)
        if headers.session_id is None:
            return refuse(400, MISSING_SESSION)
        if not headers.accepts_events:
            return refuse(406, "GET needs Accept: text/event-stream")
        full = self.driver.stream_refusal(request.principal.name)
        return refuse(503, full, RETRY) if full else None

    def _refuse_era(self, request: HttpRequest) -> Reply:
        """Refuse a method that the protocol version in the headers does not have."""
        if request.headers.version in self._stateless:
            return refuse(405, "this protocol version has POST only", [(b"allow", b"POST, OPTIONS")])
        return refuse(400, "MCP-Protocol-Version is not supported")

    def _open_stream(self, conversation: HttpConversation, principal: Principal) -> GetStream:
        """Open a new stream; discard the events of streams that the client has left."""
        sessions = self.driver.sessions
        # A client that opens a new stream without Last-Event-ID does not resume an old one any more.
        for stream in [stream for stream in conversation.streams if stream.response is None]:
            conversation.streams.remove(stream)
            sessions.discard_events(stream)
        if len(conversation.streams) >= MAX_STREAMS:
            conversation.streams.pop(0).end()
        stream = sessions.open_stream(conversation)
        conversation.streams.append(stream)
        response = GetStream(self, principal, conversation, stream, 0)
        if conversation.session.handshake_wire().version >= PRIMED_SINCE and stream.name:
            stream.send_retry(self.driver.settings.retry_ms)
        else:
            response.response.write(COMMENT)  # the client sees at once that the stream is open
        sessions.retain(conversation)
        return response

    def stream_closed(self, conversation: HttpConversation, stream: EventStream) -> None:
        """Remove a stream without a response, if it has ended or cannot be resumed."""
        if stream in conversation.streams and (stream.ended or not stream.name):
            conversation.streams.remove(stream)
        self.driver.sessions.retain(conversation)

    async def delete(self, request: HttpRequest, _: Receive) -> Reply:
        """End a session, and stop its handlers."""
        headers = request.headers
        if headers.version is not None and headers.version not in self._handshake:
            return self._refuse_era(request)
        if headers.session_id is None:
            return refuse(400, MISSING_SESSION)
        conversation = self._find_session(request)
        if conversation is None:
            return session_not_found(None)
        for identifier in list(conversation.session.running):
            self.driver.perform(conversation.session.drop(identifier))
        self.driver.publish(PublishChange(SESSION, self.driver.sessions.end(conversation)))
        return 204, PROTECTED, b""


STATELESS, UNKNOWN_VERSION, INITIALIZE, IN_SESSION, WITHOUT_SESSION = range(5)
Post = Callable[[Endpoint, Json, HttpRequest, MemoryAccount], Reply | PostResponse]
POSTS: dict[int, Post] = {
    STATELESS: Endpoint._receive_stateless,
    UNKNOWN_VERSION: Endpoint._refuse_version,
    INITIALIZE: Endpoint._initialize,
    IN_SESSION: Endpoint._receive_in_session,
    WITHOUT_SESSION: Endpoint._refuse_without_session,
}


def kind_of_post(message: Json, request: HttpRequest, handshake_versions: Collection[bytes]) -> int:
    """Return what a POST is: the first kind that fits.

    A version header of another era means a stateless request that lacks its `_meta`.  An `initialize` begins a new
    session whatever its headers say; a session id names a session of any process.
    """
    if is_stateless(message):
        return STATELESS
    headers = request.headers
    if headers.version is not None and headers.version not in handshake_versions:
        return UNKNOWN_VERSION
    if type(message) is dict and message.get("method") == "initialize" and "id" in message:
        return INITIALIZE
    return WITHOUT_SESSION if headers.session_id is None else IN_SESSION


def scope_refusal(driver: HttpDriver, message: Json, principal: Principal, path: str) -> Reply | None:
    """Return the refusal of a message that the principal's token does not grant."""
    authenticator = driver.settings.authenticator
    for item in message if type(message) is list else [message]:
        params = item.get("params") if type(item) is dict else None
        name = params.get("name") if type(params) is dict else None
        method = item.get("method") if type(item) is dict else None
        if authenticator is not None and type(method) is str and type(name) is str:
            operations = operations_called(item) if "operations" in driver.image.index else []
            for each in (name, *operations):
                denied = authenticator.permit(principal, method, each, path)
                if denied is not None:
                    return denied.reply
    return None


def batch_item_refusal(messages: list[Json]) -> str:
    """Return why one of the messages must not be in a batch, or an empty string."""
    if any(map(is_stateless, messages)):
        return "a stateless request must not be in a batch"
    has_initialize = any(type(item) is dict and item.get("method") == "initialize" for item in messages)
    return "initialize must not be in a batch" if has_initialize else ""


def is_for_other_process(message: Json, session: Session) -> bool:
    """Tell whether a message belongs to a request of another process: it answers or cancels one that is not here."""
    if type(message) is not dict:
        return False
    if "method" not in message:
        identifier = message.get("id")
        return type(identifier) is str and identifier not in session.asked
    params = message.get("params")
    identifier = params.get("requestId") if type(params) is dict else None
    if message["method"] != "notifications/cancelled" or (type(identifier) is not str and type(identifier) is not int):
        return False
    return identifier not in session.running


def missing_meta(message: dict[str, Json]) -> Reply:
    """Return the refusal of a stateless request that does not name its revision."""
    problem = describe_malformed(message)
    if problem:
        return error(400, INVALID_REQUEST, f"Invalid request: {problem}", message.get("id"))
    if "id" not in message:
        return accepted()
    return error(400, INVALID_PARAMS, f"Invalid params: `_meta` must have `{VERSION_KEY}`", message["id"])


def session_not_found(message: Json) -> Reply:
    """Return the refusal of an unknown session id; the status tells the client to begin a new session."""
    identifier = message.get("id") if type(message) is dict else None
    return error(404, INVALID_REQUEST, "Session not found: begin a new one with initialize", identifier)


def sends_notifications(driver: HttpDriver) -> bool:
    """Tell whether the server sends notifications without a request; otherwise it offers no GET stream."""
    for version in driver.image.handshake_versions:
        for capability in driver.image.revision(version).capabilities().values():
            if type(capability) is dict and (
                capability.get("listChanged") is True or capability.get("subscribe") is True
            ):
                return True
    return False
