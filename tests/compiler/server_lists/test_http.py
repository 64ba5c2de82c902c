"""Connections to addresses, older streams and processes: what is sent, which messages are taken, and their limits."""

import io
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.cli.server_targets import artifact_lists, read_target, request_headers
from mcpc.client.client import STATELESS, AnsweredError, ConversationError, Deadline
from mcpc.client.contents import Content, read_server_contents
from mcpc.client.http import (
    LegacySseTransport,
    NoStreamError,
    UnsafeAddressError,
    connected,
    header_value,
    is_address,
    name_header,
)
from mcpc.client.http_requests import as_object, read_body, read_lines
from mcpc.client.processes import ProcessTransport
from support.artifact import build, mcpc
from support.projects import SERVER_JSON
from support.serving import served, stop

CALL = {"id": 1, "method": "tools/call", "params": {"name": "ü"}}
QUESTION, ANSWER = {"id": "own", "method": "ping"}, {"id": 1, "result": {}}
SAID = [{"id": 1}, {"method": "note"}, {"id": 2, "result": {}}, [], QUESTION, ANSWER, {"id": 1, "result": {"late": 1}}]
PONG = {"jsonrpc": "2.0", "id": "own", "result": {}}
EVENTS = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in SAID)
SHOWN = ("Authorization", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")


@contextmanager
def answering(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[str, list[Any]]]:
    """Serve these answers, one after the other; yield the address, and the requests."""
    left, got = iter(answers), []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            shown = {name: self.headers[name] for name in SHOWN if name in self.headers}
            got.append((self.command, shown, json.loads(body or b"null")))
            status, headers, data = next(left)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET = do_DELETE = answer  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.timeout = 5
        thread = threading.Thread(target=lambda: [server.handle_request() for _ in answers], daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp", got
        thread.join(60)


def test_a_conversation_keeps_its_session_and_repeats_names_in_headers() -> None:
    first = (200, {"Mcp-Session-Id": "s"}, json.dumps(ANSWER).encode())
    stream = (200, {"Content-Type": "text/event-stream"}, EVENTS)
    answers = (first, stream, (202, {}, b""), (200, {}, first[2]), (200, {}, b""))
    with answering(*answers) as (url, got), connected(url, {"Authorization": "a"}) as transport:
        for revision in ("", "2025-06-18", STATELESS):
            transport.use_revision(revision)
            assert transport.request(CALL, Deadline(60)) == ANSWER
    session = {"Authorization": "a", "Mcp-Session-Id": "s", "MCP-Protocol-Version": "2025-06-18"}
    stateless = {**session, "MCP-Protocol-Version": STATELESS}
    assert got == [
        ("POST", {"Authorization": "a"}, CALL),
        ("POST", session, CALL),
        ("POST", session, PONG),
        ("POST", {**stateless, "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w7w=?="}, CALL),
        ("DELETE", stateless, None),
    ]


def test_a_stateless_server_that_asks_is_answered_without_a_method() -> None:
    stream = (200, {"Content-Type": "text/event-stream"}, EVENTS)
    with answering(stream, (202, {}, b"")) as (url, got), connected(url, {}) as transport:
        transport.use_revision(STATELESS)
        assert transport.request(CALL, Deadline(60)) == ANSWER
    version = {"MCP-Protocol-Version": STATELESS}
    assert got[1] == ("POST", version, PONG)


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (200, {}, b'{"id": 2, "result": {}}', (ConversationError, 0)),
        (404, {}, b"", (ConversationError, 404)),
        (302, {"Location": "/other"}, b"", (ConversationError, 302)),
        (400, {}, b'{"error": {"code": -3, "message": "m"}}', (AnsweredError, 400)),
        (400, {}, b'{"error": "m"}', (ConversationError, 400)),
    ],
)
def test_what_is_no_answer_is_an_error(status: int, headers: dict[str, str], body: bytes, expected: Any) -> None:
    error, serving = pytest.raises(ConversationError), answering((status, headers, body))
    with serving as (url, got), connected(url, {}) as transport, error as caught:
        transport.request(CALL, Deadline(60))
    assert ((type(caught.value), caught.value.status), len(got)) == (expected, 1)
    assert getattr(caught.value, "code", -3) == -3


