"""Tenants of one server over HTTP: a project with tools of every kind, and clients that have a token each."""

import json
import multiprocessing
import select
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.knocks import LEGACY, mirrors, request, stateless
from support.serving import Served

TASKS = "io.modelcontextprotocol/tasks"
TOKENS = "a token-of-tenant-a;b token-of-tenant-b"
A, B = "token-of-tenant-a", "token-of-tenant-b"
PATIENCE = 60.0
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
NUMBER = {"type": "object", "properties": {"number": {"type": "number"}}}
INLINE, TASK = {"inline": True}, {"task": "optional"}
QUICK = {"worker": "echo", "Bash": "say", "inline": "quick"}
"""By the kind of handler: the tool that answers at once, and below the one that does not."""
SLOW = {"worker": "slow", "Bash": "rest", "inline": "held"}
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "echo": (TEXT, {}), "slow": (NUMBER, {}),
    "quick": (TEXT, INLINE), "held": (NUMBER, INLINE),
    "say": (TEXT, {}), "rest": (TEXT, {}),
    "job": (NUMBER, TASK),
}  # fmt: skip
PYTHON = """
import time

def echo(text=""): return text
def slow(number=0): time.sleep(number); return "slow"
def quick(text=""): return text
def held(number=0): time.sleep(number); return "held"
def job(number=0): time.sleep(number); return "done"
"""
BASH = """
tool_say() { printf 'said'; }
tool_rest() { sleep 600; }
"""
WATCHED = "sample://text"
RESOURCE = {"uri": WATCHED, "name": "text", "description": "A text.", "text": "A text.", "mimeType": "text/plain"}
SERVER = {
    "serverInfo": {"name": "tenants", "version": "1.0"},
    "capabilities": {"tools": {}, "resources": {"subscribe": True}, "logging": {}},
}


def write_project(folder: Path) -> Path:
    folder.mkdir()
    listed = [
        {"name": name, "description": f"The tool {name}.", "inputSchema": schema,
         **({"_meta": {"mcpc/handler": handler}} if handler else {})}
        for name, (schema, handler) in TOOLS.items()
    ]  # fmt: skip
    (folder / "server.json").write_text(json.dumps(SERVER))
    (folder / "tools.json").write_text(json.dumps({"tools": listed}))
    (folder / "resources.json").write_text(json.dumps({"resources": [RESOURCE]}))
    (folder / "tools.py").write_text(PYTHON)
    (folder / "tools.bash").write_text(BASH)
    return folder


