"""The calls of one session, step by step: what the client, the handlers, observers and the operator get (`*.txt`).

Handlers do only what a file says, and time passes only there.
"""

import heapq
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime import lazy, log
from mcpc_runtime.handlers import contracts
from mcpc_runtime.protocol import effects
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server import call_log, dispatcher, driver, handler_messages, running_calls, stdio_driver
from mcpc_runtime.server.replicas import signed_tokens
from mcpc_runtime.server.tasks import leases, manager, owned, store
from mcpc_runtime.transports import stdio
from support import protocol_servers
from support.dialogues import Dialogue
from support.expressions import Display, check_expressions
from support.needs import ROOT

GOLDEN = ROOT / "tests" / "golden" / "runtime" / "server"
MODULES = (call_log, handler_messages, dispatcher, driver, handler_messages, manager, running_calls, stdio_driver)


INPUT, OUTPUT = 7, 8


class Clock:
    """A reactor whose time passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers: list[tuple[float, int, Callable[[], None]]] = []
        self.numbers = itertools.count()
        self.watched: dict[int, tuple[int, Callable[[], None]]] = {}
        self.has_input: Callable[[], bool] = bool

    def __call__(self) -> float:
        return self.now

    clock = __call__

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        heapq.heappush(self.timers, (self.now + seconds, next(self.numbers), callback))

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        self.watched[descriptor] = events, callback

    def forget(self, descriptor: int) -> None:
        self.watched.pop(descriptor, None)

    def turn(self, lock: object) -> None:
        """Take input, or let the next timer be over."""
        if INPUT in self.watched and self.has_input():
            self.watched[INPUT][1]()
            return
        self.now, _, callback = heapq.heappop(self.timers)
        callback()

    def wake(self) -> None:
        """Nobody waits."""


class Channel:
    full = ended = False
    unsent = bytes_written = 0
    descriptor, output = INPUT, OUTPUT

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self.inputs: list[Any] = []
        self.broken: list[Exception] = []

    def read(self) -> list[bytes | None]:
        if not self.inputs:
            self.ended = True
            return []
        found = self.inputs.pop(0)
        if isinstance(found, Exception):
            raise found
        return list(found)

    def watch_parent(self) -> int:
        return -1

    def write(self, data: bytes) -> None:
        self.events.append(f"client: {data.decode().rstrip()}")

    def flush(self) -> bool:
        if self.broken:
            raise self.broken.pop(0)
        return not self.unsent


class Served:
    """A server with one session, and what happened since it was last asked."""

    def __init__(self, image: Any = None) -> None:
        self.events: list[str] = []
        self.clock = Clock()
        self.jobs: dict[int, tuple[Callable[..., None], Callable[..., None]]] = {}
        self.problems: list[Exception] = []
        self.missing: list[Callable[[str], None]] = []
        self.thread = InlineStore(self)
        image = image or protocol_servers.whole()
        self.client = Dialogue(image)
        self.old = Session(image)
        self.driver = stdio_driver.StdioDriver(image, self.old, Channel(self.events), 1 << 20)  # type: ignore[arg-type]
        self.driver.reactor = self.clock  # type: ignore[assignment]
        self.driver.observers = [self]
        self.old.wire = image.revision("2025-11-25")
        self.old.capabilities = {"elicitation": {"form": {}, "url": {}}, "roots": {}}

    def heard(self) -> Display:
        """Do what is queued, and return what happened."""
        self.driver.run_queued()
        happened = [f"    {event}" for event in self.events]
        self.events.clear()
        return Display("\n".join(happened) or "    nothing")

    def say(self, method: str, identifier: Any = 1, modern: bool = False, **params: Any) -> Display:
        given = {**params, "_meta": {**self.client.meta, **params.get("_meta", {})}} if modern else params
        return self.line({"jsonrpc": "2.0", "id": identifier, "method": method, "params": given})

    def call(self, name: str, identifier: Any = 1, modern: bool = False, **params: Any) -> Display:
        arguments = {"text": "x"} if name in ("echo", "measure", "asks") else {}
        return self.say("tools/call", identifier, modern, **{"name": name, "arguments": arguments, **params})

    def cancel(self, identifier: Any) -> Display:
        params = {"requestId": identifier}
        return self.line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def line(self, message: Any) -> Display:
        self.driver.lines.append(message if message is None else json.dumps(message).encode())
        return self.heard()

    def done(self, job: int, ending: Any) -> Display:
        self.jobs[job][0](ending)
        return self.heard()

    def note(self, job: int, *more: dict[str, Any], **values: Any) -> Display:
        for each in more or (values,):
            self.jobs[job][1](each)
        return self.heard()

    def wait(self, seconds: float) -> Display:
        """Let time pass."""
        end = round(self.clock.now + seconds, 6)
        while self.clock.timers and self.clock.timers[0][0] <= end:
            due, _, callback = heapq.heappop(self.clock.timers)
            self.clock.now = max(self.clock.now, due)
            callback()
            self.driver.run_queued()
        self.clock.now = end
        return self.heard()

    def run(self, *inputs: Any) -> Display:
        self.driver.reactor = None
        self.clock.has_input = lambda: not self.driver.channel.ended
        self.driver.channel.inputs = list(inputs)  # type: ignore[attr-defined]
        self.driver.run()
        self.events.append(f"ended with {self.driver.status} at {self.clock.now:g} s, {sorted(self.clock.watched)}")
        return self.heard()

    # What a runner, a check for programs, and an observer do.

    def start(self, invocation: Any, done: Callable[..., None], note: Callable[..., None]) -> int:
        if self.problems:
            raise self.problems.pop(0)
        number = len(self.jobs) + 1
        self.jobs[number] = done, note
        self.events.append(f"job {number}: {invocation.name} {json.dumps(invocation.arguments)}")
        return number

    def stop(self, job: object) -> None:
        self.events.append(f"job {job} is stopped")

    def answer(self, job: object, reply: object, result: object) -> None:
        self.events.append(f"job {job} gets {json.dumps(reply)}: {json.dumps(result)}")

    def close(self) -> None:
        self.events.append("closed")

    def began(self, call: Any) -> None:
        self.events.append(f"observed: {call.name} began")

    def ended(self, call: Any, status: str, seconds: float, ending: object) -> None:
        self.events.append(f"observed: {call.name} ended, {status}, after {seconds:g} s, {type(ending).__name__}")


class InlineStore:
    """The thread of a store, whose operations are done at once and told a moment later; `away`: what they fail with."""

    def __init__(self, server: Served) -> None:
        self.server = server
        self.store = store.MemoryStore()
        self.away: Exception | None = None

    def submit(self, operation: Any, done: Any, principal: str | None = None) -> None:
        problem = self.away
        outcome = problem if problem is not None else store.run_operation(operation, self.store)
        self.server.clock.after(0, lambda: done(outcome))

    def warn(self, problem: object) -> None:
        self.server.events.append(f"warned: {problem}")

    def close(self, last: Callable[[Any], None], seconds: float) -> None:
        last(self.store)
        self.server.events.append(f"the store is closed within {seconds:g} s")


class Requirements:
    """The check for programs of a server, which answers when a test says so."""

    def __init__(self, server: Served) -> None:
        self.server = server

    def start(self, definition: Any, done: Callable[[str], None]) -> str:
        self.server.missing.append(done)
        return f"check of {definition.requires}"

    def stop(self, job: object) -> None:
        self.server.events.append(f"{job} is stopped")

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Served]]:
    """Make servers whose handlers do what a test says."""
    current: list[Served] = []

    def make(image: Any = None) -> Served:
        current[:] = [Served(image)]
        for module in (running_calls, handler_messages):
            monkeypatch.setattr(module, "monotonic", current[0].clock)
        monkeypatch.setattr(store, "time", current[0].clock)
        lazy.resolved_rows.pop("manual:Runner", None)
        lazy.resolved_rows.pop("manual:Requirements", None)
        return current[0]

    def parse_result(call: object, ending: Any) -> Any:
        if isinstance(ending, Exception):
            raise ending
        return ending

    module: Any = ModuleType("manual")
    module.Runner = lambda *_: current[0]
    module.Requirements = lambda *_: Requirements(current[0])
    module.build_invocation = lambda call, image: SimpleNamespace(name=call.name, arguments=call.arguments)
    module.parse_result = parse_result
    monkeypatch.setitem(sys.modules, "manual", module)
    rows = dict.fromkeys(contracts.CONTRACTS, ("manual", "manual:Runner"))
    monkeypatch.setattr(dispatcher, "CONTRACTS", rows)
    monkeypatch.setattr(dispatcher, "REQUIREMENTS", "manual:Requirements")
    collector = SimpleNamespace(freeze=lambda: None, enable=lambda: current[0].events.append("garbage is collected"))
    monkeypatch.setattr(stdio_driver, "gc", collector)
    monkeypatch.setattr(manager, "StoreThread", lambda *_, **__: current[0].thread)
    monkeypatch.delitem(leases.system.environ, leases.LEASE_VARIABLE, raising=False)
    monkeypatch.setattr(stdio_driver, "Reactor", lambda: current[0].clock)
    monkeypatch.setattr(signed_tokens, "PROCESS_SIGNER", [signed_tokens.TokenSigner([b"k" * 16], lambda: 1000.0)])
    numbers = itertools.count()
    monkeypatch.setattr(signed_tokens.system, "urandom", lambda size: next(numbers).to_bytes(size, "big"))
    for place in (log, *MODULES):
        if hasattr(place, "log_line"):
            monkeypatch.setattr(place, "log_line", lambda text: current[0].events.append(f"log: {first_line(text)}"))
    yield make
    for row in ("manual:Runner", "manual:Requirements"):
        lazy.resolved_rows.pop(row, None)


def first_line(text: str) -> str:
    return text.partition("\n")[0]


@pytest.mark.parametrize(
    "name", ["calls", "client_requests", "handler_messages", "limits", "stdio_driver", "tasks", "call_log"]
)
def test_values(golden: Callable[[Path, str], None], served: Callable[..., Served], name: str, request: Any) -> None:
    patch, folder = request.getfixturevalue("monkeypatch"), request.getfixturevalue("tmp_path")
    known = {"served": served, "patch": patch, "folder": folder, "manual": sys.modules["manual"], "owned": owned}
    check_expressions(
        golden, GOLDEN / f"{name}.txt", protocol_servers, effects, call_log, stdio, running_calls=running_calls, **known
    )
