"""One server under one path: what its POST, GET and DELETE mean, decided by the body before the headers.

`_meta` names a protocol version      stateless: headers must say the same, nothing else is looked at
a version header of no handshake era  stateless, and lacking its `_meta`; of a session: a plain refusal
initialize                            a new session
a session's id                        that session, wherever it was begun
nothing of these                      refused; nothing was allocated until here
"""

from __future__ import annotations

from mcpc_runtime.http.bodies import no_room, refuse_values
from mcpc_runtime.http.ladder import is_stateless, mismatch
from mcpc_runtime.http.memory_budget import SMALL, SMALL_FACTOR, WAITING_COST, cost_of
from mcpc_runtime.http.posts import PRIMED_SINCE, Post
from mcpc_runtime.http.replies import EVENTS, METHODS, PROTECTED, RETRY, accepted, error, refuse
from mcpc_runtime.http.stage import FOREVER, MESSAGE, SESSION
from mcpc_runtime.http.streams import COMMENT, Pipe, stream
from mcpc_runtime.opened import ChangedError
from mcpc_runtime.protocol.batches import refusal
from mcpc_runtime.protocol.effects import Publish
from mcpc_runtime.protocol.facts import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    VERSION_KEY,
)
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.protocol.session import STATELESS_ONLY, Session, misshapen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.replies import Client, Pairs, Receive, Reply
    from mcpc_runtime.http.replies import Send as SendMessage
    from mcpc_runtime.http.said import Said
    from mcpc_runtime.http.sessions import Conversation
    from mcpc_runtime.http.stage import Stage
    from mcpc_runtime.http.streams import Feed
    from mcpc_runtime.protocol.jsonrpc import Json

SESSION_HEADER = b"mcp-session-id"
ALLOW: Pairs = [(b"allow", METHODS)]
MOST_STREAMS = 4
"""Of one session by GET; the oldest ends when there is one more."""


class Anybody:
    """On whose behalf a request is where nobody has to say."""

    name = ""
    allows = None
    scopes = None
    expires = None


class Sender:
    """Who sent a message: on whose behalf, from which address, and the account of what it makes the server keep."""

    __slots__ = ("account", "client", "principal")

    def __init__(self, principal: Any, client: Client, account: Account) -> None:
        self.principal = principal
        self.client = client
        self.account = account


class Reading:
    """A stream that a client asked for by GET."""

    __slots__ = ("_endpoint", "conversation", "feed", "pipe", "principal")

    def __init__(self, endpoint: Endpoint, conversation: Conversation, feed: Feed, after: int) -> None:
        self._endpoint = endpoint
        self.principal: Any = Anybody
        self.conversation = conversation
        self.feed = feed
        self.pipe = Pipe(endpoint.stage.settings.budget.account(conversation.session.principal))
        feed.attach(self.pipe, after)

    async def serve(self, receive: Receive, send: SendMessage, more: Pairs) -> None:
        """Send what is said on it, to its end."""
        stage, principal = self._endpoint.stage, self.conversation.session.principal
        stage.begin_stream(principal)
        lease = stage.lease(self.principal, self.feed.end)
        try:
            await stream(self.pipe, receive, send, EVENTS + more, stage.settings)
        finally:
            lease.cancel()
            stage.end_stream(principal)
            if self.feed.pipe is self.pipe:
                self.feed.pipe = None
            self._endpoint.left(self.conversation, self.feed)


