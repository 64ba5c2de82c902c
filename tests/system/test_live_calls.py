"""What happens while a handler runs: progress, and tools that call tools."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.artifact import build
from support.stdio import StdioClient

NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
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