def test_values_of_headers_addresses_and_objects() -> None:
    values = ["a b", "", "é", " a", "a\n", "=?a", 1, None]
    assert [header_value(value) for value in values] == [
        "a b", "", "=?base64?w6k=?=", "=?base64?IGE=?=", "=?base64?YQo=?=", "=?base64?PT9h?=", "1", "null",
    ]  # fmt: skip
    named = [("resources/read", {"uri": "u", "name": "n"}), ("prompts/get", {"name": "n"}), ("ping", {"name": "n"})]
    names = [name_header({"method": method, "params": params}) for method, params in named]
    assert names == [{"Mcp-Name": "u"}, {"Mcp-Name": "n"}, {}]
    assert name_header({"method": "tools/call", "params": []}) == {}
    addresses = ["http://a", "https://a/b", "ftp://a", "http://", "a.pyz", "http://["]
    assert [is_address(each) for each in addresses] == [True, True, False, False, False, False]
    assert [as_object(each) for each in (b'{"a": 1}', b"[1]", b"{", b"\xff")] == [{"a": 1}, {}, {}, {}]


@pytest.mark.parametrize("url", ["http://e.org/", "https://e.org/", "http://[::1]/", "http://localhost/"])
def test_headers_stay_on_this_machine_or_encrypted(url: str) -> None:
    error = pytest.raises(UnsafeAddressError) if url == "http://e.org/" else nullcontext()
    with connected(url, {}), error, connected(url, {"A": "b"}):
        pass


@pytest.mark.parametrize("data", [b"ab\ncd\ne", b"x" * (1 << 16) + b"y"])
def test_a_response_is_read_up_to_its_limit(data: bytes) -> None:
    for read in (read_body, lambda *given: b"".join(read_lines(*given))):
        assert read(io.BytesIO(data), Deadline(60, len(data))) == data
        with pytest.raises(ConversationError):
            read(io.BytesIO(data), Deadline(60, len(data) - 1))
        times = iter([0.0, 60.0])
        with pytest.raises(ConversationError):
            read(io.BytesIO(data), Deadline(60, clock=lambda times=times: next(times)))


class Requests:
    """Requests of an older stream with this text. `posted`: what is sent."""

    def __init__(self, text: bytes, kind: str = "text/event-stream") -> None:
        self.stream: Any = io.BytesIO(text)
        self.stream.headers = Message()
        self.stream.headers["Content-Type"] = kind
        self.posted: list[Any] = []

    def get_stream(self, *_: Any) -> Any:
        return self.stream

    @contextmanager
    def send_message(self, url: str, message: Any, more: Any, _: Deadline) -> Iterator[Any]:
        self.posted.append((url, message, more))
        yield io.BytesIO(b"Accepted")


STREAM = b"event: endpoint\ndata: /post\n\nevent: other\ndata: " + json.dumps(ANSWER).encode() + b"\n\n"


def test_an_older_stream_answers_questions_and_is_closed() -> None:
    requests = Requests(STREAM + EVENTS)
    transport = LegacySseTransport(requests, "http://h/sse", lambda asked: {"to": asked})  # type: ignore[arg-type]
    transport.open(Deadline(60, 40))
    assert transport.request(CALL, Deadline(60)) == ANSWER
    assert requests.posted == [("http://h/post", CALL, {}), ("http://h/post", {"to": QUESTION}, {})]
    with pytest.raises(ConversationError):
        transport.notify(CALL, Deadline(60, 7))
    transport.close()
    assert requests.stream.closed


