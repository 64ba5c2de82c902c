"""A served file as the person who runs it meets it: tokens that change, signals, lines on standard error, the call log."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from support.artifact import build
from support.images import MODERN, project, tool
from support.serving import served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.serving import Served

ANN, BOB, EVE = "the-token-of-ann-0123456789", "the-token-of-bob-0123456789", "the-token-of-eve-0123456789"
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
    for name, text in {**project([tool("read_a"), tool("slow", gated)]), "tools.py": HANDLERS}.items():
        (folder / name).write_text(str(text))
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


def call(
    server: Served, name: str = "read_a", token: str = "", identifier: Any = 1, gate: object = None, **headers: str
) -> tuple[int, bytes]:
    arguments, trace = ({"gate": str(gate)}, {"traceparent": TRACE}) if gate else ({}, {})
    params = {"name": name, "arguments": arguments, "_meta": {**MODERN, **trace}}
    body = json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}).encode()
    given = {"authorization": f"Bearer {token}"} if token else {}
    usual = {"content_type": "application/json", "accept": "application/json", "mcp_name": name}
    versions = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call"}
    return ask(server, "POST", "/mcp", body, **{**usual, **versions, **given, **headers})


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def until(holds: Callable[[], Any], what: str) -> Any:
    """Wait until something holds; return it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"in {PATIENCE:g} s it did not come to it that {what}")


def write(secret: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file as an operator's tools do: whole."""
    new = secret.with_name("new")
    new.write_text(text)
    new.chmod(mode)
    new.replace(secret)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    found = tmp_path / "tokens"
    write(found, f"ann {ANN}\nbob {BOB} read_*\n")
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
    until(Path(f"{gate}.begun").exists, "it runs")
    yield statuses
    gate.touch()
    caller.join()


@pytest.fixture
def guarded(artifact: Path, secret: Path) -> Iterator[Served]:
    with served(artifact, "--token-file", str(secret), "--metrics") as server:
        yield server


@pytest.mark.parametrize("path", ["/mcp%2f", "/%6dcp", "/%2fmcp", "/mcp%2F", "/mcp%", "/m%63p"])
@pytest.mark.sampled(3)
def test_another_spelling_of_a_path_is_another_path(guarded: Served, path: str) -> None:
    assert call(guarded, token=ANN)[0] == 200
    assert ask(guarded, "POST", path, b"{}", authorization=f"Bearer {ANN}", content_type="application/json")[0] == 404


def test_another_spelling_of_metrics_is_another_path(guarded: Served) -> None:
    bearer = f"Bearer {ANN}"
    assert ask(guarded, "GET", "/metrics", authorization=bearer)[0] == 200
    assert ask(guarded, "GET", "/%6detrics", authorization=bearer)[0] == 404


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x_forwarded_for", "203.0.113.9"),
        ("forwarded", "for=203.0.113.9"),
        ("via", "1.1 proxy"),
        ("x_real_ip", "203.0.113.9"),
        ("X_Forwarded_Proto", "https"),
        ("x_forwarded_host", "mcp.example.com"),
    ],
)
def test_without_tokens_what_a_proxy_passed_on_is_refused(open_server: Served, name: str, value: str) -> None:
    assert call(open_server)[0] == 200
    status, body = call(open_server, **{name: value})
    assert status == 403
    assert all(word in body.decode() for word in ("--token-file", "--trust-proxy", "--open"))
    assert ask(open_server, "GET", "/healthz", **{name: value})[0] == 200


@pytest.fixture(scope="module")
def open_server(artifact: Path) -> Iterator[Served]:
    with served(artifact) as server:
        yield server


@pytest.mark.parametrize("words", [("--open",), ("--trust-proxy", "127.0.0.1/32")])
def test_a_proxy_that_was_told_of_may_pass_requests_on(artifact: Path, words: tuple[str, ...]) -> None:
    with served(artifact, *words) as server:
        assert call(server, x_forwarded_for="203.0.113.9")[0] == 200


def test_with_tokens_a_proxy_may_pass_requests_on(guarded: Served) -> None:
    assert call(guarded, token=ANN, x_forwarded_for="203.0.113.9", via="1.1 x")[0] == 200


def test_metrics_are_not_for_a_token_that_sees_only_some_tools(guarded: Served) -> None:
    assert ask(guarded, "GET", "/metrics", authorization=f"Bearer {ANN}")[0] == 200
    status, body = ask(guarded, "GET", "/metrics", authorization=f"Bearer {BOB}")
    assert status == 403 and b"every tool" in body and b"mcpc_" not in body


