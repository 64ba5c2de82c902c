"""A served file as the person who runs it meets it: tokens that change, signals, lines on standard error, the call log."""

import http.client
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.artifact import build
from support.files import write_files
from support.images import MODERN, project, tool
from support.processes import until
from support.serving import Served, served

ANN = "the-token-of-ann-0123456789"
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
PATIENCE = 30.0
HANDLERS = """
import os, time

def read_a(**given):
    return "read"

def slow(gate):
    open(gate + ".begun", "w").close()
    while not os.path.exists(gate):
        time.sleep(0.01)
    return "slow"
"""


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("operated")
    gated = {"type": "object", "properties": {"gate": {"type": "string"}}, "required": ["gate"]}
    write_files(folder, {**project([tool("read_a"), tool("slow", gated)]), "tools.py": HANDLERS})
    return build(folder, folder / "server.pyz", "--http")


def ask(server: Served, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    """Send a request whose header names have `_` for `-`, in one piece; return the status and body of its answer."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=PATIENCE)
    connection.connect()
    # The client sends head and body apart, and a request without a good token is answered by its head alone.
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    connection.request(method, path, body or None, {name.replace("_", "-"): value for name, value in headers.items()})
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def call(server: Served, name: str = "read_a", token: str = "", gate: object = None) -> tuple[int, bytes]:
    params = {"name": name, "arguments": {"gate": str(gate)} if gate else {}, "_meta": MODERN}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    given = {"authorization": f"Bearer {token}"} if token else {}
    usual = {"content_type": "application/json", "accept": "application/json", "mcp_name": name}
    versions = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call"}
    return ask(server, "POST", "/mcp", body, **usual, **versions, **given)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    found = tmp_path / "tokens"
    found.write_text(f"ann {ANN}\nbob the-token-of-bob-0123456789 read_*\n")
    found.chmod(0o600)
    return found


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The file that ends the calls of `slow`; another beside it tells that one has begun."""
    return tmp_path / "gate"


@contextmanager
def slow_call(server: Served, gate: Path, token: str = "") -> Iterator[list[int]]:
    """Have a call run within the block; at its end, let it end, and put the status of its answer into the list."""
    statuses: list[int] = []
    caller = threading.Thread(target=lambda: statuses.append(call(server, "slow", token, gate=gate)[0]))
    caller.start()
    until(Path(f"{gate}.begun").exists)
    yield statuses
    gate.touch()
    caller.join()


@pytest.fixture
def guarded(artifact: Path, secret: Path) -> Iterator[Served]:
    with served(artifact, "--token-file", str(secret), "--metrics") as server:
        yield server


def lines(server: Served, beginning: str = "") -> list[str]:
    """The lines on standard error that have a time, without it."""
    found = [re.fullmatch(f"({STAMP})(.*)", line) for line in server.errors.read_text().splitlines()]
    return [match[2] for match in found if match and match[2].startswith(beginning)]


def test_sighup_reads_tokens_and_ends_nothing(guarded: Served, secret: Path, gate: Path) -> None:
    told = f"{secret} was read again: 2 tokens, 0 new, 0 removed"
    with slow_call(guarded, gate, ANN) as statuses:
        for count in (1, 2, 3):
            guarded.process.send_signal(signal.SIGHUP)
            until(lambda count=count: lines(guarded).count(told) == count)
    assert statuses == [200], "a call under way is not touched"
    assert guarded.process.poll() is None and call(guarded, token=ANN)[0] == 200


def test_stopping_says_what_is_under_way_and_that_it_stopped(artifact: Path, gate: Path) -> None:
    with served(artifact) as server:
        assert call(server)[0] == 200
        with slow_call(server, gate):
            server.process.terminate()
            until(lambda: lines(server, "stopping"))
        server.process.wait(PATIENCE)
        assert lines(server) == ["stopping, 1 call under way: slow; they have 10 s", "stopped"]
