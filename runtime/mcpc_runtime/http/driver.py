"""The driver of a server over HTTP: any number of sessions in one asyncio event loop.

Rule: all of it runs in the loop's thread; other threads only queue callbacks (`Driver.ask`).
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable, Hashable, Sequence
from errno import EAGAIN
from time import monotonic, time
from typing import Protocol

from mcpc_runtime.concurrency.fair_shares import TIMES_FREE, SharedPool
from mcpc_runtime.concurrency.leader_followers import Follower, LeaderFollowers, Work, take_token
from mcpc_runtime.http.fair_turns import FairAdmission
from mcpc_runtime.http.memory_budget import MemoryAccount
from mcpc_runtime.http.origins import ClientAddressFilter
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.quotas import Quotas, called_tools, caller_of
from mcpc_runtime.http.replies import Client, Pairs, Reply
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.http.settings import HttpSettings, most_connections
from mcpc_runtime.interfaces import Observer, ReactorInterface, RequestOrigin
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.protocol.effects import Activity, CloseStream, Effect, PublishChange, SendMessage, StartHandler
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.operations import operations_called
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.dispatcher import Dispatcher
from mcpc_runtime.server.driver import Driver, receive_or_fail
from mcpc_runtime.server.replicas.redis import ReplicaEvents
from mcpc_runtime.server.running_calls import Admission, slots_of
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.loop_reactor import LoopReactor

WAIT_SECONDS = 0.001
QUICK_SECONDS = 0.005
"""A function that took no longer is not slow, though the loop did not wait for it."""


class InlineThreads(LeaderFollowers):
    """Threads that run inline handlers for the event loop."""

    __slots__ = ()

    def run(self, key: Hashable | None, work: Work, late: Work | None = None) -> bool:
        """Run `work` in another thread; return True if it ended within a moment, else `late` is called after it."""
        follower = self._find_follower()
        if follower is None:
            raise OSError(EAGAIN, "the system has no room for a thread")
        if key in self._slow:
            follower.assign(lambda: self._run_slow(key, work, late))
            return False
        return self._try(follower, key, work, late)

    def _try(self, follower: Follower, key: Hashable, work: Work, late: Work | None) -> bool:
        """Wait a moment for work that may be quick; the thread that takes the token decides whether it was."""
        finished = allocate_lock()
        finished.acquire()
        token: list[None] = [None]
        begun = monotonic()

        def run_work() -> None:
            work()
            if take_token(token):
                finished.release()
                return
            if monotonic() - begun < QUICK_SECONDS:
                self._slow.pop(key, None)  # the machine may have been busy
            if late is not None:
                late()

        follower.assign(run_work)
        if finished.acquire(timeout=WAIT_SECONDS):
            return True
        # Before the token is decided: the thread that ends just after it removes the mark again.
        self._slow[key] = 0
        # Otherwise the work ended between the time limit and this line, and was not slow.
        if take_token(token):
            return False
        self._slow.pop(key, None)
        return True


class OpenRequest(Protocol):
    """A request that waits for its answer (`PostResponse`)."""

    session: Session

    def end_listening(self) -> None:
        """End its subscription."""

    def abandon(self, reason: str) -> None:
        """Answer it with an error."""


SWEEP_SECONDS = 30.0
MAX_SECONDS = 86_400.0
"""Maximum duration of a stream; its client opens another one."""
FOREVER = float("inf")
KEPT_PART = 16
"""Whole results whose parts were answered take at most this part of the memory limit."""
NO_STREAMS = "there are too many streams"
NO_STREAMS_OF_SHARE = "your share of the streams that may be open is used up: end one first"
TASKS_VARIABLE = b"MCPC_TASKS"
MESSAGE = "message"
"""The kind of event that forwards a client's message to other processes; `uri`: the session's name and the message."""
SESSION = "session"
"""The kind of event that reports the end of a session to other processes; `uri` is the session's name."""


def receive_effects(session: Session, message: Json, origin: RequestOrigin) -> list[Effect]:
    """Return the effects of a message; `origin` receives the effects of its requests."""
    effects = receive_or_fail(session, message, lambda message: session.receive_message(message, None))
    for effect in effects:
        request = effect.call.request if isinstance(effect, StartHandler) else getattr(effect, "request", None)
        if request is not None and request.origin is None:
            request.origin = origin
    return effects


class NoLock:
    """A lock without effect, where one thread does everything."""

    def acquire(self) -> bool:
        """Return True: no other thread competes."""
        return True

    def release(self) -> None:
        """Do nothing."""

    def __enter__(self) -> NoLock:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


class Lease:
    """A stream that ends when its principal's token expires or is removed."""

    __slots__ = ("_leases", "_timer", "end", "principal")

    def __init__(
        self, leases: dict[Lease, None], principal: Principal, end: Callable[[], None], timer: TimerHandle | None
    ) -> None:
        self._leases = leases
        self._timer = timer
        self.principal = principal
        self.end = end
        leases[self] = None

    def cancel(self) -> None:
        """Cancel the lease, because its stream has ended."""
        self._leases.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()


