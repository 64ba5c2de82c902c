"""One tenant at its worst, over real HTTP: another's calls are answered, and nothing of its is evicted or refused."""

from __future__ import annotations

import json
import statistics
import threading
import time
from typing import TYPE_CHECKING

import pytest

from support.artifact import build
from support.processes import until
from support.serving import served
from support.tenants import (
    B_ONLY_ECHO,
    QUICK,
    TOKENS,
    WATCHED,
    A,
    B,
    Tenant,
    calls_without_pause,
    gauge,
    slow_calls,
    write_project,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.serving import Served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tenants")
    return build(write_project(folder / "project"), folder / "server.pyz", "--http")


@pytest.fixture
def server(artifact: Path) -> Iterator[Served]:
    with served(artifact, "--metrics", environment={"MCPC_TOKENS": TOKENS}) as running:
        yield running


@pytest.fixture
def a(server: Served) -> Iterator[Tenant]:
    tenant = Tenant(server.url, A)
    yield tenant
    tenant.close()


@pytest.fixture
def b(server: Served) -> Iterator[Tenant]:
    tenant = Tenant(server.url, B)
    yield tenant
    tenant.close()


@pytest.mark.parametrize("kind", QUICK)
def test_slow_calls_of_one_leave_room_for_anothers(server: Served, a: Tenant, b: Tenant, kind: str) -> None:
    """Another's are answered at all: each of the slow ones takes longer than a client waits."""
    expected = {name: b.call(name, text="x") for name in QUICK.values()}
    with slow_calls(a, kind, 300):
        until(lambda: gauge(server, "mcpc_requests_in_flight ") >= 300)
        assert {name: b.call(name, text="x") for name in QUICK.values()} == expected


@pytest.mark.parametrize("kind", QUICK)
def test_a_call_waits_for_few_of_those_that_another_makes_without_pause(a: Tenant, b: Tenant, kind: str) -> None:
    connections = 64
    passed = []
    with calls_without_pause(a, connections) as answered:
        while not answered.value:
            time.sleep(0.01)
        for _ in range(100):
            before = answered.value
            b.call(QUICK[kind], text="x")
            passed.append(answered.value - before)
    assert answered.value > connections
    assert statistics.median(passed) < connections / 4, passed


def test_who_has_too_many_calls_waits_and_is_served_in_the_end(a: Tenant, b: Tenant) -> None:
    sockets = [a.begin("slow", number=1.5) for _ in range(250)]
    for one in sockets:
        one.settimeout(60)
        data = b""
        while b"slow" not in data:
            part = one.recv(1 << 16)
            assert part, data
            data += part
        one.close()


def test_sessions_of_one_do_not_evict_anothers(a: Tenant, b: Tenant) -> None:
    b.initialize()
    b.say("resources/subscribe", uri=WATCHED)
    connection, stream = b.stream()
    b.say("logging/setLevel", level="error")
    other = b.again()
    other.initialize()
    assert other.say("resources/subscribe", uri=WATCHED)[0] == 200
    makers = [threading.Thread(target=make_sessions, args=(a.again(), 1050)) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    quiet, late = other.stream()  # this one had no stream, and nobody asked about it: it was silent longest
    assert late.status == 200
    a.call("change", text=WATCHED)
    assert [event_of(stream), event_of(late)] == [("notifications/resources/updated", WATCHED)] * 2
    for one in (connection, quiet):
        one.close()
    other.close()


def make_sessions(tenant: Tenant, count: int) -> None:
    for _ in range(count):
        tenant.initialize()
        assert tenant.say("logging/setLevel", level="error")[0] == 200
    tenant.close()


def event_of(stream) -> tuple[str, str]:
    """Return the next message of a stream that says something."""
    while True:
        line = stream.fp.readline()
        assert line, "the stream has ended"
        if line.startswith(b"data: {"):
            message = json.loads(line[6:])
            return message["method"], message["params"]["uri"]


def test_open_tasks_of_one_leave_room_for_anothers(a: Tenant, b: Tenant) -> None:
    refusal = {}
    for _ in range(1001):
        refusal = a.task(number=600)
    assert "1000 tasks are running, the maximum" in refusal["error"]["message"], "the last one is over the share"
    task = b.task(number=0)["result"]["taskId"]
    until(lambda: b.about("get", task)["result"]["status"] == "completed")


def test_events_of_one_do_not_evict_anothers(a: Tenant, b: Tenant) -> None:
    last = first_event(b, 100_000)
    for _ in range(3):
        talker = a.again()
        talker.initialize()
        for _ in range(30):
            first_event(talker, 1_000_000, within=True)
        talker.close()
    connection, stream = b.stream(last)
    assert stream.status == 200
    data = b""
    while b"x" * 100_000 not in data:
        line = stream.fp.readline()
        assert line, "the rest of the stream is gone"
        data += line
    connection.close()


def first_event(tenant: Tenant, size: int, *, within: bool = False) -> str:
    """Have an answer of this size said on a stream that can be resumed; return the id of its first event."""
    if not within:
        tenant.initialize()
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
    message["params"] = {"name": "speak", "arguments": {"number": size}, "_meta": {"progressToken": 1}}
    names = ("mcp-protocol-version", "2025-11-25"), ("mcp-session-id", tenant.session)
    connection = tenant.connection()
    connection.request("POST", "/mcp", json.dumps(message), tenant.headers(*names))
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    assert answer.getheader("content-type") == "text/event-stream"
    return next(line[4:].decode() for line in data.splitlines() if line.startswith(b"id: "))


def test_streams_of_one_do_not_keep_anothers_out(artifact: Path) -> None:
    with served(artifact, "--max-connections", "80", environment={"MCPC_TOKENS": TOKENS}) as running:
        a, b = Tenant(running.url, A), Tenant(running.url, B)
        opened = [a.listen() for _ in range(66)]
        statuses = [answer.status for _, answer in opened]
        assert statuses.count(200) == 60 and set(statuses) == {200, 503}
        assert b"your share" in opened[-1][1].read()
        connection, answer = b.listen()
        assert answer.status == 200
        for one, _ in opened:
            one.close()
        connection.close()
        until(lambda: listens(a))


def listens(tenant: Tenant) -> bool:
    """Tell whether a tenant may open one more stream."""
    connection, answer = tenant.listen()
    connection.close()
    return answer.status == 200


def test_a_token_that_allows_a_tool_no_more_sees_none_of_its_tasks(server: Served, b: Tenant) -> None:
    narrow = Tenant(server.url, B_ONLY_ECHO)
    task = b.task(number=0.2)["result"]["taskId"]
    for method in ("get", "cancel"):
        assert narrow.about(method, task)["error"]["code"] == -32602
    update = narrow.ask(
        "tasks/update", {"taskId": task, "inputResponses": {}}, extensions={"io.modelcontextprotocol/tasks": {}}
    )
    assert update["error"]["code"] == -32602
    assert "result" in b.about("get", task)
    narrow.close()
    b.close()