@pytest.mark.parametrize(
    ("changes", "kind", "size", "error"),
    [
        ((b"", b""), "text/event-stream", 29, None),
        ((b"", b""), "text/event-stream", 28, ConversationError),
        ((b"", b""), "text/html", 99, NoStreamError),
        ((b"event: ", b"id: "), "text/event-stream", 99, ConversationError),
        ((b"\n\n", b"\n"), "text/event-stream", 99, ConversationError),
        ((b"/post", b"//other/post"), "text/event-stream", 99, ConversationError),
        ((b"/post", b"https://h/post"), "text/event-stream", 99, ConversationError),
    ],
)
def test_a_stream_names_an_address_at_its_server(
    changes: tuple[bytes, bytes], kind: str, size: int, error: type[Exception] | None
) -> None:
    requests = Requests(b"event: endpoint\ndata: /post\n\n".replace(*changes), kind)
    transport = LegacySseTransport(requests, "http://h/sse", lambda _: PONG)  # type: ignore[arg-type]
    with pytest.raises(error) if error else nullcontext():
        transport.open(Deadline(60, size))


def test_a_stream_names_its_address_in_time() -> None:
    times = iter([0.0, 60.0])
    with pytest.raises(ConversationError):
        LegacySseTransport(Requests(STREAM), "http://h/sse", dict).open(Deadline(60, clock=lambda: next(times)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "methods"), [(400, 2), (404, 2), (405, 2), (403, 1)])
def test_which_refusals_are_those_of_an_older_server(status: int, methods: int) -> None:
    answers = [(status, {}, b""), (200, {}, b"{}")][:methods]
    with answering(*answers) as (url, got), connected(url, {}) as transport, pytest.raises(ConversationError):
        transport.request({"id": 1, "method": "initialize"}, Deadline(60))
    assert [method for method, *_ in got] == ["POST", "GET"][:methods]


def test_a_process_talks_in_lines() -> None:
    lines = [b"started!\n", b"x" * 300 + b"\n", *(json.dumps(each).encode() + b"\n" for each in SAID[:-1] * 40)]
    written = io.BytesIO()
    process: Any = SimpleNamespace(stdin=written, stdout=io.BytesIO(b"".join(lines)), wait=lambda _: 3)
    transport = ProcessTransport(process)
    for _ in range(40):
        assert transport.request(CALL, Deadline(10)) == ANSWER
    assert [json.loads(line) for line in written.getvalue().splitlines()[:3]] == [CALL, PONG, CALL]
    assert transport.stray == "started!"
    with pytest.raises(ConversationError, match="3"):
        transport.request({**CALL, "id": 9}, Deadline(60))


@pytest.mark.parametrize("more", [0, -1])
def test_a_process_is_read_within_its_limits_and_its_noise_is_cut(more: int) -> None:
    data = b"x" * 300 + b"\n" + json.dumps(ANSWER).encode() + b"\n"
    process: Any = SimpleNamespace(stdin=None, stdout=io.BytesIO(data), wait=lambda _: 0)
    transport = ProcessTransport(process)
    with pytest.raises(ConversationError) if more else nullcontext():
        assert transport.receive(Deadline(60, len(data) + more)) == ANSWER
    assert transport.stray == "x" * 200


Object = dict[str, Any]
SECONDS = 120.0
LISTENS = re.compile(rb"running on (http://[\d.]+:\d+)")
TOOL = {"name": "echo", "description": "Repeat.", "inputSchema": {"type": "object"}}
OFFICIAL = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("older", version="1.2.3", instructions="Ask.")

@server.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

@server.prompt()
def greet(name: str) -> str:
    "Greet."
    return f"Hello, {name}."

server.run(transport="sse", port=0)
"""


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the event stream of a server by the official SDK."""
    errors = tmp_path_factory.mktemp("official") / "errors"
    with errors.open("wb") as stream:
        argv = [sys.executable, "-c", OFFICIAL]
        variables = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=variables)
    try:
        until = time.monotonic() + SECONDS
        while not (found := LISTENS.search(errors.read_bytes())):
            assert process.poll() is None and time.monotonic() < until, errors.read_text()
            time.sleep(0.02)
        yield f"{found[1].decode()}/sse"
    finally:
        stop(process)