class HttpDriver(Driver):
    """The driver of one server.

    `posts`: the open requests.  `listening`: the sessions with subscriptions of the stateless era, each with the expiry
    of its token.  `streams`: the number of the other open streams.  `stream_shares`: the limit of both, of which each
    principal has its share.  `is_shared`: whether there are several principals.  `events`: exchanges changes with other
    processes, if configured.  `observers`: notified when the call of a handler begins and ends.  `quotas`: of calls,
    which the servers of one process share.
    """

    turns = InlineThreads

    def __init__(self, image: Image, settings: HttpSettings) -> None:
        super().__init__(image, NoLock())
        self.settings = settings
        self.events: ReplicaEvents | None = None
        self.quotas: Quotas | None = None
        self.is_shared = settings.authenticator is not None
        self.sessions = Sessions(image, settings)
        image.account, image.kept_bytes = self.account, settings.budget.limit // KEPT_PART
        self.posts: dict[OpenRequest, None] = {}
        self.listening: dict[Session, float] = {}
        self.streams = 0
        self.leases: dict[Lease, None] = {}
        self.client_addresses = ClientAddressFilter((), settings.proxies) if settings.proxies else None
        # Each stream takes a connection.
        most = min(settings.max_streams, most_connections(settings))
        self.stream_shares = SharedPool(most, TIMES_FREE if self.is_shared else most)
        self.is_ending = self.is_closed = False
        self.observers: list[Observer] = []
        self._reactor: LoopReactor | None = None
        self._loop = get_running_loop()
        self._thread = get_ident()
        self._sweep()
        call_rows(image.hooks("start"), image)
        if settings.events:
            self.events = ReplicaEvents(settings.events, image.server_name, image.archive, self.receive_change)

    def account(self, principal: str) -> MemoryAccount:
        """Return the memory account for the unsent output of a principal's call."""
        return self.settings.budget.account(principal)

    def stream_refusal(self, principal: str) -> str:
        """Return why a principal must not open another stream, or an empty string."""
        if self.is_ending or self.stream_shares.is_full:
            return NO_STREAMS
        return "" if self.stream_shares.has_room(principal) else NO_STREAMS_OF_SHARE

    def begin_stream(self, principal: str) -> None:
        """Count an open stream."""
        self.streams += 1
        self.stream_shares.take(principal)

    def end_stream(self, principal: str) -> None:
        """Stop counting an open stream."""
        self.streams -= 1
        self.stream_shares.give_back(principal)

    def add_listener(self, session: Session, expires: float) -> None:
        """Register a session with subscriptions, until its token expires."""
        if session not in self.listening:
            self.stream_shares.take(session.principal)
        self.listening[session] = expires

    def remove_listener(self, session: Session) -> None:
        """Unregister a session with subscriptions, if it is registered."""
        if self.listening.pop(session, None) is not None:
            self.stream_shares.give_back(session.principal)

    def watch(self) -> ReactorInterface:
        """Return the reactor, created at first use."""
        if self._reactor is None:
            self._reactor = LoopReactor(self.run)
        return self._reactor

    def serve_in_this_thread(self) -> None:
        """Raise RuntimeError: an event loop cannot move to another thread."""
        raise RuntimeError("an event loop cannot move to another thread")

    def _wake(self) -> None:
        """Have the loop run what is queued; callable from any thread."""
        if get_ident() == self._thread:
            # In the next turn: the caller may be in the middle of what it does.
            self._loop.call_soon(self.run_queued)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.run_queued)

    def publish(self, event: PublishChange) -> None:
        """Send a change to all clients here, and to the other processes."""
        if self.events is not None:
            self.events.publish(event)
        self.notify_clients(event)

    @property
    def full(self) -> bool:
        """Always False: unread output is limited by its memory account."""
        return False

    @property
    def clients(self) -> list[Session]:
        """The sessions that may wait for change notifications."""
        return [*self.listening, *self.sessions.by_session]

    def receive_change(self, event: PublishChange) -> None:
        """Handle an event of another process; callable from any thread."""
        self.ask(lambda: self.notify_clients(event))

    def notify_clients(self, event: PublishChange) -> None:
        """Notify the clients of this process of a change; handle a forwarded message or the end of a session."""
        if event.kind == SESSION:
            self.sessions.revoke(event.uri)
            return
        if event.kind == MESSAGE:
            self._receive_forwarded(event.uri)
            return
        super().publish(event)

    def _receive_forwarded(self, text: str) -> None:
        """Handle a message that a client sent to another process: a response, or a cancellation."""
        name, _, message = text.partition(" ")
        conversation = self.sessions.find_by_name(name)
        if conversation is not None:
            self.post_effects(conversation.session.receive(message.encode("utf-8", "backslashreplace")))

    def call_at(self, expires: float | None, end: Callable[[], None]) -> TimerHandle:
        """Call `end` when a token expires, in seconds since the epoch; return its timer."""
        seconds = MAX_SECONDS if expires is None else min(max(0.0, expires - time()), MAX_SECONDS)
        return self._loop.call_later(seconds, end)

    def address(self, client: Client, headers: Pairs) -> str:
        """Return the address of a client, as a trusted proxy reports it if there is one; empty if it is unknown."""
        peer = str(client[0]) if client is not None else ""
        return peer if self.client_addresses is None else str(self.client_addresses.address(client, headers) or peer)

    def quota_refusal(self, message: Json, principal: Principal, client: Client, headers: Pairs) -> Reply | None:
        """Return the refusal of a message that calls more tools than the quotas of its caller have room for."""
        tools = None if self.quotas is None else called_tools(message)
        if self.quotas is None or not tools:
            return None
        caller = caller_of(principal.name, self.address(client, headers))
        operations = operations_called(message) if "operations" in self.image.index else []
        return self.quotas.refusal(caller, tools, message.get("id") if type(message) is dict else None, operations)

    def lease(self, principal: Principal, end: Callable[[], None], *, timed: bool = True) -> Lease:
        """Call `end` when a principal's token is no longer valid; `timed`: also when it expires."""
        return Lease(self.leases, principal, end, self.call_at(principal.expires, end) if timed else None)

    def end_leases(self, removed: Sequence[Principal]) -> None:
        """End the streams of tokens that were removed. O(open streams)."""
        # A list first: to end a stream removes its lease.
        for lease in [lease for lease in self.leases if lease.principal in removed]:
            lease.cancel()
            lease.end()
        self.run_queued()

    def open_tasks(self) -> None:
        """Start to look for abandoned tasks, where processes share a task store."""
        revisions = [self.image.revision(version) for version in self.image.stateless_versions]
        if TASKS_VARIABLE in system.environ and any("tasks/get" in revision.methods for revision in revisions):
            self.prepare().tasks.open()

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects, and all that is queued because of them."""
        self.post_effects(effects)
        self.run_queued()

    def run(self, callback: Callable[[], None]) -> None:
        """Run a callback of the reactor, and all that is queued because of it."""
        self._callbacks.append(callback)
        self.run_queued()

    def _send(self, effect: SendResponse) -> None:
        if isinstance(effect, SendMessage):
            self._send_message(effect)
        elif effect.request is not None and effect.request.origin is not None:
            effect.request.origin.respond(effect)

    def _perform(self, effect: Effect) -> None:
        if not isinstance(effect, CloseStream):
            super()._perform(effect)
        elif effect.request.origin is not None:
            effect.request.origin.close_stream(effect.seconds)

    def _send_message(self, effect: SendMessage) -> None:
        """Send a message on the stream of its request, or of its session if it has no request."""
        origin = None if effect.request is None else effect.request.origin
        if origin is None:
            origin = self.sessions.by_session.get(effect.session)
        if origin is not None:
            origin.send(effect.data)

    def prepare(self) -> Dispatcher:
        """Return the dispatcher, created at first use."""
        if self.is_closed:
            raise RuntimeError("the server was stopped")
        return super().prepare()

    def _admission(self) -> Admission:
        return FairAdmission(slots_of(self.image)) if self.is_shared else super()._admission()

    def _stop(self, call: Activity) -> None:
        """End a handler whose result is no longer needed."""
        super()._stop(call)
        if call.request.origin is not None:
            call.request.origin.release()

    def _sweep(self) -> None:
        """Remove unused sessions, and end subscriptions whose token has expired; twice a minute."""
        self.sessions.sweep()
        now = time()
        expired = {session for session, expires in self.listening.items() if expires < now}
        for post in [post for post in self.posts if post.session in expired] if expired else ():
            post.end_listening()
        self.run_queued()
        self._timer = self._loop.call_later(SWEEP_SECONDS, self._sweep)

    def end_streams(self) -> None:
        """End the open streams."""
        self.is_ending = True
        for conversation in list(self.sessions.by_session.values()):
            conversation.end_streams()
        for post in [post for post in self.posts if post.session.listening]:
            post.end_listening()
        self.run_queued()

    def abandon(self, reason: str) -> None:
        """Answer all open requests with an error, and end their handlers."""
        for post in list(self.posts):
            post.abandon(reason)
        self.run_queued()

    def close(self) -> None:
        """End all processes."""
        self.is_closed = True
        self._timer.cancel()
        if self.events is not None:
            self.events.close()
        if self.dispatcher is not None:
            self.dispatcher.close()
            self.dispatcher = None
