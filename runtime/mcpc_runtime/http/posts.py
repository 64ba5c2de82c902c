"""One POST and its answer, as long as that is not ready: JSON with its status, or a stream.

Which one is decided late: an answer that comes before anything is said, and soon, is JSON with the status that its
error code has; what is said first, or takes longer, makes it a stream.  A client that leaves has cancelled a stateless
request; in the handshake era it has only left, and may come back for the rest (2025-11-25, Resumability).
"""

from __future__ import annotations

from asyncio import get_running_loop

from mcpc_runtime.http.bodies import FULL, no_room
from mcpc_runtime.http.memory_budget import WAITING_COST
from mcpc_runtime.http.replies import EVENTS, JSON, STATUS, STATUS_BEFORE, accepted, respond, without_null
from mcpc_runtime.http.stage import received
from mcpc_runtime.http.streams import Feed, Pipe, leaving
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Send
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.jsonrpc import error_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future, Task

    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.replies import Client, Pairs, Receive, Reply
    from mcpc_runtime.http.replies import Send as SendMessage
    from mcpc_runtime.http.said import Said
    from mcpc_runtime.http.sessions import Conversation
    from mcpc_runtime.http.stage import Lease, Stage
    from mcpc_runtime.protocol.effects import Effect
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.protocol.subscriptions import close_listening
else:
    close_listening = lazy("mcpc_runtime.protocol.subscriptions:close_listening")

QUICK_SECONDS = 0.05
"""So long nobody looks whether the client is still there."""
SHORT = 8
"""So much of a session's name is enough to find its calls in a log."""
PRIMED_SINCE = "2025-11-25"
"""Clients of earlier revisions do not expect an event without a message."""


