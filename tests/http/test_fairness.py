"""One tenant at its worst, over real HTTP: another's calls are answered, and nothing of its is evicted or refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.artifact import built_fixture
from support.processes import until
from support.serving import Served, served
from support.tenants import QUICK, TOKENS, A, B, Tenant, gauge, slow_calls, write_project

pytestmark = pytest.mark.slow


artifact = built_fixture(write_project, "--http")


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
