"""The response to one POST: JSON, or a stream of server-sent events.

Which one is decided late.  A result that is ready soon, and before any other message, is JSON with the status of its
error code; otherwise the response becomes a stream.  A client that disconnects cancels a stateless request; in the
handshake era it may reconnect and resume (2025-11-25, Resumability).
"""

from __future__ import annotations

from asyncio import Future, Task, get_running_loop
from collections.abc import Awaitable, Callable

from mcpc_runtime.http.driver import HttpDriver, Lease, receive_effects
from mcpc_runtime.http.memory_budget import WAITING_COST, MemoryAccount
from mcpc_runtime.http.replies import (
    CHUNK_SIZE,
    EVENTS,
    JSON,
    STATUS,
    STATUS_BEFORE,
    Answer,
    Pairs,
    Receive,
    Reply,
    Send,
    accepted,
    remove_null_id,
    respond,
)
from mcpc_runtime.http.replies import Send as AsgiSend
from mcpc_runtime.http.request import FULL, HttpRequest, no_room
from mcpc_runtime.http.sessions import HttpConversation
from mcpc_runtime.http.streams import EventStream, SseResponse, message_event, wait_for_disconnect
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Effect
from mcpc_runtime.protocol.jsonrpc import Json, error_line
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.subscriptions import close_listening

UNWATCHED_SECONDS = 0.05
"""For so long the connection is not watched: most answers are ready sooner."""
SHORT_NAME_LENGTH = 8
"""Characters of a session's name in the call log."""
PRIMED_SINCE = "2025-11-25"
"""From this revision on a stream begins with an event without a message, which earlier clients do not expect."""


