"""Options of serving a built file: from its command line to the calls of its handlers, over pipes and over HTTP."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import built_fixture
from support.knocks import stateless
from support.posts import post, post_stateless
from support.serving import served
from support.stdio import StdioClient, initialization

COUNT = {"type": "object", "properties": {"count": {"type": "integer"}, "unit": {"type": "string", "default": "m"}}}
READS = {"readOnlyHint": True}
PROJECT = {
    "server.json": {"serverInfo": {"name": "chosen", "version": "1"}, "toolsets": {"shell": ["*_bash"]}},
    "tools.json": {
        "tools": [
            {"name": name, "description": "d", "inputSchema": {**COUNT, "additionalProperties": False}, **more}
            for name, more in (("in_python", {"annotations": READS}), ("in_bash", {}))
        ]
    },
    "tools.py": "def in_python(count=0, unit=''): return f'{count!r} {unit}'\n",
    "tools.bash": 'tool_in_bash() { printf \'%s %s\' "$mcpc_arg_count" "$mcpc_arg_unit"; }\n',
}
WRONG = {"count": "3", "unit": None, "sessionId": "x"}
TOOLS = ("in_python", "in_bash")


artifact = built_fixture(PROJECT, "--http")


def over_pipes(artifact: Path, *words: str, variables: dict[str, str] | None = None) -> list[Any]:
    """Return the names in both eras' lists, and the texts or errors of all calls with wrong arguments."""
    with StdioClient(artifact, *words, environment=variables) as client:
        client.initialize()
        said = [names(client.ask("tools/list")), names(client.ask("tools/list", stateless("")["params"]))]
        for tool in TOOLS:
            params = {"name": tool, "arguments": WRONG}
            said += [client.ask("tools/call", params), client.ask("tools/call", stateless("", params)["params"])]
        return [*said[:2], *map(told, said[2:])]


def over_http(artifact: Path, *words: str, variables: dict[str, str] | None = None) -> list[Any]:
    with served(artifact, *words, environment=variables) as server:

        def in_session(method: str, params: Any = None) -> Any:
            message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params or {}}
            return post(server.url, message, mcp_session_id=session).message

        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialization()}
        session = post(server.url, begin).headers["mcp-session-id"]
        said = [names(in_session("tools/list")), names(post_stateless(server.url, "tools/list").message)]
        for tool in TOOLS:
            params = {"name": tool, "arguments": WRONG}
            said += [in_session("tools/call", params), post_stateless(server.url, "tools/call", params).message]
        return [*said[:2], *map(told, said[2:])]


def names(answer: Any) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


def told(answer: Any) -> str:
    if "error" in answer:
        return str(answer["error"]["message"])
    return str(answer["result"]["content"][0]["text"]).partition(":")[0]


@pytest.mark.parametrize("served_over", [over_pipes, over_http])
def test_a_file_serves_the_chosen_tools_and_corrects_arguments(artifact: Path, served_over: Any) -> None:
    both = [*TOOLS]
    refused = [f"Invalid arguments for {name}" for name in both for _ in range(2)]
    assert served_over(artifact) == [both, both, *refused]
    assert served_over(artifact, "--tolerant") == [both, both, *["3 m"] * 4]
    python = [["in_python"]] * 2 + ["3 m"] * 2 + ["Unknown tool: in_bash"] * 2
    assert served_over(artifact, "--tolerant", "--read-only") == python
    bash = [["in_bash"]] * 2 + ["Unknown tool: in_python"] * 2 + ["3 m"] * 2
    assert served_over(artifact, variables={"MCPC_TOOLSETS": "shell", "MCPC_TOLERANT": "1"}) == bash


def test_options_are_on_the_help_page_completed_and_put_into_entries(artifact: Path) -> None:
    def printed(*words: str) -> str:
        argv = [sys.executable, artifact, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout

    assert all(f"\n  {name}" in printed("--help") for name in ("--tools NAMES", "--toolsets NAMES", "--read-only"))
    assert printed("completion", "--line", "s --to").split() == ["--tools", "--toolsets", "--tolerant"]
    assert printed("completion", "--line", "s --toolsets ").split() == ["shell"]
    assert printed("completion", "--line", "s serve --tools in_bash,in_p").split() == ["in_bash,in_python"]
    assert printed("completion", "--line", "s serve --http 80 --re").split() == ["--read-only"]
    printed_entry = printed(
        "config", "--client", "claude-code", "--tools", "in_*", "--read-only", "--python", "/usr/bin/python3"
    )
    entry = json.loads(printed_entry[printed_entry.index("{") :])["mcpServers"]["chosen"]
    assert entry["args"] == ["-I", str(artifact), "--tools=in_*", "--read-only"]
