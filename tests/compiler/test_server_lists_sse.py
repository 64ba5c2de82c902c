"""Servers of revision 2024-11-05 at an address: the official SDK's, a built file's, and some that misbehave."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from mcpc.cli.server_targets import artifact_lists, read_target, request_headers
from mcpc.client.contents import Content, read_server_contents
from mcpc.client.http import connected
from support.artifact import build, mcpc
from support.projects import SERVER_JSON
from support.serving import served, stop

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
