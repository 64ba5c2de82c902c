"""The task manager without a process: stores that fail at the worst moment, clients that leave, strangers, no room."""

import json
import threading
import time

import pytest

from mcpc_runtime.concurrency.fair_shares import SharedPool
from mcpc_runtime.protocol.client_requests.handler_requests import checked_requests
from mcpc_runtime.protocol.effects import DeliverAnswer, Failure, StartHandler, StopHandler
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas.signed_tokens import TokenSigner
from mcpc_runtime.server.tasks import leases, manager, owned
from mcpc_runtime.server.tasks import store as task_store
from mcpc_runtime.server.tasks.manager import TaskManager
from mcpc_runtime.server.tasks.store import MemoryStore, StoreError
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.clocks import Clock
from support.images import archive, ask, image_of, project, request, tool

EXTENSION = "io.modelcontextprotocol/tasks"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"roots": {}, "elicitation": {}, "extensions": {EXTENSION: {}}},
}
ROOTS = {"k": {"method": "roots/list", "params": {}}}
LEASE = 50.0
"""Longer than a test takes: leases expire when the clock is put forward."""
RESULT = b'{"content":[]}'


def handled(task):
    return {"_meta": {"mcpc/handler": {"task": task}}}


@pytest.fixture(scope="module")
def image():
    tools = [
        tool(
            "work",
            {"type": "object", "properties": {"a": {"type": "integer"}}},
            **handled("optional"),
            annotations={"readOnlyHint": True},
        ),
        tool("once", **handled("optional"), annotations={"readOnlyHint": False, "destructiveHint": False}),
    ]
    return image_of(archive(project(tools)).data)


class Flaky(MemoryStore):
    """A store that fails while it is told to: before it does a thing, or after."""

    def __init__(self):
        self.clock = Clock()
        super().__init__()
        self.broken = self.deaf = False
        self.ticks = 0
        self.orders: list[str] = []

    def now(self):
        return super().now() + int(self.clock.ahead * 1000)

    def _check(self, name):
        self.orders.append(name)
        if self.broken:
            raise StoreError("the store is away")

    def add(self, task, call):
        self._check("add")
        super().add(task, call)
        if self.deaf:
            raise StoreError("nothing was heard of it")

    def read(self, identifier):
        self._check("read")
        return super().read(identifier)

    def change(self, identifier, step):
        self._check("change")
        return super().change(identifier, step)

    def remove(self, identifier):
        self._check("remove")
        super().remove(identifier)

    def due(self, most, without=()):
        self._check("due")
        return super().due(most, without)

    def news(self):
        self.ticks += 1  # the last that is asked in a tick
        return super().news()

    def renew(self, fences, milliseconds):
        self._check("renew")
        return super().renew(fences, milliseconds)

    @property
    def ids(self):
        return list(self._tasks)


class Server:
    """What drives a manager: effects are kept in lists, and nothing is run but what a test says."""

    crowded = is_shared = False

    def __init__(self, image, store):
        self.image = image
        self.store = store
        self.effects = []
        self.done = []
        self.reactor = Reactor(store.clock)
        self.manager = TaskManager(self, self)

    def is_crowded(self, principal):
        return self.crowded

    def watch(self):
        return self.reactor

    def post_effects(self, effects):
        self.effects += effects

    def run(self, found, seconds=60.0):
        """Turn until `found()` is true, and return it."""
        end = time.monotonic() + seconds
        self.reactor.after(0.01, lambda: None)
        while True:
            self.done += self.effects
            self.effects.clear()
            value = found()
            if value:
                return value
            assert time.monotonic() < end, [type(effect).__name__ for effect in self.done]
            self.reactor.after(0.01, lambda: None)
            self.reactor.turn()

    def rest(self, seconds=0.0):
        """Put the clock forward; after each step everything that is due by then is done."""
        for _ in range(1 + int(seconds * 4 / LEASE)):
            self.store.clock.ahead += min(seconds, LEASE / 4)
            ticks = self.store.ticks
            self.run(lambda ticks=ticks: self.store.ticks > ticks + 1)

    def of(self, kind):
        return [effect for effect in self.done if type(effect) is kind]

    @property
    def started(self):
        return [effect.call for effect in self.of(StartHandler)]

    @property
    def stopped(self):
        return [effect.call for effect in self.of(StopHandler)]

    def call(self, name="work", principal="", identifier=1):
        """A call of a client, taken as a task; its session too."""
        session = Session(self.image)
        session.principal = principal
        start = ask(session, request("tools/call", {"name": name, "arguments": {}, "_meta": META}, identifier))
        assert self.manager.takes(start.call)
        return session, start.call

    def answer(self, number=0):
        found = self.run(lambda: self.of(SendResponse)[number:])[0]
        return json.loads(found.data)

    def task(self, name="work", principal=""):
        """A task that runs: its id and the call of its handler."""
        before, started = len(self.of(SendResponse)), len(self.started)
        self.call(name, principal)
        identifier = self.answer(before)["result"]["taskId"]
        self.run(lambda: len(self.started) > started)
        return identifier, self.started[-1]

    def perform(self, method, identifier, principal="", **params):
        """The ending of a request about a task."""
        session = Session(self.image)
        session.principal = principal
        start = ask(session, request(method, {"taskId": identifier, **params, "_meta": META}))
        endings = []
        self.manager.perform(start.call, endings.append)
        self.run(lambda: endings)
        return endings[0]

    def status(self, identifier):
        return self.perform("tasks/get", identifier).result["status"]


