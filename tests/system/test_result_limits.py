"""Limits of results from end to end: handlers of every kind, both eras, over pipes and over HTTP."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.files import write_files
from support.posts import post, post_stateless
from support.serving import served
from support.stdio import StdioClient, initialization

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
WHOLE = "".join(f"{number}\n" for number in range(1000, 2000))
KINDS = {
    "bash": {},
    "python": {},
    "inline": {"inline": True},
    "program": {"command": "program"},
    "known": {"content": [{"type": "text", "text": WHOLE}]},
}
FILES = {
    "tools.bash": "tool_bash() { seq 1000 1999; echo; }\nexport -f tool_bash\n",
    "tools.py": "def python(): return ''.join(f'{number}\\n' for number in range(1000, 2000))\ninline = python\n",
    "program": "#!/bin/sh\nseq 1000 1999\necho\n",
    "resources.json": {"resources": [{"uri": "test:one", "name": "one", "text": "1"}]},
}
PROGRAM = """
from fastmcp import FastMCP

mcp = FastMCP("program")

@mcp.tool
def long() -> str:
    return "".join(f"{number}\\n" for number in range(1000, 2000))

@mcp.tool
def rows() -> list[int]:
    return [*range(1000, 2000)]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("limits")
    schema = {"type": "object", "additionalProperties": False}
    tools: list[dict[str, Any]] = [
        {"name": name, "description": "x", "inputSchema": schema, "_meta": {"mcpc/handler": handler}}
        for name, handler in KINDS.items()
    ]
    described = {"server.json": {"serverInfo": {"name": "limits", "version": "1"}}, "tools.json": {"tools": tools}}
    return build(write_files(folder / "project", {**described, **FILES}), folder / "server.pyz", "--http")


def cut(result: dict[str, Any], advice: str) -> None:
    """Hold that a result is the first lines of the whole, and tells what was cut."""
    shown, _, last = result["content"][0]["text"].rpartition("\n")
    assert WHOLE.startswith(f"{shown}\n") and 1500 < len(shown) < 2000
    assert last.startswith(("[… 1,790 of 5,000 bytes shown; ", "[… 1,790 of 4,999 bytes shown; "))
    assert advice in last and len(result["content"][0]["text"].encode()) <= 2048


def test_over_pipes_the_whole_of_every_kind_is_a_resource(server: Path) -> None:
    client = StdioClient(server, "--max-result", "2K")
    client.initialize()
    for kind in KINDS:
        for more in ({}, {"_meta": META}):
            result = client.ask("tools/call", {"name": kind, "arguments": {}, **more})["result"]
            uri = result["content"][1]["uri"]
            cut(result, f"the whole is the resource {uri}")
            contents = client.ask("resources/read", {"uri": uri, **more})["result"]["contents"]
            assert [(part["uri"], part["text"].rstrip("\n")) for part in contents] == [(uri, WHOLE.rstrip("\n"))]
    client.close()


WRONG = {
    "--max-result=1": "--max-result: expected",
    "--max-result": "not ''",
    "--max-result 2K x": "unexpected words: x;",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_limit_is_told_at_the_start(words: str, server: Path) -> None:
    argv = [sys.executable, server, *words.split()]
    done = subprocess.run(argv, input="", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and WRONG[words] in done.stderr


def test_over_http_only_the_session_reads_the_whole(server: Path) -> None:
    with served(server, environment={"MCPC_MAX_RESULT": "2048"}) as running:
        result = post_stateless(running.url, "tools/call", {"name": "bash", "arguments": {}}).message["result"]
        assert len(result["content"]) == 1
        cut(result, "ask for less")
        sessions = []
        for _ in range(2):
            begun = post(running.url, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialization()})
            sessions.append(begun.headers["mcp-session-id"])

        def ask(session: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
            message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
            return post(running.url, message, mcp_session_id=session).message

        result = ask(sessions[0], "tools/call", {"name": "python", "arguments": {}})["result"]
        uri = result["content"][1]["uri"]
        cut(result, uri)
        whole = ask(sessions[0], "resources/read", {"uri": uri})["result"]["contents"]
        assert [part["text"] for part in whole] == [WHOLE]
        assert ask(sessions[1], "resources/read", {"uri": uri})["error"]["code"] == -32002
        refused = post_stateless(running.url, "resources/read", {"uri": uri})
        assert refused.message["error"]["code"] == -32602


def test_a_program_of_a_framework_has_its_limit_in_its_project(tmp_path: Path) -> None:
    project = '[project]\nname = "p"\nversion = "1"\ndependencies = ["fastmcp"]\n[tool.mcpc]\nmax-result = "2K"\n'
    files = write_files(tmp_path / "project", {"pyproject.toml": project, "server.py": PROGRAM})
    client = StdioClient(build(files, tmp_path / "server.pyz"))
    client.initialize()
    result = client.call_tool("long")
    assert result["content"][0]["text"].startswith("1000\n1001\n") and result["content"][1]["type"] == "resource_link"
    assert result["structuredContent"]["result"].endswith(" of 5,000 bytes shown …]")
    rows = client.call_tool("rows")["structuredContent"]["result"]
    assert rows == [*range(1000, 1000 + len(rows))] and 300 < len(rows) < 400
    client.close()
