"""Tools of mcp-bash on Windows: programs of any kind, and scripts in Git Bash, are answered as on this machine."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("Git Bash is taken from this machine under Wine", allow_module_level=True)

from support import artifact, machines
from support.git_bash import GitBash, with_git
from support.needs import needs
from support.pipe_client import PipeClient

if TYPE_CHECKING:
    from pathlib import Path

    from support.machines import Machine

    Message = dict[str, Any]

PROGRAM = r"""#!/usr/bin/env python3
import json
import os
import sys

given = os.environ
root = given["MCP_ROOTS_PATHS"].splitlines()[0]
arguments = given["MCP_TOOL_ARGS_JSON"] or open(given["MCP_TOOL_ARGS_FILE"], encoding="utf-8").read()
with open(given["MCP_PROGRESS_STREAM"], "a", encoding="utf-8") as stream:
    for method, params in (
        ("progress", {"progressToken": 7, "progress": 50, "total": 100, "message": "half"}),
        ("message", {"level": "info", "logger": "program", "data": "a line"}),
    ):
        print(json.dumps({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}), file=stream)
if "refuse" in arguments:
    with open(given["MCP_TOOL_ERROR_FILE"], "w", encoding="utf-8") as file:
        json.dump({"code": -32001, "message": "refused", "data": {"size": 1}}, file)
    sys.exit(3)
if "embed" in arguments:
    with open(given["MCP_TOOL_RESOURCES_FILE"], "w", encoding="utf-8") as file:
        print(os.path.join(root, "data", "notes.txt"), "text/plain", sep="\t", file=file)
print("Grüße,", os.path.basename(root), len(arguments), os.path.isfile(given["MCP_TOOL_PATH"]))
print(os.path.isdir(given["MCP_SDK"]), os.path.isdir(given["MCPBASH_PROJECT_ROOT"]), os.sep in given["MCP_SDK"])
"""
SCRIPT = """#!/usr/bin/env bash
source "${MCP_SDK}/tool-sdk.sh"
mcp_progress 30 working
mcp_log_info script "$(mcp_roots_count) roots"
[[ $MCP_SDK/ == /*/.mcpc/mcp-bash/sdk/ && $0 == /*/tool.sh && -d $(mcp_roots_list) ]] || mcp_fail -32603 "bad paths"
mcp_result_success "$(mcp_json_obj text "$(mcp_args_require .text)" exported "$EXPORTED")"
"""
BATCH = '@echo off\r\necho batch %MCP_TOOL_NAME%\r\ntype "%MCPBASH_PROJECT_ROOT%\\tools\\batch\\beside.txt"\r\n'
POLICY = """
mcp_tools_policy_check() { [[ $1 != denied ]] || { mcp_tools_error -32600 "not this one"; return 1; }; }
"""
TOOLS = {
    "tools/program/tool.py": PROGRAM,
    "tools/script/tool.sh": SCRIPT,
    "tools/batch/tool.cmd": BATCH,
    "tools/denied/tool.sh": SCRIPT,
}
HOOKS = {"server.d/env.sh": "export EXPORTED='by env.sh'\n", "server.d/policy.sh": POLICY}
CALLS: tuple[tuple[str, Message], ...] = (
    ("program", {"text": '緑 \\ "x" %PATH%'}),
    ("program", {"do": "embed"}),
    ("program", {"do": "refuse"}),
    ("program", {"text": "x" * 200_000}),
    ("script", {"text": "Grüße 緑 $HOME `x` 'q' \\ %PATH%"}),
    ("script", {"text": "y" * 50_000}),
    ("script", {}),
    ("denied", {}),
)


def built(folder: Path, **more: str) -> Path:
    """Build a project with the tools, and a folder beside it that is a root."""
    for name, text in {
        "server.d/server.meta.json": "{}",
        "tools/batch/beside.txt": "beside\n",
        **TOOLS,
        **more,
    }.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
        if name in TOOLS:
            path.chmod(0o755)
            meta = {"name": path.parent.name, "description": "d", "inputSchema": {"type": "object"}}
            path.with_name("tool.meta.json").write_text(json.dumps(meta), "utf-8")
    notes = folder / "root/data/notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("a note\n", "utf-8")
    return artifact.build(folder / "project", folder / "server.pyz")


def client_on(machine: Machine, server: Path) -> PipeClient:
    """Start a server for a client whose root is beside it."""
    uri = "file:///" + machine.path(server.parent / "root").replace("\\", "/").lstrip("/")
    environment = machine.environment({"MCPBASH_TOOL_ALLOWLIST": "*"})
    return PipeClient(
        machine.command(server), environment, cwd=server.parent, answer=lambda _: {"roots": [{"uri": uri, "name": "r"}]}
    )


def conversation(machine: Machine, server: Path) -> tuple[list[Message], list[Message]]:
    """Return the replies to the calls, and the notifications, without what is of one machine."""
    with client_on(machine, server) as client:
        client.greet()
        replies = []
        for tool, arguments in CALLS:
            call = {"name": tool, "arguments": arguments, "_meta": {"progressToken": 7}}
            replies.append(client.reply(client.begin("tools/call", call)))
        told = [message for message in client.messages if "method" in message and "id" not in message]
    for reply in replies:
        for block in reply.get("result", {}).get("content", ()):
            block.get("resource", {}).pop("uri", None)
    return replies, told


def test_tools_are_answered_as_on_this_machine(git_bash: GitBash, tmp_path: Path) -> None:
    needs("bash")
    server = built(tmp_path, **HOOKS)
    replies, told = conversation(machines.machine(machines.NATIVE), server)
    on_windows = conversation(with_git("3.13", git_bash), server)
    assert on_windows[0] == replies
    assert on_windows[1] == told
    assert len(told) == 14
    assert [("error" in reply) for reply in replies] == [False, False, True, False, False, False, True, True]


def test_without_git_bash_other_tools_run_and_scripts_tell_what_to_install(tmp_path: Path) -> None:
    server = built(tmp_path)
    machine = machines.machine("wine-3.11")
    with client_on(machine, server) as client:
        client.greet()
        assert client.text("batch") == "batch batch\nbeside\n"
        assert client.text("program", text="x").startswith("Grüße, root 12 True\n")
        assert "Git Bash" in client.reply(client.begin_call("script", text="x"))["error"]["message"]
        assert len(client.ask("tools/list")["result"]["tools"]) == len(TOOLS)
    with PipeClient(machine.command(server, "check"), machine.environment(), cwd=tmp_path) as client:
        client.close_input()
        assert client.ends() == 1
        assert b"tools/script/tool.sh: Git Bash is not installed" in b"\n".join(client.noise)