class Endpoint:
    """One server under one path."""

    def __init__(self, stage: Stage, path: str, metrics: Any = None) -> None:
        self.stage = stage
        self._metrics = metrics
        self.path = path
        self._handshake = frozenset(version.encode() for version in stage.image.handshake_versions)
        self._stateless = frozenset(version.encode() for version in stage.image.stateless_versions)
        self._pushes = pushes(stage)

    def post(self, said: Said, body: bytes, principal: Any = Anybody, client: Client = None) -> Reply | Post:
        """Take the body of a POST; return the answer if it is ready, else what waits for it."""
        account = self.stage.settings.budget.account(principal.name)
        if len(body) <= SMALL:
            account.due = WAITING_COST + len(body) * SMALL_FACTOR
        else:
            refused = refuse_values(body)
            if refused is not None:
                return refused
            if not account.charge(cost_of(body)):
                return no_room()
            account.due = WAITING_COST
        made: Reply | Post | None = None
        try:
            made = self._post(said, body, Sender(principal, client, account))
        finally:
            if type(made) is not Post:
                account.clear()
        return made

    def _post(self, said: Said, body: bytes, sender: Sender) -> Reply | Post:
        principal = sender.principal
        try:
            message = parse(body)
        except ParseError as problem:
            return error(400, PARSE_ERROR, f"Parse error: {problem}")
        if self._metrics is not None:
            self._metrics.asks(message)
        if self.stage.settings.authenticator is not None:
            forbids = forbidden(self.stage, message, principal, self.path)
            if forbids is not None:
                return forbids
        if is_stateless(message):
            return self._stateless_post(message, said, sender)
        return self._handshake_post(message, said, sender)

    def _stateless_post(self, message: Json, said: Said, sender: Sender) -> Reply | Post:
        principal = sender.principal
        session = Session(self.stage.image)
        session.principal, session.allows = principal.name, principal.allows
        if type(message) is dict and not misshapen(message):
            try:
                problem = mismatch(message, said.fields, self.stage.image, principal.allows)
            except ChangedError as changed:
                return error(200, INTERNAL_ERROR, f"Internal error: {changed}", message.get("id"))
            if problem:
                return error(400, HEADER_MISMATCH, f"Header mismatch: {problem}", message.get("id"))
        post = Post(self.stage, session, said)
        post.client, post.account = sender.client, sender.account
        made = post.receive(message)
        if made is post and session.listening:
            return self._listen(post, said, principal)
        return made

    def _listen(self, post: Post, said: Said, principal: Any) -> Reply | Post:
        """Let a subscription stay open, if the client takes events and there is room for one more."""
        self.stage.listen_no_more(post.session)
        full = self.stage.no_stream(post.session.principal)
        if said.streams and not full:
            self.stage.listen(post.session, FOREVER if principal.expires is None else principal.expires)
            post.lease = self.stage.lease(principal, post.end_listening, timed=False)
            return post
        post.leave()
        if full:
            return refuse(503, full, RETRY)
        return refuse(406, "subscriptions are answered by text/event-stream only")

    def _handshake_post(self, message: Json, said: Said, sender: Sender) -> Reply | Post:
        principal = sender.principal
        method = message.get("method") if type(message) is dict else None
        if said.version is not None and said.version not in self._handshake:
            return self._odd_version(message, said, principal)
        if type(message) is dict and method == "initialize" and "id" in message:
            return self._initialize(message, said, principal)
        if said.session is None:
            if method in STATELESS_ONLY and type(message) is dict:
                return without_meta(message)
            return refuse(400, "Invalid request: there is no Mcp-Session-Id; a session begins with initialize")
        conversation = self._find(said, principal)
        if conversation is None:
            return no_session(message)
        return self._converse(message, said, conversation, sender)

    def _odd_version(self, message: Json, said: Said, principal: Any) -> Reply:
        """Refuse what is of no handshake era, and lacks what the other one needs."""
        if said.session is not None and self._find(said, principal) is not None:
            return refuse(400, "Invalid request: MCP-Protocol-Version is none of this session")
        if type(message) is dict and "method" in message:
            return without_meta(message)
        return refuse(400, "Invalid request: the body is one request or one notification")

    def _find(self, said: Said, principal: Any) -> Conversation | None:
        found = None if said.session is None else self.stage.sessions.find(said.session, principal.name)
        if found is not None:
            found.session.allows = principal.allows
        return found

    def _initialize(self, message: dict[str, Json], said: Said, principal: Any) -> Reply | Post:
        """Agree on a session; its id is given out only with an agreement, and nothing of it is kept here."""
        session = Session(self.stage.image)
        session.principal = principal.name
        post = Post(self.stage, session, said)
        made = post.receive(message)
        if made is post or session.wire is None or post.code:
            return made
        status, headers, body = made  # type: ignore[misc]
        return status, [*headers, (SESSION_HEADER, self.stage.sessions.mint(session).encode())], body

    def _converse(self, message: Json, said: Said, conversation: Conversation, sender: Sender) -> Reply | Post:
        session = conversation.session
        post = Post(self.stage, session, said, conversation)
        post.client, post.account = sender.client, sender.account
        if type(message) is list:
            reason = refusal(session, message) or alone(message)
            if reason:
                return refuse(400, f"Invalid request: {reason}")
            made = post.receive_batch(message)
        else:
            if self.stage.events is not None and is_for_another(message, session):
                self.stage.events.publish(Publish(MESSAGE, f"{conversation.name} {encode(message).decode()}"))
            made = post.receive(message)
        self.stage.sessions.keep(conversation)
        return made

    def get(self, said: Said, principal: Any = Anybody) -> Reply | Reading:
        """Return the stream a client asks for: a new one, or the rest of one it lost."""
        refused = self._refuse_get(said, principal.name)
        if refused is not None:
            return refused
        conversation, last = self._find(said, principal), said.fields.get(b"last-event-id")
        if conversation is None:
            return no_session(None)
        found = None if last is None else self.stage.sessions.resume(conversation, last)
        if found is None and not self._pushes:
            return refuse(404, "Invalid request: nothing is known of this Last-Event-ID")
        reading = self._open(conversation) if found is None else Reading(self, conversation, *found)
        reading.principal = principal
        return reading

    def _refuse_get(self, said: Said, principal: str) -> Reply | None:
        """Return the refusal of a GET by its head."""
        if said.version is not None and said.version not in self._handshake:
            return self._no_get(said)
        if not self._pushes and b"last-event-id" not in said.fields:
            return refuse(405, "this server sends no messages over GET; use POST", ALLOW)
        if said.session is None:
            return refuse(400, "Invalid request: there is no Mcp-Session-Id")
        if not said.streams:
            return refuse(406, "a GET is answered by text/event-stream only")
        full = self.stage.no_stream(principal)
        return refuse(503, full, RETRY) if full else None

    def _no_get(self, said: Said) -> Reply:
        if said.version in self._stateless:
            return refuse(405, "this protocol version has POST only", [(b"allow", b"POST, OPTIONS")])
        return refuse(400, "MCP-Protocol-Version is none that this server speaks")

    def _open(self, conversation: Conversation) -> Reading:
        """Open a new stream; what was said on those that nobody reads any more is forgotten."""
        sessions = self.stage.sessions
        for feed in [feed for feed in conversation.streams if feed.pipe is None]:
            conversation.streams.remove(feed)
            sessions.drop(feed)
        if len(conversation.streams) >= MOST_STREAMS:
            conversation.streams.pop(0).end()
        feed = sessions.feed(conversation)
        conversation.streams.append(feed)
        reading = Reading(self, conversation, feed, 0)
        if conversation.session.handshake_wire().version >= PRIMED_SINCE and feed.name:
            feed.prime(self.stage.settings.retry_ms)
        else:
            reading.pipe.write(COMMENT)  # so that the client sees at once that it is heard
        sessions.keep(conversation)
        return reading

    def left(self, conversation: Conversation, feed: Feed) -> None:
        """Forget a stream that ended, or that nobody can come back to."""
        if feed in conversation.streams and (feed.ended or not feed.name):
            conversation.streams.remove(feed)
        self.stage.sessions.keep(conversation)

    def delete(self, said: Said, principal: Any = Anybody) -> Reply:
        """End a session, and all that runs for it."""
        if said.version is not None and said.version not in self._handshake:
            return self._no_get(said)
        if said.session is None:
            return refuse(400, "Invalid request: there is no Mcp-Session-Id")
        conversation = self._find(said, principal)
        if conversation is None:
            return no_session(None)
        for identifier in list(conversation.session.running):
            self.stage.perform(conversation.session.drop(identifier))
        self.stage.publish(Publish(SESSION, self.stage.sessions.end(conversation)))
        return 204, PROTECTED, b""