class Post:
    """The requests of one POST: one, or those of a batch.  It is what their effects come back to (`Request.origin`).

    `left`: how many are not answered yet; `lines`: the answers, while it is not decided to be a stream (`feed`).
    `account`: of what its body takes until it is answered; `output`: of answers that are not sent yet.
    """

    __slots__ = ("_is_batch", "_said", "_stage", "_waiter", "account", "client", "code", "conversation", "feed",
                 "gone", "identifiers", "lease", "left", "lines", "output", "pipe", "session")  # fmt: skip

    def __init__(
        self,
        stage: Stage,
        session: Session,
        said: Said,
        conversation: Conversation | None = None,
        client: Client = None,
    ) -> None:
        self._stage = stage
        self._said = said
        self._waiter: Future[None] | None = None
        self._is_batch = False
        self.client = client
        self.session = session
        self.conversation = conversation
        self.code = self.left = 0
        self.lines: list[bytes] = []
        self.identifiers: list[str | int] = []
        self.feed: Feed | None = None
        self.pipe: Pipe | None = None
        self.lease: Lease | None = None
        self.gone = False
        self.account: Account | None = None
        self.output: Account | None = None

    def receive(self, message: Json) -> Reply | Post:
        """Take a message; return the answer if it is ready, else this."""
        effects = self._effects_of(message)
        if len(effects) == 1 and type(effects[0]) is Send:
            self.code = effects[0].code
            self.lines.append(effects[0].data)
            return self.reply()
        if self.left and not self._admit():
            return no_room(self.identifiers[0] if self.identifiers else None)
        self._stage.perform(effects)
        return self.settle()

    def _admit(self) -> bool:
        """See that there is room for a request that waits for its answer; without it nothing is kept or begun."""
        if self.account is None or self.account.admit():
            return True
        for identifier in self.identifiers:
            self.session.drop(identifier)
        return False

    def receive_batch(self, messages: list[Json]) -> Reply | Post:
        """Take the messages of an array, whose answers are one array (2025-03-26)."""
        self._is_batch = True
        found: list[Effect] = []
        for message in messages:
            effects = self._effects_of(message)
            loose = [effect for effect in effects if type(effect) is Send and effect.request is None]
            self.lines += [effect.data for effect in loose]
            is_request = type(message) is dict and "method" in message and "id" in message
            self.left -= len(loose) if is_request else 0
            found += [effect for effect in effects if effect not in loose]
        if self.left > 0 and not self._admit():
            return no_room()
        self._stage.perform(found)
        return self.settle()

    def _effects_of(self, message: Json) -> list[Effect]:
        """Return what a message asks for, with us as the place that its effects come back to."""
        is_request = type(message) is dict and "method" in message and "id" in message
        if type(message) is dict and is_request:
            identifier = message["id"]
            if type(identifier) is str or type(identifier) is int:
                self.identifiers.append(identifier)
            self.left += 1
        return received(self.session, message, self)

    def came_from(self) -> dict[str, Json]:
        """Return where the requests came from, for the call log: an address, and what stands for a session."""
        found: dict[str, Json] = {}
        if self.client:
            found["client"] = self._stage.address(self.client, self._said.pairs)
        if self.conversation is not None:
            found["session"] = self.conversation.name[:SHORT]
        return found

    def settle(self) -> Reply | Post:
        """Return the answer if it is ready, else this, from now on known as one that waits."""
        if not self.left and self.feed is None:
            if self.output is not None:
                self.output.clear()
            return self.reply()
        if self.left:
            if self.account is not None:
                self.account.settle()
            self._stage.posts[self] = None
            if self.session.listening:
                self._stage.listen(self.session, float("inf"))
            if self.conversation is not None:
                self.conversation.posts[self] = None
        return self

    def reply(self) -> Reply:
        """Return the answer."""
        if not self.lines:
            return accepted()
        line = self.lines[0]
        if self._is_batch:
            line = b"[%b]" % b",".join([one.rstrip(b"\n") for one in self.lines])
        table = STATUS if self.conversation is None else STATUS_BEFORE
        status = 200 if self._is_batch else table.get(self.code, 200)
        if status == 200 and self._said.only_streams:
            return 200, EVENTS, b"".join([b"event: message\ndata: %b\n\n" % one.rstrip(b"\n") for one in self.lines])
        return status, JSON, without_null(line) if self.code else line

    def answer(self, effect: Send) -> None:
        """Take the answer to one of the requests; without a client or a stream to send it on, it is not kept."""
        if self.gone and self.feed is None:
            self.forget()
            return
        if self.feed is None:
            self.code = effect.code
            self.lines.append(effect.data if len(effect.data) <= WAITING_COST else self._charged(effect))
        else:
            self.feed.put(effect.data)
        self.forget()

    def _charged(self, effect: Send) -> bytes:
        """Return a large answer, charged until it is sent; an error in its place if there is no room."""
        self.output = self.output or self._stage.settings.budget.account(self.session.principal)
        if self.output.charge(2 * len(effect.data)):  # it is joined with others, or put into an event
            return effect.data
        self.code = INTERNAL_ERROR
        identifier = None if effect.request is None else effect.request.identifier
        return error_line(identifier, INTERNAL_ERROR, f"Internal error: {FULL}")

    def forget(self) -> None:
        """Wait for one request less: it was answered, or cancelled."""
        self.left -= 1
        if self.left > 0:
            return
        self._close()
        if self.feed is not None:
            self.feed.end()
        self._wake()

    def _close(self) -> None:
        if self.account is not None:
            self.account.clear()
        self._stage.posts.pop(self, None)
        if self._stage.listening:
            self._stage.listen_no_more(self.session)
        if self.lease is not None:
            self.lease.cancel()
        if self.conversation is not None:
            self.conversation.posts.pop(self, None)
            self._stage.sessions.keep(self.conversation)

    def say(self, line: bytes) -> None:
        """Say something beside the answer, which makes it a stream, if the client takes one."""
        if self.feed is None and self._said.streams and not self.gone:
            self._commit()
        if self.feed is not None:
            self.feed.put(line)
        elif self.conversation is not None:
            self.conversation.say(line)

    def part(self, seconds: float) -> None:
        """Let the client come back for the rest, if its revision has that."""
        is_lost = self.gone and self.feed is None
        if not self._is_primed or not self._said.streams or self.left <= 0 or is_lost:
            return
        if self.feed is None:
            self._commit()
        if self.feed is not None and self.feed.name:
            self.feed.prime(int(max(seconds, 0) * 1000))
            self.feed.part()

    @property
    def _is_primed(self) -> bool:
        return self.conversation is not None and self.session.handshake_wire().version >= PRIMED_SINCE

    def _commit(self) -> None:
        """Make it a stream."""
        conversation = self.conversation
        feed = self.feed = Feed() if conversation is None else self._stage.sessions.feed(conversation)
        feed.pipe = self.pipe = Pipe(self._stage.settings.budget.account(self.session.principal))
        if self._is_primed and feed.name:
            feed.prime(self._stage.settings.retry_ms)
        for line in self.lines:
            feed.put(line)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def serve(self, receive: Receive, send: SendMessage, more: Pairs) -> None:
        """Answer when there is an answer; `more`: headers."""
        watcher: Task[None] | None = None
        loop, settings = get_running_loop(), self._stage.settings
        try:
            await self._wait(QUICK_SECONDS)
            if self._undecided():
                watcher = loop.create_task(leaving(receive, self._lose))
                await self._wait(settings.decide_seconds if self._said.streams else None)
                if self._undecided() and not self.gone:
                    self._commit()
            if self.gone:
                return
            if self.feed is None or self.pipe is None:
                status, headers, body = self.reply()
                await respond(send, (status, headers + more, body))
                return
            watcher = watcher or loop.create_task(leaving(receive, self._lose))
            await self.pipe.pump(send, EVENTS + more, settings)
        finally:
            if watcher is not None:
                watcher.cancel()
            self.leave()
            if self.pipe is not None:
                self.pipe.lose()
            if self.output is not None:
                self.output.clear()

    def _undecided(self) -> bool:
        return self.left > 0 and self.feed is None

    async def _wait(self, seconds: float | None) -> None:
        """Wait until the answer is there, or anything is said, or the client has gone, or the time is over."""
        if not self._undecided() or self.gone:
            return
        loop = get_running_loop()
        self._waiter = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _lose(self) -> None:
        """The client has gone."""
        self.gone = True
        if self.pipe is not None:
            self.pipe.lose()
        self._wake()

    def leave(self) -> None:
        """The response is over; if it was not the answer, see to it that nobody works for nobody."""
        if self.feed is not None and self.feed.pipe is self.pipe:
            self.feed.pipe = None
        if self.left <= 0:
            return
        self.gone = True
        if self.conversation is None:
            self._drop()
            self._close()

    def _drop(self) -> None:
        for identifier in self.identifiers:
            self._stage.perform(self.session.drop(identifier))

    def end_listening(self) -> None:
        """End subscriptions as the server's own wish (2026-07-28, Subscriptions): the result, then the end."""
        self._stage.perform(close_listening(self.session, False))

    def abandon(self, why: str) -> None:
        """Answer with an error, and end the handlers."""
        waiting = [one for one in dict.fromkeys(self.identifiers) if one in self.session.running]
        for identifier in waiting:
            self.left += 1  # ending the handler takes it away
            self._stage.perform(self.session.drop(identifier))
            self.answer(Send(error_line(identifier, INTERNAL_ERROR, why), None, INTERNAL_ERROR))
