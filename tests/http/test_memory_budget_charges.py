"""Charges to the memory budget over real HTTP: what was answered, or will never be, is charged no longer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.artifact import build
from support.knocks import LEGACY, request
from support.processes import until
from support.serving import served
from support.tenants import TOKENS, A, Tenant, gauge, write_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.serving import Served

pytestmark = pytest.mark.slow

SIZE = 100_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("charges")
    file = build(write_project(folder / "project"), folder / "server.pyz", "--http")
    with served(file, "--metrics", environment={"MCPC_TOKENS": TOKENS}) as running:
        yield running


@pytest.fixture
def a(server: Served) -> Iterator[Tenant]:
    tenant = Tenant(server.url, A)
    yield tenant
    tenant.close()


def charged(server: Served) -> int:
    """Return how many bytes are charged, but for this very request."""
    return gauge(server, "mcpc_memory_charged_bytes ")


@pytest.mark.parametrize("tool", ["quick", "echo"])
def test_a_large_answer_is_charged_no_longer_when_it_is_sent(server: Served, a: Tenant, tool: str) -> None:
    a.call(tool, text="x")
    before = charged(server)
    for _ in range(20):
        assert len(a.call(tool, text="x" * SIZE)) == SIZE
    until(lambda: charged(server) <= before)


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/event-stream"])
def test_an_answer_whose_client_has_left_is_not_charged(server: Served, a: Tenant, accept: str, tmp_path: Path) -> None:
    a.initialize()
    before, ended = charged(server), 'mcpc_calls_total{kind="tool",name="late"'
    calls = gauge(server, ended)
    session = {"mcp-protocol-version": LEGACY, "mcp-session-id": a.session, "accept": accept}
    for number in range(3):
        gate = tmp_path / str(number)
        arguments = {"number": 10 * SIZE, "gate": str(gate)}
        connection = a.connection()
        body = json.dumps(request("tools/call", {"name": "late", "arguments": arguments}, number))
        connection.request("POST", "/mcp", body, {**a.headers(), **session})
        until((tmp_path / f"{number}.begun").exists)
        connection.close()
        gate.touch()
    until(lambda: gauge(server, ended) == calls + 3)
    until(lambda: charged(server) <= before)


def test_a_body_is_charged_once_while_its_call_runs(server: Served, a: Tenant, tmp_path: Path) -> None:
    """To its principal, and no longer to the connection that brought it."""
    before = charged(server)
    arguments = {"number": 1, "more": "x" * SIZE, "gate": str(tmp_path / "gate")}
    body = a.raw("tools/call", {"name": "late", "arguments": arguments})
    connection = a.connect()
    connection.sendall(body[:-20_000])
    until(lambda: charged(server) > before)
    connection.sendall(body[-20_000:])
    until((tmp_path / "gate.begun").exists)
    assert SIZE < charged(server) - before <= 5 * SIZE
    connection.close()
    until(lambda: charged(server) <= before)
