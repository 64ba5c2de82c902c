"""The transport of 2024-11-05: a stream by GET, on which everything is answered, and messages that come by POST.

A conversation is its stream: it ends with it, and no other process knows of it.
"""

from __future__ import annotations

import posix

from mcpc_runtime.http.bodies import no_room, refuse_values
from mcpc_runtime.http.endpoint import forbidden
from mcpc_runtime.http.memory_budget import WAITING_COST, cost_of
from mcpc_runtime.http.replies import EVENTS, accepted, error, refuse, without_null
from mcpc_runtime.http.stage import received
from mcpc_runtime.http.streams import Pipe, stream
from mcpc_runtime.protocol.effects import Send
from mcpc_runtime.protocol.facts import PARSE_ERROR
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
from mcpc_runtime.protocol.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.replies import Client, Pairs, Receive, Reply
    from mcpc_runtime.http.replies import Send as SendMessage
    from mcpc_runtime.http.stage import Stage
    from mcpc_runtime.protocol.jsonrpc import Json

STREAM_PATH, MESSAGES_PATH = "/sse", "/messages"
ASKED_BY = {STREAM_PATH: "GET", MESSAGES_PATH: "POST"}
"""By its path: the one method that each of the two is asked by."""
QUERY = b"session_id="


class Elder:
    """One conversation.  It is what the effects of its requests come back to (`Request.origin`).

    `principal`: whose token opened it; its stream ends with that.
    """

    __slots__ = ("_accounts", "_end", "_stage", "client", "pipe", "principal", "session", "token")

    def __init__(
        self, stage: Stage, session: Session, token: str, principal: Any, end: Callable[[Elder], None]
    ) -> None:
        self._stage = stage
        self.principal = principal
        self.client: Client = None
        self._end = end
        self.session = session
        self.token = token
        self.pipe = Pipe(stage.settings.budget.account(session.principal))
        self._accounts: dict[object, Account] = {}

    def receive(self, message: dict[str, Json], cost: int) -> bool:
        """Take a message; what it is answered comes on the stream.  False if there is no room for it to wait.

        `cost`: what it takes until it is answered, in bytes.
        """
        identifier = message.get("id") if "method" in message else None
        if type(identifier) in (str, int) and identifier not in self._accounts:
            account = self._stage.settings.budget.account(self.session.principal)
            if not account.charge(cost):
                return False
            self._accounts[identifier] = account
        effects = received(self.session, message, self)
        for effect in effects:
            if type(effect) is Send and effect.request is None:
                self.say(without_null(effect.data))
        self._stage.perform(effects)
        for waiting in self._accounts.keys() - self.session.running.keys():
            self.settled(waiting)
        return True

    def settled(self, identifier: object) -> None:
        """Charge a request no longer."""
        account = self._accounts.pop(identifier, None)
        if account is not None:
            account.clear()

    def answer(self, effect: Send) -> None:
        """Say the answer to a request."""
        self.say(effect.data)
        if effect.request is not None:
            self.settled(effect.request.identifier)

    def say(self, line: bytes) -> None:
        """Say something."""
        self.pipe.write(b"event: message\ndata: %b\n\n" % line.rstrip(b"\n"))

    def came_from(self) -> dict[str, Json]:
        """Return where the stream was opened from, for the call log."""
        return {"client": self._stage.address(self.client, ())} if self.client else {}

    def part(self, seconds: float) -> None:
        """Do nothing: this stream cannot be resumed."""

    def forget(self) -> None:
        """Do nothing: a request that was cancelled has no answer."""

    def end_streams(self) -> None:
        """End the conversation."""
        self.pipe.finish()

    async def serve(self, receive: Receive, send: SendMessage, more: Pairs) -> None:
        """Send what is said in the conversation, to its end."""
        self._stage.begin_stream(self.session.principal)
        lease = self._stage.lease(self.principal, self.pipe.finish)
        try:
            await stream(self.pipe, receive, send, EVENTS + more, self._stage.settings)
        finally:
            lease.cancel()
            self._stage.end_stream(self.session.principal)
            self._end(self)
            for identifier in list(self._accounts):
                self.settled(identifier)


class Elders:
    """The conversations of one server that came this way."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._known: dict[str, Elder] = {}

    def open(self, principal: Any, client: Client = None) -> Elder:
        """Begin a conversation."""
        session = Session(self._stage.image)
        session.principal, session.allows = principal.name, principal.allows
        session.wire = self._stage.image.wire(self._stage.image.handshake_versions[0])
        token = posix.urandom(16).hex()
        elder = self._known[token] = Elder(self._stage, session, token, principal, self.forget)
        elder.client = client
        self._stage.sessions.by_session[session] = elder
        elder.pipe.write(b"event: endpoint\ndata: %b?%b%b\n\n" % (MESSAGES_PATH.encode(), QUERY, token.encode()))
        return elder

    def forget(self, elder: Elder) -> None:
        """End a conversation whose stream has ended, and what runs for it."""
        del self._known[elder.token]
        del self._stage.sessions.by_session[elder.session]
        for identifier in list(elder.session.running):
            self._stage.perform(elder.session.drop(identifier))

    def post(self, query: bytes, body: bytes, principal: Any) -> Reply:
        """Take a message."""
        token = query.removeprefix(QUERY).decode("latin-1") if query.startswith(QUERY) else ""
        elder = self._known.get(token)
        if elder is None or elder.session.principal != principal.name:
            return refuse(404, "there is no such session: its stream has ended")
        refused = refuse_values(body)
        if refused is not None:
            return refused
        try:
            message = parse(body)
        except ParseError as problem:
            return error(400, PARSE_ERROR, f"Parse error: {problem}")
        if type(message) is not dict:
            return refuse(400, "this protocol version has no batches")
        settings = self._stage.settings
        forbids = settings.authenticator and forbidden(self._stage, message, principal, settings.path)
        if forbids:
            return forbids
        elder.session.allows = principal.allows
        return accepted() if elder.receive(message, WAITING_COST + cost_of(body)) else no_room(message.get("id"))
