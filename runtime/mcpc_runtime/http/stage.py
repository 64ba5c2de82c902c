"""The driver of one server with many conversations: what `engine.py` is for one, under an event loop.

Everything here happens in the loop's thread, between two of its turns; other threads only leave something to be done.
Whatever goes wrong in answering one request is that request's own error.
"""

from __future__ import annotations

import posix
from _thread import get_ident
from asyncio import get_running_loop
from collections import deque
from time import time

from mcpc_runtime.errors import tell
from mcpc_runtime.http.aside import Aside
from mcpc_runtime.http.connections import most_connections
from mcpc_runtime.http.fair_places import FairPlaces
from mcpc_runtime.http.reactor import LoopReactor
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.identity import server_name
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Part, Say, Send, Start, Stop, internal_error
from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.shares import TIMES_FREE, Shares

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.settings import Settings
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Effect, Publish
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session import Session

    class Waiting(Protocol):
        """A request whose answer is not there yet (`Post`)."""

        session: Session

        def end_listening(self) -> None:
            """End its subscription."""

        def abandon(self, why: str) -> None:
            """Answer it with an error."""

    from mcpc_runtime.dispatch import Dispatcher
    from mcpc_runtime.events import Events
    from mcpc_runtime.http.peers import Peers
    from mcpc_runtime.mcp_bash.starting import start
    from mcpc_runtime.performing import perform as performing_perform
else:
    Dispatcher = lazy("mcpc_runtime.dispatch:Dispatcher")
    Events = lazy("mcpc_runtime.events:Events")
    Peers = lazy("mcpc_runtime.http.peers:Peers")
    performing_perform = lazy("mcpc_runtime.performing:perform", "performing_perform")
    start = lazy("mcpc_runtime.mcp_bash.starting:start")


MCP_BASH = "mcp_bash"
SWEEP_SECONDS = 30.0
LONGEST_SECONDS = 86_400.0
"""How long a stream may stay open at most: its client opens another one."""
FOREVER = float("inf")
FULL = "there are too many streams"
YOURS = "your share of the streams that may be open is used up: end one first"
TASKS_VARIABLE = b"MCPC_TASKS"
MESSAGE = "message"
"""The kind of event that hands on what a client sent to the wrong process: its session's name, and the message."""
SESSION = "session"
"""The kind of event that tells other processes of a session's end; `uri` is its name."""


def received(session: Session, message: Json, origin: Any) -> list[Effect]:
    """Return what a message asks for; `origin` is where the effects of its requests come back to."""
    try:
        effects: list[Effect] = session.receive_message(message, None)
    except Exception as problem:  # noqa: BLE001 - whatever goes wrong in one request is that request's own error
        effects = session.refuse_broken(encode(message), problem)
    for effect in effects:
        request = effect.call.request if isinstance(effect, Start) else getattr(effect, "request", None)
        if request is not None and request.origin is None:
            request.origin = origin
    return effects


class NoLock:
    """What takes the place of a lock where one thread does everything."""

    def acquire(self) -> bool:
        """Have it: nobody else could."""
        return True

    def release(self) -> None:
        """Give it back to nobody."""

    def __enter__(self) -> NoLock:
        """Have it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""


class Lease:
    """What ends when a principal's token is no longer good: when its time is over, or when it was removed."""

    __slots__ = ("_leases", "_timer", "end", "principal")

    def __init__(self, leases: dict[Lease, None], principal: Any, end: Callable[[], None], timer: Any) -> None:
        self._leases = leases
        self._timer = timer
        self.principal = principal
        self.end = end
        leases[self] = None

    def cancel(self) -> None:
        """Forget it: it has ended already."""
        self._leases.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()


