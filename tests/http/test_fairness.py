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
