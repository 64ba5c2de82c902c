"""What happens while a handler runs: others are served, progress, tools that call tools, and a slow client."""

import json
import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.artifact import build
from support.stdio import StdioClient

NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
ANY = {"type": "object", "additionalProperties": True}
DELEGATE = {
    "type": "object",
    "properties": {"tool": {"type": "string"}, "given": {"type": "object"}},
    "required": ["tool"],
}
TOOLS = {
    "sleep": (NUMBER, {}),
    "sleep_inline": (NUMBER, {"inline": True}),
    "count": (NUMBER, {}),
    "count_inline": (NUMBER, {"inline": True}),
    "delegate": (DELEGATE, {}),
    "delegate_inline": (DELEGATE, {"inline": True}),
    "large": (NUMBER, {}),
    "echo": (ANY, {"inline": True}),
}
HANDLERS = """
import time
from mcpc import Context

def sleep(n): time.sleep(n); return f"slept {n}"
def sleep_inline(n): return sleep(n)
def count(n, context: Context):
    for step in range(int(n)):
        context.report_progress(step + 1, n, f"step {step + 1}")
    return "counted"
def count_inline(n, context: Context): return count(n, context)
def delegate(context: Context, tool, given=None):
    return context.call_tool(tool, given or {})["content"][0]["text"] + ", they say"
def delegate_inline(context: Context, tool, given=None): return delegate(context, tool, given)
def large(n): return "x" * int(n)
def echo(**given): return given
"""
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server whose Python tools run in the worker and inline."""
    project = tmp_path_factory.mktemp("live")
    tools = [
        {"name": name, "description": f"{name}.", "inputSchema": schema, "_meta": {"mcpc/handler": running}}
        for name, (schema, running) in TOOLS.items()
    ]
    (project / "server.json").write_text(
        json.dumps({"serverInfo": {"name": "live", "version": "1"}, "capabilities": {"logging": {}}})
    )
    (project / "tools.json").write_text(json.dumps({"tools": tools}))
    (project / "tools.py").write_text(HANDLERS)
    return build(project, tmp_path_factory.mktemp("built") / "live.pyz")


class Client(StdioClient):
    """A client that calls tools."""

    def call(self, tool: str, arguments: dict, meta: dict | None = None) -> int:
        params = {"name": tool, "arguments": arguments}
        return self.begin("tools/call", params if meta is None else {**params, "_meta": meta})

    def until(self, identifier: int) -> tuple[dict, list[dict]]:
        """The reply to a request, and every message before it."""
        before = []
        while (found := self.message()).get("id") != identifier:
            before.append(found)
        return found, before

    def text(self, identifier: int) -> str:
        result = self.until(identifier)[0]["result"]
        return result["content"][0]["text"]


@pytest.fixture
def client(server: Path) -> Iterator[Client]:
    made = Client(server)
    yield made
    made.close()


@pytest.mark.parametrize("tool", ["sleep", "sleep_inline"])
def test_others_are_served_meanwhile_and_a_cancelled_call_is_never_answered(client: Client, tool: str) -> None:
    slow = client.call(tool, {"n": 0.6})
    also = client.call(tool, {"n": 0.8})
    client.send({"method": "notifications/cancelled", "params": {"requestId": slow}})
    ping = client.begin("ping", {})
    assert client.message()["id"] == ping
    assert client.message()["id"] == also
    assert client.text(client.call("echo", {"a": 1})) == '{"a":1}'


@pytest.mark.parametrize("tool", ["count", "count_inline"])
@pytest.mark.parametrize("meta", [{}, MODERN], ids=["handshake", "stateless"])
def test_progress_grows_ends_with_the_last_and_precedes_the_reply(client: Client, tool: str, meta: dict) -> None:
    reply, before = client.until(client.call(tool, {"n": 400}, {**meta, "progressToken": 7}))
    assert reply["result"]["content"][0]["text"] == "counted"
    assert {message["method"] for message in before} == {"notifications/progress"}
    told = [message["params"] for message in before]
    values = [one["progress"] for one in told]
    assert values == sorted(set(values)) and values[-1] == 400
    assert 2 <= len(values) < 100, "of what is told at once the newest is enough"
    assert told[-1] == {"progressToken": 7, "progress": 400, "total": 400, "message": "step 400"}


@pytest.mark.parametrize("tool", ["delegate", "delegate_inline"])
@pytest.mark.parametrize("callee", ["sleep", "sleep_inline"])
def test_a_tool_calls_a_tool(client: Client, tool: str, callee: str) -> None:
    assert client.text(client.call(tool, {"tool": callee, "given": {"n": 0}})) == "slept 0, they say"
    reply, _ = client.until(client.call(tool, {"tool": "nobody"}))
    assert (reply["result"]["isError"], reply["result"]["content"][0]["text"]) == (True, "Unknown tool: nobody")
    reply, _ = client.until(client.call(tool, {"tool": callee, "given": {"n": "x"}}))
    assert reply["result"]["isError"] is True and "Invalid arguments" in reply["result"]["content"][0]["text"]


def resident(pid: int) -> int:
    """Return the KiB a process holds."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_a_client_that_does_not_read_loses_nothing_and_costs_no_memory(client: Client) -> None:
    client.text(client.call("large", {"n": 1}))
    before = resident(client.process.pid)
    sent = []

    def put(descriptor: int) -> None:
        for _ in range(3000):
            client.number += 1
            params = {"name": "echo", "arguments": {"text": "x" * 5000}}
            body = {"jsonrpc": "2.0", "id": client.number, "method": "tools/call", "params": params}
            data = memoryview(json.dumps(body).encode() + b"\n")
            while data:
                if not select.select([], [descriptor], [], 1)[1]:
                    client.raw_rest = bytes(data)
                    sent.append(client.number)
                    return
                data = data[os.write(descriptor, data[:4096]) :]
            sent.append(client.number)

    put(client.process.stdin.fileno())
    assert len(sent) < 3000, "the server stops reading"
    assert resident(client.process.pid) - before < 32 * 1024
    rest = getattr(client, "raw_rest", b"")
    found = []
    while len(found) < len(sent) - 1:
        reply = client.message()
        assert reply["result"]
        found.append(reply["id"])
    client.write(rest)
    assert client.until(sent[-1])[0]["result"]
    assert sorted(found) == sent[:-1]


def test_standard_error_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(
        "import sys\nfrom mcpc import Server, tool\nserver = Server('noisy', version='1')\n"
        "@tool\ndef noise(lines: int) -> str:\n"
        "    for _ in range(lines): print('x' * 1000)\n"
        "    return 'done'\n"
    )
    client = Client(build(tmp_path, tmp_path / "noisy.pyz"))
    assert client.text(client.call("noise", {"lines": 3000})) == "done"
    assert client.text(client.call("noise", {"lines": 1})) == "done"
    client.process.kill()
    client.process.communicate()