def lines(server: Served, beginning: str = "") -> list[str]:
    """The lines on standard error that have a time, without it."""
    found = [re.fullmatch(f"({STAMP})(.*)", line) for line in server.errors.read_text().splitlines()]
    return [match[2] for match in found if match and match[2].startswith(beginning)]


@contextmanager
def listening(server: Served, token: str) -> Iterator[http.client.HTTPResponse]:
    """Open a subscription, which stays open."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=PATIENCE)
    params = {"_meta": MODERN, "notifications": {"toolsListChanged": True}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params})
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "accept": "text/event-stream"}
    versions = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    connection.request("POST", "/mcp", body, {**headers, **versions})
    with closing(connection), connection.getresponse() as answer:
        assert answer.status == 200, answer.read()
        assert answer.readline()
        yield answer


def test_a_changed_token_file_is_read_again(guarded: Served, secret: Path) -> None:
    assert (call(guarded, token=ANN)[0], call(guarded, token=EVE)[0]) == (200, 401)
    write(secret, f"eve {EVE}\nbob {BOB} read_*\n")
    until(lambda: call(guarded, token=EVE)[0] == 200, "the new token is taken")
    assert call(guarded, token=ANN)[0] == 401, "a removed token is refused"
    assert call(guarded, token=BOB)[0] == 200
    assert lines(guarded, f"{secret} was read again: ") == [f"{secret} was read again: 2 tokens, 1 new, 1 removed"]
    assert not any(token in guarded.errors.read_text() for token in (ANN, BOB, EVE))


@pytest.mark.slow
def test_streams_of_a_removed_token_end_and_others_stay(everything_server: Path, secret: Path) -> None:
    write(secret, f"ann {ANN}\nann {EVE}\nbob {BOB}\n")
    with ExitStack() as stack:
        server = stack.enter_context(served(everything_server, "--token-file", str(secret)))
        gone, *others = (stack.enter_context(listening(server, token)) for token in (ANN, EVE, BOB))
        write(secret, f"ann {EVE}\nbob {BOB}\n")
        assert b"data" in gone.read(), "it ends, and says so"
        assert not select.select([answer.fp for answer in others], [], [], 1.0)[0], "nothing more comes, and no end"


WRONG_FILES = {
    "weak": ("ann short\n", 0o600),
    "open to others": (f"eve {EVE}\n", 0o644),
    "empty": ("", 0o600),
    "not tokens": ("a b c d e\n", 0o600),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*WRONG_FILES, "missing"])
def test_a_token_file_that_became_invalid_changes_nothing_and_is_told_once(
    guarded: Served, secret: Path, name: str
) -> None:
    if name == "missing":
        secret.unlink()
    else:
        write(secret, *WRONG_FILES[name])
    until(lambda: lines(guarded, str(secret)), "it is told")
    assert (call(guarded, token=ANN)[0], call(guarded, token=EVE)[0]) == (200, 401)
    time.sleep(2.5)
    (said,) = lines(guarded, str(secret))
    assert said.endswith("the tokens that were read before still count")
    write(secret, f"eve {EVE}\n")
    until(lambda: call(guarded, token=EVE)[0] == 200, "a file that was corrected is read")


def test_sighup_reads_tokens_and_ends_nothing(guarded: Served, secret: Path, gate: Path) -> None:
    told = f"{secret} was read again: 2 tokens, 0 new, 0 removed"
    with slow_call(guarded, gate, ANN) as statuses:
        for count in (1, 2, 3):
            guarded.process.send_signal(signal.SIGHUP)
            until(lambda count=count: lines(guarded).count(told) == count, "it is told")
    assert statuses == [200], "a call under way is not touched"
    assert guarded.process.poll() is None and call(guarded, token=ANN)[0] == 200


def test_sighup_without_a_token_file_says_that_there_is_nothing_to_read(artifact: Path) -> None:
    with served(artifact) as server:
        server.process.send_signal(signal.SIGHUP)
        until(lambda: lines(server, "SIGHUP: there is no token file"), "it is told")
        assert call(server)[0] == 200


def test_stopping_says_what_is_under_way_and_that_it_stopped(artifact: Path, gate: Path) -> None:
    with served(artifact) as server:
        assert call(server)[0] == 200
        with slow_call(server, gate):
            server.process.terminate()
            until(lambda: lines(server, "stopping"), "it is told")
        server.process.wait(PATIENCE)
        assert lines(server) == ["stopping, 1 call under way: slow; they have 10 s", "stopped"]


def test_an_idle_server_says_that_it_stops(artifact: Path) -> None:
    with served(artifact) as server:
        server.process.terminate()
        server.process.wait(PATIENCE)
        assert lines(server) == ["stopping", "stopped"]
        assert server.errors.read_text().startswith("serving http://"), "programs wait for this line"


def test_a_line_has_no_time_where_the_journal_adds_one(artifact: Path, tmp_path: Path) -> None:
    with (tmp_path / "journal").open("wb") as journal:
        found = os.fstat(journal.fileno())
        variables = {**os.environ, "JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
        argv = [sys.executable, str(artifact), "serve", "--http", "127.0.0.1:0"]
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=journal, env=variables)
    until(lambda: b"serving" in (tmp_path / "journal").read_bytes(), "it serves")
    process.terminate()
    process.wait(PATIENCE)
    assert (tmp_path / "journal").read_text().splitlines()[1:] == ["stopping", "stopped"]


def test_a_refusal_names_the_tool_of_this_server_and_no_other(guarded: Served) -> None:
    bearer = {"token": ANN}
    assert call(guarded, "read_a", "", content_type="application/json")[0] == 401
    assert call(guarded, "no_such", **bearer)[0] == 400
    assert call(guarded, "read_a", **bearer, mcp_name="other")[0] == 400
    found = [line.removeprefix("refused: ") for line in lines(guarded, "refused: ")]
    assert found[0].startswith("401 POST /mcp from 127.0.0.1: tools/call read_a: ")
    assert found[1] == "400 POST /mcp from 127.0.0.1: tools/call: error -32602"
    assert found[2].startswith("400 POST /mcp from 127.0.0.1: tools/call read_a: error ")
    assert "no_such" not in guarded.errors.read_text()


def test_what_clients_ask_of_any_server_is_no_refusal(guarded: Served) -> None:
    bearer = f"Bearer {ANN}"
    status, body = ask(guarded, "GET", "/mcp", authorization=bearer, accept="text/event-stream")
    assert status == 405 and b"does not offer the GET event stream" in body
    probes = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server/mcp")
    for method, path in [*(("GET", one) for one in probes), ("POST", "/register")]:
        status, body = ask(guarded, method, path)
        assert status == 404 and b"send a bearer token in the Authorization header" in body
    status, body = call(guarded)
    assert status == 401 and b"send a bearer token in the Authorization header" in body
    assert [line[:12] for line in lines(guarded, "refused")] == ["refused: 401"]


def logged(log: Path, count: int) -> list[dict[str, Any]]:
    """The lines of a call log, when there are so many."""
    until(lambda: log.exists() and log.read_text().count("\n") >= count, f"{count} calls are written down")
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.slow
def test_the_call_log_says_who_from_where_and_which_request(artifact: Path, secret: Path, tmp_path: Path) -> None:
    log, gate = tmp_path / "calls.jsonl", tmp_path / "gate"
    gate.touch()
    with served(artifact, "--token-file", str(secret), environment={"MCPC_CALL_LOG": str(log)}) as server:
        assert call(server, token=ANN, identifier=7)[0] == 200
        assert call(server, token=BOB, identifier="x" * 1000)[0] == 200
        assert call(server, "slow", ANN, 8, gate=gate)[0] == 200
        begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        headers = {"authorization": f"Bearer {ANN}", "content-type": "application/json", "accept": ACCEPTED}
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=PATIENCE)
        with closing(connection):
            connection.request("POST", "/mcp", json.dumps(message("initialize", begin)), headers)
            with connection.getresponse() as answer:
                session = answer.headers["mcp-session-id"]
                answer.read()
            params = {"name": "read_a", "arguments": {}}
            named = {**headers, "mcp-session-id": session}
            connection.request("POST", "/mcp", json.dumps(message("tools/call", params, 9)), named)
            with connection.getresponse() as answer:
                assert answer.status == 200 and answer.read()
        one, two, three, four = logged(log, 4)
    assert (one["id"], one["principal"], one["client"]) == (7, "token ann", "127.0.0.1")
    assert "session" not in one and "trace" not in one
    assert (two["id"], two["principal"]) == ("x" * 64, "token bob")
    assert (three["tool"], three["trace"]) == ("slow", TRACE)
    assert (four["id"], four["principal"], four["client"]) == (9, "token ann", "127.0.0.1")
    assert re.fullmatch("[0-9a-f]{8}", four["session"]) and four["session"] not in session
    assert not any(hidden in log.read_text() for hidden in (ANN, BOB, session))


def test_the_call_log_has_the_address_that_a_trusted_proxy_tells(artifact: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    variables = {"MCPC_CALL_LOG": str(log)}
    with served(artifact, "--trust-proxy", "127.0.0.1/32", environment=variables) as server:
        assert call(server, x_forwarded_for="198.51.100.4, 203.0.113.9")[0] == 200
        assert logged(log, 1)[0]["client"] == "203.0.113.9"


ACCEPTED = "application/json, text/event-stream"


def message(method: str, params: dict[str, Any], identifier: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