def forbidden(stage: Stage, message: Json, principal: Any, path: str) -> Reply | None:
    """Return the refusal of what a principal's token does not grant."""
    for one in message if type(message) is list else [message]:
        params = one.get("params") if type(one) is dict else None
        name = params.get("name") if type(params) is dict else None
        if type(one) is dict and type(name) is str:
            found = stage.settings.authenticator.permit(principal, one.get("method"), name, path)
            if found is not None:
                return found.status, [*PROTECTED, *found.headers], found.body
    return None


def alone(messages: list[Json]) -> str:
    """Return what of an array's messages has no place in one, or nothing."""
    if any(map(is_stateless, messages)):
        return "a stateless request is no part of a batch"
    begins = any(type(one) is dict and one.get("method") == "initialize" for one in messages)
    return "initialize is no part of a batch" if begins else ""


def is_for_another(message: Json, session: Session) -> bool:
    """Tell whether a message is meant for another process: one that asked what it answers, or runs what it cancels."""
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


def without_meta(message: dict[str, Json]) -> Reply:
    """Return the answer to a stateless request that does not say which revision it speaks."""
    problem = misshapen(message)
    if problem:
        return error(400, INVALID_REQUEST, f"Invalid request: {problem}", message.get("id"))
    if "id" not in message:
        return accepted()
    words = f"Invalid params: `_meta` must have `{VERSION_KEY}`"
    return error(400, INVALID_PARAMS, words, message["id"])


def no_session(message: Json) -> Reply:
    """Return the answer to who names a session that there is not; a client begins a new one then."""
    identifier = message.get("id") if type(message) is dict else None
    return error(404, INVALID_REQUEST, "Session not found: begin a new one with initialize", identifier)


def pushes(stage: Stage) -> bool:
    """Tell whether this server ever says anything unasked: then only is a stream without a request worth keeping."""
    for version in stage.image.handshake_versions:
        for one in stage.image.wire(version).capabilities().values():
            if type(one) is dict and (one.get("listChanged") is True or one.get("subscribe") is True):
                return True
    return False