class PostResponse:
    """The response to the JSON-RPC requests of one POST, and their `Request.origin`.

    `unanswered`: the number of requests that wait.  `lines`: the answers, unless the response is a `stream`.
    `account`: charged for the body until it is answered.  `output`: charged for answers that are not sent yet.
    `takes_events`, `takes_only_events`: whether the client accepts a stream, and whether it accepts nothing else.
    `gone`: the client has disconnected.
    """

    __slots__ = (
        "_driver",
        "_is_batch",
        "_request",
        "_waiter",
        "account",
        "code",
        "conversation",
        "gone",
        "identifiers",
        "lease",
        "lines",
        "output",
        "response",
        "session",
        "stream",
        "takes_events",
        "takes_only_events",
        "unanswered",
    )  # fmt: skip

    def __init__(
        self,
        driver: HttpDriver,
        session: Session,
        request: HttpRequest,
        conversation: HttpConversation | None = None,
        account: MemoryAccount | None = None,
    ) -> None:
        self._driver = driver
        self._request = request
        self._waiter: Future[None] | None = None
        self._is_batch = False
        self.takes_events = request.headers.accepts_events
        self.takes_only_events = request.headers.only_events
        self.session = session
        self.conversation = conversation
        self.code = self.unanswered = 0
        self.lines: list[bytes] = []
        self.identifiers: list[str | int] = []
        self.stream: EventStream | None = None
        self.response: SseResponse | None = None
        self.lease: Lease | None = None
        self.gone = False
        self.account = account
        self.output: MemoryAccount | None = None

    def header(self, name: bytes) -> bytes:
        """Return a header of the request, for handlers that act for its user."""
        return self._request.headers.fields.get(name, b"")

    def receive(self, message: Json) -> Reply | PostResponse:
        """Receive a message; return the reply if it is ready, else this."""
        effects = self._effects_of(message)
        if len(effects) == 1 and type(effects[0]) is SendResponse:
            self.code = effects[0].code
            self.lines.append(effects[0].data)
            return self.reply()
        return self._perform(effects)

    def receive_batch(self, messages: list[Json]) -> Reply | PostResponse:
        """Receive a batch, whose answers are one array (2025-03-26)."""
        self._is_batch = True
        pending: list[Effect] = []
        for message in messages:
            effects = self._effects_of(message)
            errors = [effect for effect in effects if type(effect) is SendResponse and effect.request is None]
            self.lines += [effect.data for effect in errors]
            is_request = type(message) is dict and "method" in message and "id" in message
            # An error without a request is the answer to this message, for which nothing waits then.
            self.unanswered -= len(errors) if is_request else 0
            pending += [effect for effect in effects if effect not in errors]
        return self._perform(pending)

    def _effects_of(self, message: Json) -> list[Effect]:
        """Return the effects of a message; a request is counted, and this becomes its origin."""
        is_request = type(message) is dict and "method" in message and "id" in message
        if type(message) is dict and is_request:
            identifier = message["id"]
            if type(identifier) is str or type(identifier) is int:
                self.identifiers.append(identifier)
            self.unanswered += 1
        return receive_effects(self.session, message, self)

    @property
    def http_request(self) -> HttpRequest:
        """The HTTP request that contained the requests."""
        return self._request

    def came_from(self) -> dict[str, Json]:
        """Return where the requests came from, for the call log: the client's address, the session's short name."""
        members: dict[str, Json] = {}
        if self._request.client:
            members["client"] = self._driver.address(self._request.client, self._request.headers.pairs)
        if self.conversation is not None:
            members["session"] = self.conversation.name[:SHORT_NAME_LENGTH]
        return members

    def _perform(self, effects: list[Effect]) -> Reply | PostResponse:
        """Perform the effects of requests; return the reply if it is ready, else this.

        If the memory budget has no room for requests that wait, none of them is begun.
        """
        if self.unanswered > 0 and self.account is not None and not self.account.admit():
            for waiting in self.identifiers:
                self.session.drop(waiting)
            return no_room(self.identifiers[0] if self.identifiers and not self._is_batch else None)
        self._driver.perform(effects)
        if self.unanswered:
            self._register()
        elif self.stream is None:
            if self.output is not None:
                self.output.clear()
            return self.reply()
        return self

    def _register(self) -> None:
        """Add this to the open requests, and charge what it takes while it waits."""
        if self.account is not None:
            self.account.charge_due()
        self._driver.posts[self] = None
        if self.session.listening:
            # The endpoint sets the expiry of the token, or refuses the subscription.
            self._driver.add_listener(self.session, float("inf"))
        if self.conversation is not None:
            self.conversation.posts[self] = None

    def reply(self) -> Reply:
        """Return the reply that has the answers."""
        if not self.lines:
            return accepted()
        line = self.lines[0]
        if self._is_batch:
            line = b"[%b]" % b",".join([answer.rstrip(b"\n") for answer in self.lines])
        table = STATUS if self.conversation is None else STATUS_BEFORE
        # A batch may have results and errors at once.
        status = 200 if self._is_batch else table.get(self.code, 200)
        if status == 200 and self.takes_only_events:
            return 200, EVENTS, b"".join([message_event(answer) for answer in self.lines])
        return status, JSON, remove_null_id(line) if self.code else line

    def respond(self, effect: SendResponse) -> None:
        """Add the answer to a request; drop it if the client has disconnected and there is no stream to resume."""
        if self.stream is not None:
            self.stream.send(effect.data)
        elif not self.gone:
            self.code = effect.code
            self.lines.append(effect.data if len(effect.data) <= WAITING_COST else self._charge_output(effect))
        self.release()

    def _charge_output(self, effect: SendResponse) -> bytes:
        """Return a large answer, charged until it is sent; an error instead if the memory budget has no room for it."""
        self.output = self.output or self._driver.settings.budget.account(self.session.principal)
        if self.output.charge(2 * len(effect.data)):  # it is copied into a batch or an event
            return effect.data
        self.code = INTERNAL_ERROR
        identifier = None if effect.request is None else effect.request.identifier
        return error_line(identifier, INTERNAL_ERROR, f"Internal error: {FULL}")

    def release(self) -> None:
        """Count a request as answered or cancelled; end the response after the last one."""
        self.unanswered -= 1
        if self.unanswered > 0:
            return
        self._unregister()
        if self.stream is not None:
            self.stream.end()
        self._wake()

    def _unregister(self) -> None:
        """Remove this from the open requests, and charge nothing for it any more."""
        if self.account is not None:
            self.account.clear()
        self._driver.posts.pop(self, None)
        if self._driver.listening:
            self._driver.remove_listener(self.session)
        if self.lease is not None:
            self.lease.cancel()
            self.lease = None  # it refers to this response: a cycle would be freed only later
        if self.conversation is not None:
            self.conversation.posts.pop(self, None)
            self._driver.sessions.retain(self.conversation)

    def send(self, line: bytes) -> None:
        """Send a message before the answer, on a stream if the client accepts one."""
        if self.stream is None and self.takes_events and not self.gone:
            self._begin_stream()
        if self.stream is not None:
            self.stream.send(line)
        elif self.conversation is not None:
            self.conversation.send(line)

    def close_stream(self, seconds: float) -> None:
        """Close the stream so that the client reconnects for the rest, if its revision allows that."""
        is_lost = self.gone and self.stream is None
        if not self._is_primed or not self.takes_events or self.unanswered <= 0 or is_lost:
            return
        if self.stream is None:
            self._begin_stream()
        if self.stream is not None and self.stream.name:
            self.stream.send_retry(int(max(seconds, 0) * 1000))
            self.stream.close_response()

    @property
    def _is_primed(self) -> bool:
        return self.conversation is not None and self.session.handshake_wire().version >= PRIMED_SINCE

    def _begin_stream(self) -> None:
        """Make the response a stream, and send what is ready."""
        conversation, sessions = self.conversation, self._driver.sessions
        stream = self.stream = EventStream() if conversation is None else sessions.open_stream(conversation)
        stream.response = self.response = SseResponse(self._driver.settings.budget.account(self.session.principal))
        if self._is_primed and stream.name:
            stream.send_retry(self._driver.settings.retry_ms)
        for line in self.lines:
            stream.send(line)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def serve(self, receive: Receive, send: AsgiSend, more: Pairs) -> Reply | None:
        """Return the reply when it is ready, or send it here, with `more` headers."""
        watcher: Task[None] | None = None
        loop, settings = get_running_loop(), self._driver.settings
        try:
            # A task that watches the connection costs more than most answers.
            if await self._wait(UNWATCHED_SECONDS):
                watcher = loop.create_task(wait_for_disconnect(receive, self._disconnected))
                if await self._wait(settings.decide_seconds if self.takes_events else None):
                    self._begin_stream()
            if self.gone:
                return None
            if self.response is None:
                status, headers, body = reply = self.reply()
                if len(body) <= CHUNK_SIZE:
                    return reply
                await respond(send, (status, headers + more, body))  # it is charged until it is sent
                return None
            watcher = watcher or loop.create_task(wait_for_disconnect(receive, self._disconnected))
            await self.response.pump(send, EVENTS + more, settings)
        finally:
            if watcher is not None:
                watcher.cancel()
            self.end()
        return None

    async def _wait(self, seconds: float | None) -> bool:
        """Wait for the answer, a stream, or a disconnect; return True if there was none of them in time."""
        if self.unanswered > 0 and self.stream is None and not self.gone:
            loop = get_running_loop()
            self._waiter = loop.create_future()
            timer = None if seconds is None else loop.call_later(seconds, self._wake)
            try:
                await self._waiter
            finally:
                self._waiter = None
                if timer is not None:
                    timer.cancel()
        return self.unanswered > 0 and self.stream is None and not self.gone

    def _disconnected(self) -> None:
        """Handle that the client has disconnected."""
        self.gone = True
        if self.response is not None:
            self.response.abandon()
        self._wake()

    def end(self) -> None:
        """End the response; stop the handlers whose results no client can receive."""
        if self.stream is not None and self.stream.response is self.response:
            self.stream.response = None
        if self.response is not None:
            self.response.abandon()
        if self.output is not None:
            self.output.clear()
        if self.unanswered <= 0:
            return
        self.gone = True
        if self.conversation is None:
            # Of the stateless era: in the other one the client may come back for the answers.
            self._stop_handlers()
            self._unregister()

    def _stop_handlers(self) -> None:
        """Stop the handlers of all requests."""
        for identifier in self.identifiers:
            self._driver.perform(self.session.drop(identifier))

    def end_listening(self) -> None:
        """End the subscriptions because the server ends them: send their results (2026-07-28, Subscriptions)."""
        self._driver.perform(close_listening(self.session, False))

    def abandon(self, reason: str) -> None:
        """Answer with an error, and stop the handlers."""
        running = [identifier for identifier in dict.fromkeys(self.identifiers) if identifier in self.session.running]
        for identifier in running:
            self.unanswered += 1  # stopping the handler releases the request
            self._driver.perform(self.session.drop(identifier))
            self.respond(SendResponse(error_line(identifier, INTERNAL_ERROR, reason), None, INTERNAL_ERROR))