class Stage:
    """One server.

    `posts` wait for an answer; `listening` are the sessions with subscriptions of the stateless era, each with the time
    at which its token ends; `streams` counts responses that stay open, beside those; `stream_shares` are the places of
    both, of which each principal has its share, as of those of calls (`places`).  `events`: what carries changes to
    other processes, if there is such a thing: its `publish(event)` is called with those of ours, and those of others
    come to `hear`.  `observers` are told of each call of a handler: `began(call)`, and `ended(call, status, …)`.
    """

    turns = Aside
    shared = False
    full = False

    def __init__(self, image: Image, settings: Settings) -> None:
        self.image = image
        self.settings = settings
        self.lock = NoLock()
        self.effects: list[Effect] = []
        self.todo: deque[Callable[[], None]] = deque()
        self.dispatcher: Any = None
        self.events: Any = None
        is_shared = settings.authenticator is not None
        self.places = FairPlaces if is_shared else None
        self.sessions = Sessions(image, settings)
        self.posts: dict[Waiting, None] = {}
        self.listening: dict[Session, float] = {}
        self.streams = 0
        self.leases: dict[Lease, None] = {}
        self.peers = Peers((), settings.proxies) if settings.proxies else None
        most = min(settings.max_streams, most_connections(settings))
        self.stream_shares = Shares(most, TIMES_FREE if is_shared else most)
        self.is_ending = self.is_closed = False
        self.observers: list[Any] = []
        self._reactor: LoopReactor | None = None
        self._loop = get_running_loop()
        self._thread = get_ident()
        self._sweep()
        if MCP_BASH in image.index:
            start(image)
        if settings.events:
            self.events = Events(settings.events, server_name(image), image.archive, self.hear)

    def account(self, principal: str) -> Account:
        """Return what the output of a principal's call is charged to while it is kept."""
        return self.settings.budget.account(principal)

    def no_stream(self, principal: str) -> str:
        """Return why no more streams that stay open are to be begun for a principal, or nothing."""
        if self.is_ending or self.stream_shares.is_full:
            return FULL
        return "" if self.stream_shares.has_room(principal) else YOURS

    def begin_stream(self, principal: str) -> None:
        """Count a response that stays open."""
        self.streams += 1
        self.stream_shares.take(principal)

    def end_stream(self, principal: str) -> None:
        """Count it no more."""
        self.streams -= 1
        self.stream_shares.give_back(principal)

    def listen(self, session: Session, expires: float) -> None:
        """Remember a session with subscriptions, until its token ends."""
        if session not in self.listening:
            self.stream_shares.take(session.principal)
        self.listening[session] = expires

    def listen_no_more(self, session: Session) -> None:
        """Forget a session with subscriptions, if it is one."""
        if self.listening.pop(session, None) is not None:
            self.stream_shares.give_back(session.principal)

    def watch(self) -> Any:
        """Return the reactor."""
        if self._reactor is None:
            self._reactor = LoopReactor(self.work)
        return self._reactor

    def take_over(self) -> None:
        """Refuse: a loop stays in its thread."""
        raise RuntimeError("a loop stays in its thread")

    def ask(self, task: Callable[[], None]) -> None:
        """Have something done by the loop's thread, soon; from any thread."""
        self.todo.append(task)
        if get_ident() == self._thread:
            self._loop.call_soon(self.work)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.work)

    def publish(self, event: Publish) -> None:
        """Tell of a change: everybody here, and the other processes."""
        if self.events is not None:
            self.events.publish(event)
        self.tell_everybody(event)

    @property
    def clients(self) -> list[Session]:
        """The conversations that may wait for news."""
        return [*self.listening, *self.sessions.by_session]

    def hear(self, event: Publish) -> None:
        """Take a change from another process; from any thread."""
        self.ask(lambda: self.tell_everybody(event))

    def tell_everybody(self, event: Publish) -> None:
        """Tell every client of ours that wants to know of a change; a session that was ended has ended here, too."""
        if event.kind == SESSION:
            self.sessions.bar(event.uri)
            return
        if event.kind == MESSAGE:
            self._take(event.uri)
            return
        for session in self.clients:
            self.effects += session.changed(event)

    def _take(self, sent: str) -> None:
        """Take what a client of ours sent to another process: an answer, or that it waits for one no more."""
        name, _, message = sent.partition(" ")
        conversation = self.sessions.named(name)
        if conversation is not None:
            self.effects += conversation.session.receive(message.encode("utf-8", "backslashreplace"))

    def at(self, expires: float | None, end: Callable[[], None]) -> Any:
        """Have something ended when a token is no longer good, in seconds since the epoch; return its timer."""
        seconds = LONGEST_SECONDS if expires is None else min(max(0.0, expires - time()), LONGEST_SECONDS)
        return self._loop.call_later(seconds, end)

    def address(self, client: Any, headers: Any) -> str:
        """Return the address that a request came from, as a proxy of ours tells it, if one passed it on."""
        if self.peers is None:
            return str(client[0])
        return str(self.peers.address({"client": client, "headers": headers}) or client[0])

    def lease(self, principal: Any, end: Callable[[], None], *, timed: bool = True) -> Lease:
        """Have something ended when a principal's token is no longer good; `timed`: by its time, too."""
        return Lease(self.leases, principal, end, self.at(principal.expires, end) if timed else None)

    def end_leases(self, gone: list[Any]) -> None:
        """End what is open in the name of tokens that were removed.  O(streams that are open)."""
        for lease in [lease for lease in self.leases if lease.principal in gone]:
            lease.cancel()
            lease.end()
        self.work()

    def open_tasks(self) -> None:
        """Look from the start on for tasks that nobody runs any more, where processes share a store of them."""
        wires = [self.image.wire(version) for version in self.image.stateless_versions]
        if TASKS_VARIABLE in posix.environ and any("tasks/get" in wire.methods for wire in wires):
            self.prepare().tasks.open()

    def perform(self, effects: list[Effect]) -> None:
        """Do what a session asks for, and all that follows at once."""
        self.effects += effects
        self.work()

    def work(self) -> None:
        """Do what is to be done."""
        while self.effects or self.todo:
            try:
                if self.effects:
                    self._perform(self.effects.pop(0))
                else:
                    self.todo.popleft()()
            except Exception as problem:  # noqa: BLE001 - one failure must not end what serves everybody
                tell(f"the server goes on after {type(problem).__name__}: {problem}")

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, Say):
            self._say(effect)
        elif isinstance(effect, Send):
            if effect.request is not None and effect.request.origin is not None:
                effect.request.origin.answer(effect)
        elif isinstance(effect, Start):
            self._start(effect.call)
        elif isinstance(effect, Stop):
            self._stop(effect.call)
        elif isinstance(effect, Part):
            if effect.request.origin is not None:
                effect.request.origin.part(effect.seconds)
        else:
            performing_perform(self, effect)

    def _say(self, effect: Say) -> None:
        """Say something on the stream of the request it is about; on one of the conversation's, if it is about none."""
        origin = None if effect.request is None else effect.request.origin
        if origin is None:
            origin = self.sessions.by_session.get(effect.session)
        if origin is not None:
            origin.say(effect.data)

    def _start(self, call: Call) -> None:
        try:
            self.prepare().start(call)
        except Exception as problem:  # noqa: BLE001 - as everywhere: what goes wrong is this request's own error
            self.effects += call.request.session.finish(call, internal_error(problem))

    def prepare(self) -> Any:
        """Return what drives handlers."""
        if self.is_closed:
            raise RuntimeError("the server was stopped")
        if self.dispatcher is None:
            self.dispatcher = Dispatcher(self)
            for observer in self.observers:
                self.dispatcher.observe(observer)
        return self.dispatcher

    def _stop(self, call: Call) -> None:
        """End a handler whose answer nobody waits for."""
        if self.dispatcher is not None:
            self.dispatcher.stop(call)
        if call.request.origin is not None:
            call.request.origin.forget()

    def _sweep(self) -> None:
        """Forget, twice a minute, what nobody asks about."""
        self.sessions.sweep()
        now = time()
        expired = {session for session, expires in self.listening.items() if expires < now}
        for post in [post for post in self.posts if post.session in expired] if expired else ():
            post.end_listening()
        self.work()
        self._timer = self._loop.call_later(SWEEP_SECONDS, self._sweep)

    def end_streams(self) -> None:
        """End the streams that would stay open for ever, as the protocol ends them."""
        self.is_ending = True
        for conversation in list(self.sessions.by_session.values()):
            conversation.end_streams()
        for post in [post for post in self.posts if post.session.listening]:
            post.end_listening()
        self.work()

    def abandon(self, why: str) -> None:
        """Answer whatever still waits for an answer with an error, and end its handlers."""
        for post in list(self.posts):
            post.abandon(why)
        self.work()

    def close(self) -> None:
        """End every process, and remember nothing."""
        self.is_closed = True
        self._timer.cancel()
        if self.events is not None:
            self.events.close()
        if self.dispatcher is not None:
            self.dispatcher.close()
            self.dispatcher = None
