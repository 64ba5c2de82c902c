"""The driver of one server: moves lines to the session, and what the session asks for to transports and runners.

Until a handler is called it blocks on its input and imports nothing more; from then on it waits in the reactor.  It is
also the one place that catches everything: whatever goes wrong in answering one request is that request's own error.
"""

from __future__ import annotations

import gc

from mcpc_runtime.protocol.effects import Failure, Send, Start, Stop
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.rows import resolve
from mcpc_runtime.transports.stdio import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.host import Host
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Effect, Ending
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.reactor import Reactor
    from mcpc_runtime.transports.stdio import Channel

GRACE_SECONDS = 2.0
"""How long calls already accepted may still run after the client closed its end."""

CONTRACTS = {
    "mcbox": ("mcpc_runtime.contracts.mcbox", "mcpc_runtime.runners.process:ProcessRunner"),
    "python": ("mcpc_runtime.contracts.python", "mcpc_runtime.runners.worker:WorkerRunner"),
}
"""A contract's module (`prepare`, `conclude`) and the runner it speaks to."""


class Engine:
    """One session over one channel."""

    def __init__(self, image: Image, session: Session, channel: Channel, limit: int) -> None:
        self.image = image
        self.session = session
        self.channel = channel
        self.limit = limit
        self.jobs: dict[Call, tuple[Any, Any]] = {}
        self.runners: dict[str, Any] = {}
        self.reactor: Reactor | None = None
        self.host: Host | None = None

    def run(self) -> None:
        """Serve until the client closes its end and what it asked for is done, or nobody reads any more."""
        try:
            self._read()
            collect_garbage()
            while not self.channel.ended or self.jobs:
                if self.reactor is None:
                    self._read()
                else:
                    self.reactor.turn()
        except Closed:
            pass
        finally:
            for runner in self.runners.values():
                runner.close()
            if self.host is not None:
                self.host.close()

    def _read(self) -> None:
        for line in self.channel.read():
            if line is None:
                self._perform(self.session.refuse_oversize(self.limit))
            else:
                self._receive(line)
        if self.channel.ended and self.jobs:
            self._reactor().forget(self.channel.descriptor)
            self._reactor().after(GRACE_SECONDS, self._stop_all)

    def _receive(self, line: bytes) -> None:
        try:
            effects = self.session.receive(line)
        except Closed:
            raise
        except Exception as problem:
            effects = self._refuse(line, problem)
        self._perform(effects)

    def _refuse(self, line: bytes, problem: Exception) -> list[Effect]:
        try:
            return self.session.refuse_broken(line, problem)
        except Exception:
            return self.session.refuse_broken(b"[]", problem)

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.channel.write(effect.data)
            elif isinstance(effect, Start):
                self._start(effect.call)
            elif isinstance(effect, Stop):
                self._stop(effect.call)
            else:
                tell(effect.text)

    def _reactor(self) -> Reactor:
        if self.reactor is None:
            self.reactor = resolve("mcpc_runtime.reactor:Reactor")()
            self.reactor.watch(self.channel.descriptor, 1, self._read)
        return self.reactor

    def _host(self) -> Host:
        if self.host is None:
            self.host = resolve("mcpc_runtime.host:Host")(self._reactor(), self.image)
        return self.host

    def _start(self, call: Call) -> None:
        try:
            module, row = CONTRACTS[call.definition.contract]
            prepare, conclude = resolve(f"{module}:prepare"), resolve(f"{module}:conclude")
            runner = self.runners.get(row)
            if runner is None:
                self._catch_signals()
                runner = self.runners[row] = resolve(row)(self._host())
            command = prepare(call, self.image)
            self.jobs[call] = runner, None
            job = runner.start(command, lambda completed: self._finish(call, conclude, completed), lambda note: None)
            if call in self.jobs:
                self.jobs[call] = runner, job
        except Exception as problem:
            self._finish(call, internal_error, problem)

    def _finish(self, call: Call, conclude: Callable[[Call, Any], Ending], completed: Any) -> None:
        if self.jobs.pop(call, None) is None and conclude is not internal_error:
            return
        try:
            effects = self.session.finish(call, conclude(call, completed))
        except Exception as problem:
            effects = self.session.finish(call, internal_error(call, problem))
        self._perform(effects)

    def _stop(self, call: Call) -> None:
        runner, job = self.jobs.pop(call, (None, None))
        if runner is not None and job is not None:
            runner.stop(job)

    def _stop_all(self) -> None:
        for call in list(self.jobs):
            self._stop(call)

    def _catch_signals(self) -> None:
        """Once there are children, a signal that ends the server must end them first."""
        signals = __import__("_signal")
        for number in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP):
            signals.signal(number, self._end)

    def _end(self, number: int, frame: object) -> None:
        for runner in self.runners.values():
            runner.close()
        resolve("posix:_exit")(128 + number)


def collect_garbage() -> None:
    """Have garbage looked for from now on, but not in what the start made (see `__main__.py`)."""
    gc.freeze()
    gc.enable()


def tell(text: str) -> None:
    """Write to standard error, as far as somebody takes it."""
    try:
        resolve("posix:write")(2, text.encode("utf-8", "backslashreplace") + b"\n")
    except OSError:
        return


def internal_error(call: Call, problem: object) -> Ending:
    """Return the answer to a request that this server failed to answer."""
    return Failure(INTERNAL_ERROR, f"Internal error: {type(problem).__name__}: {problem}")