def test_the_official_server_is_read(official: str) -> None:
    lists, contents = read_server_contents(partial(connected, official, {}), SECONDS)
    assert (lists.name, lists.version, lists.instructions) == ("older", "1.2.3", "Ask.")
    assert [tool["name"] for tool in lists.tools] == ["add"]
    assert Content("prompt", "greet", "Hello, name.") in contents.found


def test_commands_take_the_address_of_its_stream(official: str, tmp_path: Path) -> None:
    done = mcpc("diff", official, "--snapshot", tmp_path / "old.json")
    assert done.returncode == 0, done.stderr
    snapshot = json.loads((tmp_path / "old.json").read_text())
    snapshot["tools"].append({**TOOL, "name": "gone"})
    (tmp_path / "old.json").write_text(json.dumps(snapshot))
    done = mcpc("diff", tmp_path / "old.json", official, "--fail-on", "breaking")
    assert done.returncode == 7
    assert "gone" in done.stdout
    for words in (
        ("scan", official),
        ("generate", "docs", official, "-o", tmp_path / "page.md"),
        ("generate", "client", official),
    ):
        done = mcpc(*words)
        assert done.returncode == 0, done.stderr
    assert "Add two numbers." in (tmp_path / "page.md").read_text()


def test_a_built_file_offers_the_same_on_its_stream(tmp_path: Path) -> None:
    project = tmp_path / "demo"
    project.mkdir()
    (project / "server.json").write_text(SERVER_JSON)
    (project / "tools.json").write_text(json.dumps({"tools": [TOOL]}))
    (project / "tools.bash").write_text("tool_echo() { echo; }\nexport -f tool_echo\n")
    artifact = build(project, tmp_path / "demo.pyz", "--http")
    token = tmp_path / "token"
    token.write_text("0123456789abcdef-s3cret\n")
    token.chmod(0o600)
    with served(artifact, "--sse", "--token-file", str(token)) as server:
        reached = read_target(f"{server.root}/sse", {}, request_headers((), token), SECONDS)
    read = artifact_lists(artifact)
    assert (reached.tools, reached.information) == (read.tools, read.information)


@dataclass
class OlderServer:
    """A server whose first event and later answers a test chooses; `posted` are the messages and headers it got."""

    first: str = "event: endpoint\ndata: /messages?s=1\n\n"
    stream_status: int = 200
    kind: str = "text/event-stream; charset=utf-8"
    ends_after: int = 100
    asks: bool = False
    posted: list[tuple[Object, str]] = field(default_factory=list)
    lines: Queue[str] = field(default_factory=Queue)

    def take(self, message: Object) -> None:
        """Answer a message on the stream, after a question of its own if it has one."""
        if message.get("method") == "initialize" and self.asks:
            self.say({"id": "own", "method": "ping"})
        about = {"serverInfo": {"name": "fake", "version": "1"}, "capabilities": {"tools": {}}}
        results = {"initialize": {**about, "protocolVersion": "2024-11-05"}, "tools/list": {"tools": [TOOL]}}
        if "id" in message and message.get("method") in results:
            self.say({"id": message["id"], "result": results[message["method"]]})

    def say(self, message: Object) -> None:
        self.lines.put(f": a comment\nevent: other\ndata: 1\n\nevent: message\ndata: {json.dumps(message)}\n\n")


@contextmanager
def serving(older: OlderServer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_message = self.path.startswith("/messages")
            if is_message:
                older.posted.append((json.loads(body), self.headers.get("Authorization", "")))
            self.send_response(202 if is_message else 405)
            self.send_header("Content-Length", "0")
            self.end_headers()
            if is_message:
                older.take(json.loads(body))

        def do_GET(self) -> None:
            self.send_response(older.stream_status)
            self.send_header("Content-Type", older.kind)
            self.end_headers()
            self.wfile.write(older.first.encode())
            for _ in range(older.ends_after if older.stream_status == 200 else 0):
                self.wfile.flush()
                if not (line := older.lines.get()):
                    return
                self.wfile.write(line.encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/sse"
        finally:
            older.lines.put("")
            server.shutdown()
            thread.join()
