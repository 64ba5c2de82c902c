"""What who runs a server is told of refused requests and of errors that asyncio and uvicorn log: why, and nothing that was sent."""

import asyncio
import http.client
import json
import logging
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcpc_runtime.http import server_log
from mcpc_runtime.http.principals import ANONYMOUS, Principal
from mcpc_runtime.http.serve import prepare
from mcpc_runtime.http.server_log import MAX_LINES, RefusalLog, refusal_reason
from support.serving import Served, served

TOKEN, SECRET = "a-token-that-is-long-enough-0123456789", "sEcReT"
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def ask(server: Served, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> int:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    connection.request(method, path, body, {**HEADERS, **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def raw(server: Served, data: bytes) -> None:
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(data)
        while connection.recv(65536):
            pass


def test_nothing_of_a_client_is_in_what_is_told(everything_server: Path) -> None:
    with served(everything_server, environment={"MCPC_TOKENS": f"ann {TOKEN}"}) as server:
        ask(
            server,
            "POST",
            f"/{SECRET}",
            {"authorization": f"Bearer {SECRET}", "host": SECRET, "cookie": SECRET},
            SECRET.encode(),
        )
        raw(server, f"GET /{SECRET} HTTP/1.1\r\nhost: {SECRET}\r\n{SECRET}\r\n\r\n".encode())
        raw(server, f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {SECRET}\r\n\r\n".encode())
        text = server.errors.read_text()
        assert text.count("refused:") == 3
        assert SECRET not in text and TOKEN not in text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"why"}}', "why"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"what was sent"}}', "error -32602"),
        (b'{"error":{"message":"a\\nb\\u001b[31m"}}', "a?b?[31m"),
        (b'{"error":{"message":"' + b"x" * 1000 + b'"}}', "x" * 200),
        (b'{"error":"a"}', "a"), (b'{"error":7}', ""), (b"[]", ""), (b"{", ""), (b"", ""), (b"plain", ""), (b'{"error":{}}', ""),
    ],
)  # fmt: skip
def test_the_reason_is_ours(body: bytes, words: str) -> None:
    assert refusal_reason(body) == words


def test_a_flood_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    now = [100.0]
    monkeypatch.setattr(server_log, "log_line", said.append)
    monkeypatch.setattr(server_log, "monotonic", lambda: now[0])
    made = RefusalLog(lambda: ("/mcp",))
    for _ in range(1000):
        made.add(404, ("BREW", "/tea", None), b"")
    assert said == ["refused: 404 a request elsewhere"] * MAX_LINES
    now[0] += 1.5
    made.add(404, ("POST", "/mcp", ("::1", 5)), b"")
    made.add(404, ("POST", "/mcp", ("::1", 5)), b"")
    assert said[MAX_LINES:] == [f"refused: 404 POST /mcp from ::1 ({1000 - MAX_LINES} more before it)"]
    made.close()
    made.close()
    assert said[MAX_LINES + 1 :] == ["refused: 1 more"]


@pytest.mark.parametrize(
    ("status", "method", "path", "is_one"),
    [
        (405, "GET", "/mcp", True), (405, "GET", "/x", False), (405, "PUT", "/mcp", False), (404, "POST", "/.well-known/x", True),
        (404, "GET", "/register", True), (404, "GET", "/token/", False), (403, "GET", "/token", False), (400, "GET", "/mcp", False),
    ],
)  # fmt: skip
def test_clients_probe_any_server(status: int, method: str, path: str, is_one: bool) -> None:
    assert server_log.is_probe(status, method, path, ("/mcp",)) is is_one


@pytest.mark.parametrize(
    ("message", "described"),
    [
        ({"method": "tools/call", "params": {"name": "t"}}, "tools/call t"), ({"method": "tools/call", "params": {"name": "u"}}, "tools/call"),
        ({"method": "tools/call", "params": {"name": 5}}, "tools/call"), ({"method": "tools/call", "params": []}, "tools/call"),
        ({"method": "prompts/get", "params": {"name": "t"}}, "prompts/get"), ({"method": "no/such"}, ""), ({"method": 5}, ""), ([], ""),
    ],
)  # fmt: skip
def test_of_a_message_what_the_server_has_is_logged(message: object, described: str) -> None:
    image: Any = SimpleNamespace(run_time_kinds=(), tool={"t": 1}.get)
    assert server_log.describe_message(json.dumps(message).encode(), image) == described
    image.run_time_kinds = ("tools",)
    assert server_log.describe_message(json.dumps(message).encode(), image) == described.removesuffix(" t")