@pytest.fixture
def server(image, monkeypatch):
    monkeypatch.setattr(owned, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(manager, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(leases, "SCAN_SECONDS", 0.02)
    monkeypatch.setattr(leases, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(leases, "IDLE_SECONDS", 0.02)
    monkeypatch.setattr(leases, "LEASE_SECONDS", LEASE)
    monkeypatch.setattr(task_store, "log_line", lambda text: None)
    store = Flaky()
    monkeypatch.setattr(manager, "open_store", lambda name, archive: store)
    one = Server(image, store)
    yield one
    one.manager.close()


def test_a_task_of_which_nobody_knows_whether_it_is_kept_is_forgotten(server):
    """The store did it, and then its answer was lost: the client is told an error, so nothing may be run, ever."""
    server.store.deaf = True
    server.call("once")
    assert server.answer()["error"]["code"] == -32603
    server.run(lambda: "remove" in server.store.orders)
    server.rest(2 * LEASE)
    assert (server.started, server.store.ids) == ([], [])


def test_it_is_forgotten_as_soon_as_the_store_is_there_again(server):
    server.store.deaf = server.store.broken = False
    server.store.deaf = True
    add = server.store.add

    def adds_and_leaves(task, call):
        try:
            add(task, call)
        finally:
            server.store.broken = True

    server.store.add = adds_and_leaves
    server.call()
    server.answer()
    server.rest()
    assert len(server.store.ids) == 1
    server.store.broken = False
    server.run(lambda: not server.store.ids)
    assert server.started == []


def test_a_task_that_took_too_long_to_be_kept_is_begun_by_whoever_is_quicker(server):
    """Its lease was over before anybody began it: it is put back, and may be begun although it may not run twice."""
    add = server.store.add

    def slow(task, call):
        add(task, call)
        server.store.clock.ahead += LEASE

    server.store.add = slow
    server.call("once")
    identifier = server.answer()["result"]["taskId"]
    server.run(lambda: server.started)
    server.rest(LEASE)
    assert len(server.started) == 1
    server.manager.finish(server.started[0], RESULT)
    server.run(lambda: server.status(identifier) == "completed")


def test_a_store_that_is_too_slow_is_not_told_ever_more(server, monkeypatch):
    monkeypatch.setattr(server.manager._store_thread, "_room", SharedPool(3, 3))
    identifier, _ = server.task()
    read = server.store.read
    go_on = threading.Event()
    server.store.read = lambda name: (go_on.wait(60), read(name))[1]
    session, endings = Session(server.image), []
    for number in range(20):
        start = ask(session, request("tasks/get", {"taskId": identifier, "_meta": META}, 100 + number))
        server.manager.perform(start.call, endings.append)
    server.run(lambda: len(endings) == 17)
    assert {ending.code for ending in endings} == {-32603}
    go_on.set()
    server.run(lambda: len(endings) == 20)
    assert not any(isinstance(ending, Failure) for ending in endings[17:])


def asked(server, call, number, requests):
    questions, refusal = checked_requests(call, requests)
    return refusal or server.manager.ask(call, number, questions, TokenSigner([b"k" * 32]))


def test_a_question_is_asked_as_soon_as_the_store_is_there_again(server):
    identifier, call = server.task()
    server.store.broken = True
    assert asked(server, call, 7, ROOTS) == []
    server.rest()
    server.store.broken = False
    server.run(lambda: server.status(identifier) == "input_required")
    server.perform("tasks/update", identifier, inputResponses={"k": {"roots": []}})
    given = server.run(lambda: server.of(DeliverAnswer))[0]
    assert (given.call, given.reply, given.value) == (call, 7, {"answers": {"k": {"roots": []}}})
    assert asked(server, call, 8, ROOTS) == {"answers": {"k": {"roots": []}}}
    form = {"message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
    for requests in ({"k": {"method": "elicitation/create", "params": form}}, {"k": {"method": "unknown"}}):
        assert asked(server, call, 9, requests)["error"]["code"] == -32602
    server.manager.finish(call, RESULT)
    server.run(lambda: server.status(identifier) == "completed")
    assert asked(server, call, 10, ROOTS)["error"]["code"] == -32603


def test_a_task_that_another_may_have_by_now_is_stopped_and_one_that_no_other_runs_is_not(server):
    _, again = server.task("work")
    identifier, once = server.task("once")
    server.store.broken = True
    server.rest(2 * LEASE)
    assert server.stopped == [again]
    server.manager.finish(again, RESULT)  # too late
    server.manager.finish(once, RESULT)
    server.store.broken = False
    server.run(lambda: not server.manager.busy)
    assert server.status(identifier) == "completed"
    server.run(lambda: len(server.started) == 3)
    assert server.started[-1].definition.name == "work"


def test_a_server_that_is_crowded_begins_nothing(server):
    server.crowded = True
    server.call()
    server.answer()
    server.rest()
    assert server.started == []
    server.crowded = False
    server.run(lambda: server.started)


def test_a_server_that_ends_lets_go_of_what_may_begin_again_and_ends_the_rest(server):
    work, _ = server.task("work")
    once, _ = server.task("once")
    ended, call = server.task("once")
    server.store.broken = True
    server.manager.finish(call, RESULT)
    server.rest()
    server.store.broken = False
    server.manager.close()
    found = [server.store.read(one) for one in (work, once, ended)]
    assert [task.status for task in found] == ["working", "failed", "completed"]
    assert (found[0].owner, found[0].lease) == ("", 0)