class Tenant:
    """One client: a token, a connection that is kept, and a session if one was begun."""

    def __init__(self, url: str, token: str) -> None:
        self._where = urlsplit(url)
        self.token = token
        self.session = ""
        self._connection = self.connection()

    def connection(self) -> HTTPConnection:
        assert self._where.hostname is not None
        return HTTPConnection(self._where.hostname, self._where.port, timeout=PATIENCE)

    def close(self) -> None:
        self._connection.close()

    def headers(self, *more: tuple[str, str]) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {self.token}",
            **dict(more),
        }

    def post(self, message: dict[str, Any], *more: tuple[str, str]) -> tuple[int, dict[str, Any]]:
        """Send a message and return the status and what answers it: JSON, or the last event of a stream."""
        self._connection.request("POST", self._where.path, json.dumps(message), self.headers(*more))
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.getheader("mcp-session-id"):
            self.session = str(answer.getheader("mcp-session-id"))
        if (answer.getheader("content-type") or "").startswith("text/event-stream"):
            data = [line[6:] for line in data.splitlines() if line.startswith(b"data: {")][-1]
        return answer.status, json.loads(data) if data else {}

    def connect(self) -> socket.socket:
        """Return a new connection, without anything that reads or writes HTTP."""
        connection = self.connection()
        connection.connect()
        return connection.sock

    def raw(self, method: str, params: dict[str, Any]) -> bytes:
        """Return a request as it is sent, head and body."""
        body = json.dumps(stateless(method, params)).encode()
        pairs = self.headers(*mirrors(method, params), ("content-length", str(len(body)))).items()
        lines = [f"POST {self._where.path} HTTP/1.1", f"host: {self._where.netloc}", *map(": ".join, pairs)]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def ask(self, method: str, params: dict[str, Any] | None = None, **capabilities: Any) -> dict[str, Any]:
        """Send a request of the stateless era; return its answer."""
        message = stateless(method, params, **capabilities)
        names = [("mcp-name", params["taskId"])] if params and "taskId" in params else []
        return self.post(message, *mirrors(method, params), *names)[1]

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; return its text."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return str(answer["result"]["content"][0]["text"])

    def task(self, **arguments: Any) -> dict[str, Any]:
        """Have the tool `job` called as a task; return what answers that."""
        return self.ask("tools/call", {"name": "job", "arguments": arguments}, extensions={TASKS: {}})

    def initialize(self) -> None:
        """Begin a session."""
        client = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert self.post(request("initialize", client))[0] == 200

    def say(self, method: str, **params: Any) -> tuple[int, dict[str, Any]]:
        return self.post(request(method, params), ("mcp-protocol-version", LEGACY), ("mcp-session-id", self.session))

    def begin(self, tool: str, **arguments: Any) -> socket.socket:
        """Send a call on a separate connection, and leave its response there."""
        params = {"name": tool, "arguments": arguments}
        connection = self.connection()
        message = json.dumps(stateless("tools/call", params))
        connection.request("POST", self._where.path, message, self.headers(*mirrors("tools/call", params)))
        return connection.sock

    def listen(self) -> tuple[HTTPConnection, HTTPResponse]:
        """Open a stream of the stateless era; return its connection, and its answer without its body."""
        params = {"notifications": {"resourceSubscriptions": [WATCHED]}}
        connection = self.connection()
        message = json.dumps(stateless("subscriptions/listen", params))
        connection.request("POST", self._where.path, message, self.headers(*mirrors("subscriptions/listen", params)))
        return connection, connection.getresponse()


def gauge(server: Served, name: str) -> int:
    """Return the sum of a metric's samples, whose names and labels begin like this."""
    asked = urllib.request.Request(f"{server.root}/metrics", headers={"authorization": f"Bearer {A}"})
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(float(line.rpartition(" ")[2])) for line in lines if line.startswith(name))


@contextmanager
def slow_calls(tenant: Tenant, kind: str, count: int) -> Iterator[None]:
    """Have a tenant make so many calls that take long, for the time of the block."""
    arguments = {} if kind == "Bash" else {"number": 600}
    sockets = [tenant.begin(SLOW[kind], **arguments) for _ in range(count)]
    try:
        yield
    finally:
        for one in sockets:
            one.close()


@contextmanager
def calls_without_pause(tenant: Tenant, connections: int) -> Iterator[Any]:
    """Send the same quick call over every connection, and again as soon as it is answered; yield how many answers came.

    `value` of what is yielded is that number now.  One process sends all, and does little else.
    """
    context = multiprocessing.get_context("fork")
    answered = context.Value("Q", 0, lock=False)
    process = context.Process(target=call_again_and_again, args=(tenant, connections, answered), daemon=True)
    process.start()
    try:
        yield answered
    finally:
        process.kill()
        process.join()


def call_again_and_again(tenant: Tenant, connections: int, answered: Any) -> None:
    sent = tenant.raw("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    poll = select.poll()
    sockets = {}
    for _ in range(connections):
        one = tenant.connect()
        sockets[one.fileno()] = one
        poll.register(one, select.POLLIN)
        one.sendall(sent)
    while True:
        for number, _ in poll.poll():
            if not sockets[number].recv(1 << 16):
                raise ConnectionError("the server ended a connection")
            answered.value += 1
            sockets[number].sendall(sent)
