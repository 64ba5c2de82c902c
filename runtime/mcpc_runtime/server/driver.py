"""The base class of the event loops that move messages between a transport and sessions.

Sessions return effects, which are queued by `post_effects` alone; callbacks are queued by `ask`.  This is also the
boundary that catches all errors: an error while one request is answered is logged, is the answer to that request, and
does not end the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mcpc_runtime.concurrency.leader_followers import LeaderFollowers
from mcpc_runtime.interfaces import Lock, Observer, ReactorInterface
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.log import log_failure as failures_log
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.effects import (
    Activity,
    DeliverAnswer,
    Effect,
    LogToOperator,
    PublishChange,
    StartHandler,
    StartPolling,
    StopHandler,
    internal_error,
)
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session, error_response
from mcpc_runtime.server.dispatcher import Dispatcher
from mcpc_runtime.server.running_calls import Admission, FirstComeAdmission, slots_of

Message = TypeVar("Message", bound=bytes | Json)

TYPE_CHECKING = False


class Driver:
    """The event loop of one server; one thread at a time uses it, and holds `lock`.

    `dispatcher`: runs calls, and is made for the first of them.  `shared`: whether other threads may take over.
    `turns`: the class whose threads run inline handlers, if it is not the default.  `is_shared`: whether several
    principals share the server's resources.  `observers`: receive the begin and end of each call.
    """

    shared = is_shared = False
    turns: type[LeaderFollowers] | None = None
    observers: Sequence[Observer] = ()

    if TYPE_CHECKING:  # each subclass defines these

        @property
        def full(self) -> bool:
            """Whether so much output waits for the client that messages which are not required are dropped."""
            ...

        @property
        def clients(self) -> Sequence[Session]:
            """The sessions that may wait for change notifications."""
            ...

        def watch(self) -> ReactorInterface:
            """Return the reactor; it is made at the first use."""
            ...

        def serve_in_this_thread(self) -> None:
            """Continue to serve in this thread."""

        def _send(self, effect: SendResponse) -> None:
            """Write a line to the client."""

        def _wake(self) -> None:
            """Wake the serving thread, because something was queued."""

    def __init__(self, image: Image, lock: Lock) -> None:
        self.image = image
        self.lock = lock
        self._effects: list[Effect] = []
        self._callbacks: list[Callable[[], None]] = []
        self.dispatcher: Dispatcher | None = None

    def account(self, principal: str) -> Account | None:
        """Return the account that is charged for stored output of a principal's call; None if nothing is counted."""
        return None

    def post_effects(self, effects: Iterable[Effect]) -> None:
        """Queue effects, after those that wait already."""
        self._effects += effects

    def publish(self, event: PublishChange) -> None:
        """Queue a change notification for every client that subscribed, before all effects that wait."""
        # In the place of the event, which was taken from the front of the queue: later answers stay behind it.
        self._effects[:0] = [effect for session in self.clients for effect in session.changed(event)]

    def ask(self, callback: Callable[[], None]) -> None:
        """Queue a callback for the serving thread; the caller holds the lock."""
        self._callbacks.append(callback)
        self._wake()

    def prepare(self) -> Dispatcher:
        """Return the dispatcher; it is made at the first use."""
        if self.dispatcher is None:
            self.watch()
            self.dispatcher = Dispatcher(self, self._admission())
        return self.dispatcher

    def _admission(self) -> Admission:
        """Return the rule by which calls run or wait."""
        return FirstComeAdmission(slots_of(self.image))

    def run_queued(self) -> None:
        """Perform all queued effects and callbacks; an error in one does not keep the next from being performed."""
        while self._effects or self._callbacks:
            # Effects first: when a callback runs, all that were posted before it have been performed.
            effect = self._effects.pop(0) if self._effects else None
            try:
                if effect is not None:
                    self._perform(effect)
                else:
                    self._callbacks.pop(0)()
            except Exception as problem:  # noqa: BLE001 - an error in one item must not end the server
                self._survive(problem, effect)

    def _survive(self, problem: Exception, effect: Effect | None = None) -> None:
        """Log an error after which the server continues; an error in the start of a call is the answer to that call."""
        log_failure(problem)
        if isinstance(effect, StartHandler):
            # As a callback, so that an error in it is caught here, too.
            self._callbacks.append(lambda: self._fail(effect.call, problem))

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, SendResponse):
            self._send(effect)
        elif isinstance(effect, StartHandler):
            (self.dispatcher or self.prepare()).start(effect.call)
        elif isinstance(effect, StopHandler):
            self._stop(effect.call)
        elif isinstance(effect, PublishChange):
            self.publish(effect)
        elif isinstance(effect, LogToOperator):
            log_line(effect.text)
        elif isinstance(effect, StartPolling):
            call_rows(self.image.hooks("poll_resources"), self)
        elif isinstance(effect, DeliverAnswer) and self.dispatcher is not None:
            self.dispatcher.deliver(effect.call, effect.reply, effect.value)

    def _fail(self, call: Activity, problem: Exception) -> None:
        """Answer a call that could not be started; the module that makes answers may be unreadable."""
        failure, session, identifier = internal_error(problem), call.request.session, call.request.identifier
        try:
            self.post_effects(session.finish(call, failure))
        except ImportError:
            session.running.pop(identifier, None)
            self.post_effects(error_response(identifier, failure.code, failure.message, None, call.request))

    def _stop(self, call: Activity) -> None:
        """Stop the handler of a cancelled call."""
        if self.dispatcher is not None:
            self.dispatcher.stop(call)


def receive_or_fail(session: Session, message: Message, receive: Callable[[Message], list[Effect]]) -> list[Effect]:
    """Return the effects of a message; an error response if it fails with any exception."""
    try:
        return receive(message)
    except Exception as problem:  # noqa: BLE001 - an error in one request is the answer to that request
        log_failure(problem)
        return session.refuse_broken(message, problem)


def log_failure(problem: BaseException) -> None:
    """Log an internal error, if the module that does this can be read."""
    try:
        failures_log(problem)
    except (ImportError, OSError):
        return