def test_who_was_refused_and_that_its_list_lacks_the_tool_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(server_log, "log_line", said.append)
    image: Any = SimpleNamespace(run_time_kinds=(), tool={"slow": 1, "fast": 2}.get)
    made = RefusalLog(lambda: ("/mcp",), lambda _, message, owner: server_log.describe_message(message, image, owner))
    bob = Principal("token bob\n", "fast".__eq__)
    answer = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: slow"}}'
    for name, owner in (("slow", bob), ("fast", bob), ("none", bob), ("slow", Principal("ann")), ("slow", ANONYMOUS)):
        message = json.dumps({"method": "tools/call", "params": {"name": name}}).encode()
        made.add(400, ("POST", "/mcp", ("h", 5)), answer, message, owner)
    assert said == [
        "refused: 400 POST /mcp from h by token bob?: tools/call slow, which is not in its list of tools: error -32602",
        "refused: 400 POST /mcp from h by token bob?: tools/call fast: error -32602",
        "refused: 400 POST /mcp from h by token bob?: tools/call: error -32602",
        "refused: 400 POST /mcp from h by ann: tools/call slow: error -32602",
        "refused: 400 POST /mcp from h: tools/call slow: error -32602",
    ]


def test_a_long_message_is_not_parsed_for_the_log() -> None:
    image: Any = SimpleNamespace(run_time_kinds=(), tool={}.get)
    for size, described in ((server_log.MAX_BODY_BYTES, "tools/call"), (server_log.MAX_BODY_BYTES + 1, "")):
        assert server_log.describe_message(b'{"method":"tools/call"}'.ljust(size), image) == described
    assert server_log.describe_message(b"{", image) == ""


def test_a_refusal_is_logged_once_with_its_details(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(server_log, "log_line", said.append)
    made = RefusalLog(lambda: ("/mcp",), lambda path, message, _: f"{path} {message.decode()}" if message else "")
    request: Any = SimpleNamespace(method="POST", path="/mcp", client=("h", 5), body=b"m", principal=ANONYMOUS)
    sent: list[object] = []

    async def take(message: object) -> None:
        sent.append(message)

    async def scenario() -> None:
        for status in (399, 400):
            send = made.watching(request, take)
            await send({"type": "http.response.start", "status": status})
            for _ in range(2):
                await send({"type": "http.response.body", "body": b'{"error":"why"}'})

    asyncio.run(scenario())
    made.add(400, ("GET", "/y", None), b"")
    made.add_unreadable(431, ("h", 5), "long")
    made.add_unreadable(400, None, "")
    assert len(sent) == 6 and said == [
        "refused: 400 POST /mcp from h: /mcp m: why", "refused: 400 GET elsewhere",
        "refused: 431 a request that cannot be read from h: long", "refused: 400 a request that cannot be read",
    ]  # fmt: skip
    now = server_log.monotonic()
    monkeypatch.setattr(server_log, "monotonic", lambda: now + 1000)
    said.clear()
    for _ in range(MAX_LINES + 2):
        made.add_unreadable(400, None, "")
    made.close()
    assert len(said) == MAX_LINES + 1 and said[-1] == "refused: 2 more"


prepare()  # as a server does it, and not as `import uvicorn` would

from mcpc_runtime.http.embedded.server import StderrHandler  # noqa: E402


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lines of the operator's log; asyncio's logger has the handler of the server meanwhile."""
    lines: list[str] = []
    monkeypatch.setattr("mcpc_runtime.http.embedded.server.log_line", lines.append)
    monkeypatch.setattr(logging.getLogger("asyncio"), "handlers", [StderrHandler(logging.ERROR)])
    monkeypatch.setattr(logging.getLogger("asyncio"), "propagate", False)
    return lines


def fail() -> None:
    raise ZeroDivisionError("as injected")


def test_an_error_in_a_callback_of_the_loop_is_logged_with_its_traceback(logged: list[str]) -> None:
    async def run() -> None:
        asyncio.get_running_loop().call_soon(fail)
        await asyncio.sleep(0)

    asyncio.run(run())
    (entry,) = logged
    assert entry.startswith("Exception in callback fail()")
    assert ": ZeroDivisionError: as injected\nTraceback (most recent call last)" in entry and ", in fail" in entry


def test_a_record_without_an_exception_is_one_line(logged: list[str]) -> None:
    logging.getLogger("asyncio").error("no room for %s", "it")
    assert logged == ["no room for it"]


def test_the_cancellation_of_the_second_signal_is_not_logged(logged: list[str]) -> None:
    try:
        raise asyncio.CancelledError
    except asyncio.CancelledError:
        logging.getLogger("asyncio").exception("cancelled")
    assert logged == []
