"""The driver of one server: moves lines to the session, and what the session asks for to the dispatcher and the client.

Until a handler is called it blocks on its input and imports nothing more; from then on it waits in the reactor.  It is
also the one place that catches everything: whatever goes wrong in answering one request is that request's own error.

What is still to do lies in the engine, never in a thread's frames: while a handler runs inline, another thread may have
taken over.  Whoever touches anything here holds the lock; it is free while waiting for input and while a handler runs.
"""

from __future__ import annotations

import gc
from _thread import allocate_lock

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Send, Start, Stop, internal_error
from mcpc_runtime.transports.stdio import Broken, Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime import turns
    from mcpc_runtime.dispatch import Dispatcher
    from mcpc_runtime.errors import tell
    from mcpc_runtime.hangups import watch_end
    from mcpc_runtime.image import Image
    from mcpc_runtime.performing import perform
    from mcpc_runtime.protocol.effects import Call, Effect, Publish
    from mcpc_runtime.protocol.jsonrpc import encode
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.protocol.subscriptions import close_listening
    from mcpc_runtime.reactor import Reactor
    from mcpc_runtime.transports.stdio import Channel
    from mcpc_runtime.ways import has
else:
    Dispatcher = lazy("mcpc_runtime.dispatch:Dispatcher")
    Reactor = lazy("mcpc_runtime.reactor:Reactor")
    close_listening = lazy("mcpc_runtime.protocol.subscriptions:close_listening")
    encode = lazy("mcpc_runtime.protocol.jsonrpc:encode")
    has = lazy("mcpc_runtime.ways:has")
    perform = lazy("mcpc_runtime.performing:perform")
    tell = lazy("mcpc_runtime.errors:tell")
    watch_end = lazy("mcpc_runtime.hangups:watch_end")
    turns = lazy("mcpc_runtime.turns")

MOST_FAILURES = 100
"""So many turns may fail one after the other; then nothing will ever be right again."""
BROKEN = 74
"""The exit status where standard input or output failed (EX_IOERR)."""
GRACE_SECONDS = 2.0
"""How long calls already accepted may still run after the client closed its end."""
LAST_SECONDS = 1.0
"""How long the client may still take what was answered, after that."""
PATIENCE_SECONDS = 4.0
"""How long a client that closed its end may take nothing of what it asked for."""