class DeferredRequest:
    """A request that waits for its turn, or for the result of its authentication.

    `admit`: waits for both, and returns the refusal of a request that is not allowed.  `answer`: then handles the body.
    `account`: charged for the body meanwhile.
    """

    def __init__(
        self,
        admit: Callable[[], Awaitable[Reply | None]],
        answer: Callable[[], Answer],
        account: MemoryAccount,
        size: int,
    ) -> None:
        self._admit = admit
        self._answer = answer
        self._account = account
        self._size = WAITING_COST + size

    async def serve(self, receive: Receive, send: Send, more: Pairs) -> Reply | None:
        """Answer when the request may begin; refuse it if the memory budget has no room for it to wait."""
        has_room = self._account.charge(self._size)
        try:
            refused = await self._admit()  # in any case: introspection may have begun
        finally:
            self._account.clear()
        answer = refused or (self._answer() if has_room else no_room())
        return answer if isinstance(answer, tuple) else await answer.serve(receive, send, more)


class LongReply:
    """A reply that is sent in chunks; `account`: charged until it is sent."""

    __slots__ = ("_account", "reply")

    def __init__(self, reply: Reply, account: MemoryAccount) -> None:
        self.reply = reply
        self._account = account

    async def serve(self, _: Receive, send: Send, more: Pairs) -> Reply | None:
        """Send it; return a refusal if there is no room for it."""
        status, headers, body = self.reply
        try:
            if not self._account.charge(len(body)):
                return no_room()
            await respond(send, (status, headers + more, body))
        finally:
            self._account.clear()
        return None