class Engine:
    """One session over one channel."""

    def __init__(self, image: Image, session: Session, channel: Channel, limit: int) -> None:
        self.image = image
        self.session = session
        self.channel = channel
        self.limit = limit
        self.lock = allocate_lock()
        self.lines: list[bytes | None] = []
        self.effects: list[Effect] = []
        self.todo: list[Callable[[], None]] = []
        self.over = self.hung_up = False
        self.status = self.failures = 0
        self.leave: Callable[[int], object] | None = None
        """How a thread that is not the first ends the process, when all is done; without it, the first returns."""
        self.shared = False
        self.ended = allocate_lock()
        self.reactor: Reactor | None = None
        self.dispatcher: Any = None  # what drives handlers; imported with the first of them

    @property
    def full(self) -> bool:
        """Whether the client is so far behind that it should be told no more than it must."""
        return self.channel.full

    @property
    def clients(self) -> tuple[Session, ...]:
        """The conversations: one."""
        return (self.session,)

    def publish(self, event: Publish) -> None:
        """Tell the client of a change, if it wants to know, before what was said after it."""
        self.effects[:0] = self.session.changed(event)

    def run(self) -> None:
        """Serve until the client closes its end and what it asked for is done, or nobody reads any more."""
        self.ended.acquire()
        self.lock.acquire()
        try:
            self._read()
            self.work()
            collect_garbage()
            self._drive()
        except turns.Deposed:  # another thread serves on; this one was in an inline handler for long
            self.ended.acquire()
        finally:
            if self.dispatcher is not None:
                self.dispatcher.close()

    def take_over(self) -> None:
        """Serve on in another thread, while the one that did is in an inline handler."""
        self.lock.acquire()
        try:
            self.dispatcher.adopt()
            self.work()
            self._drive()
        except turns.Deposed:
            raise
        except BaseException as problem:
            self._break(problem)
        if self.leave is not None:
            self.dispatcher.close()
            self.leave(self.status)
        self.ended.release()

    def _drive(self) -> None:
        """Serve on, the lock held, until all is done; Deposed passes through everything, with the lock let go."""
        while not self._finished():
            if self.reactor is None:
                self._read()
            else:
                self._turn(self.reactor)
            self.work()
        if self.session.listening and not self.over:
            self.effects += close_listening(self.session, True)
            self.work()

    def _turn(self, reactor: Reactor) -> None:
        """Wait for what is to be done; what goes wrong in it is told, and is tried again, but not for ever."""
        try:
            reactor.turn(self.lock if self.shared else None)
        except Exception as problem:
            self.failures += 1
            tell(f"the server goes on after {type(problem).__name__}: {problem}")
            if self.failures > MOST_FAILURES:
                self._break(problem)
        else:
            self.failures = 0

    def _finished(self) -> bool:
        busy = self.channel.unsent or (self.dispatcher is not None and self.dispatcher.busy)
        return self.over or (self.channel.ended and not busy)

    def work(self) -> None:
        """Do what is to be done, and let the client have the answers."""
        try:
            while self.effects or self.todo or self.lines:
                if self.effects:
                    self._perform(self.effects.pop(0))
                elif self.todo:
                    self.todo.pop(0)()
                else:
                    self._receive(self.lines.pop())
            if not self.channel.flush() or self.channel.full:
                self._wait_for_client()
        except Closed:
            self.over = True
        except Broken as problem:
            self._break(problem)

    def _break(self, problem: BaseException) -> None:
        """End, because there is no way to the client any more."""
        self.over, self.status = True, BROKEN
        tell(str(problem))

    def ask(self, task: Callable[[], None]) -> None:
        """Have something done by the thread that serves, the lock held by the caller."""
        self.todo.append(task)
        if self.reactor is not None:
            self.reactor.wake()

    def _read(self) -> None:
        """Take what the client sent."""
        try:
            self.lines[:0] = reversed(self.channel.read())
        except Broken as problem:
            self._break(problem)
        if self.channel.ended:
            self._end_of_input()

    def _end_of_input(self) -> None:
        if self.reactor is not None:
            self.reactor.forget(self.channel.descriptor)
            self.reactor.after(GRACE_SECONDS, self._stop_all)

    def _stop_all(self) -> None:
        if self.dispatcher is not None:
            self.dispatcher.stop_all()
        if self.reactor is not None:
            self.reactor.after(LAST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self.over = True

    def _receive(self, line: bytes | None) -> None:
        """Have one line answered; one over the limit is None."""
        try:
            if line is None:
                self.effects += self.session.refuse_oversize(self.limit)
            else:
                self.effects += self.session.receive(line)
        except Exception as problem:
            self.effects += self._refuse(line or b"[]", problem)

    def _refuse(self, line: bytes, problem: Exception) -> list[Effect]:
        try:
            return self.session.refuse_broken(line, problem)
        except Exception:
            return self.session.refuse_broken(b"[]", problem)

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, Send):
            self.channel.write(effect.data)
        elif isinstance(effect, Start):
            try:
                self._start(effect.call)
            except Exception as problem:
                self.effects += self._fail(effect.call, problem)
        elif isinstance(effect, Stop):
            if self.dispatcher is not None:
                self.dispatcher.stop(effect.call)
        else:
            perform(self, effect)

    def _fail(self, call: Call, problem: Exception) -> list[Effect]:
        """Return the answer to a call that could not be started; what makes answers may not be there to be read."""
        failure = internal_error(problem)
        try:
            return self.session.finish(call, failure)
        except ImportError:
            identifier = call.request.identifier
            self.session.running.pop(identifier, None)
            return self.session.refuse_broken(encode({"id": identifier}), problem)

    def _start(self, call: Call) -> None:
        self.prepare().start(call)

    def prepare(self) -> Any:
        """Return what drives handlers."""
        if self.dispatcher is None:
            self.watch()
            self.dispatcher = Dispatcher(self)
        return self.dispatcher

    def watch(self) -> Reactor:
        """Wait for more than the client's input from now on; return the reactor."""
        if self.reactor is None:
            self.reactor = Reactor()
            if self.channel.ended:
                self._end_of_input()
            else:
                self.reactor.watch(self.channel.descriptor, 1, self._read)
        return self.reactor

    def _wait_for_client(self) -> None:
        """The client does not take its answers: send the rest when it does, and read no more while it is far behind."""
        reactor = self.watch()
        if not self.channel.ended:
            if not self.channel.full:
                reactor.watch(self.channel.descriptor, 1, self._read)
            elif self.hung_up:
                reactor.forget(self.channel.descriptor)  # its end would be told again and again
            elif has("hangup"):
                reactor.watch(self.channel.descriptor, 0, self._hung_up)
            else:
                watch_end(reactor, self.channel.descriptor, self._is_full, self._hung_up)
        reactor.watch(self.channel.output, 4, self._resume)

    def _is_full(self) -> bool:
        return self.channel.full

    def _resume(self) -> None:
        """Send on; once all has gone, go on as usual."""
        if self.reactor is not None:
            self.reactor.forget(self.channel.output)
            self.hung_up = False
            if not self.channel.ended:
                self.reactor.watch(self.channel.descriptor, 1, self._read)

    def _hung_up(self) -> None:
        """The client closed its end while it was not read from; what it wrote before is read once it takes answers."""
        self.hung_up = True
        if self.reactor is not None:
            self.reactor.forget(self.channel.descriptor)
            self._give_up_on(self.channel.written)

    def _give_up_on(self, written: int) -> None:
        """Leave if the client, which will ask nothing more, has taken nothing for some seconds."""

        def look() -> None:
            if self.channel.unsent and self.channel.written == written:
                self.over = True
            elif self.channel.full:
                self._give_up_on(self.channel.written)

        if self.reactor is not None:
            self.reactor.after(PATIENCE_SECONDS, look)


def collect_garbage() -> None:
    """Have garbage looked for from now on, but not in what the start made (see `__main__.py`)."""
    gc.freeze()
    gc.enable()
