"""Batch files as executable tools, under Wine: their words arrive as they are, or are refused."""

import json
import sys
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("the servers are built by Linux", allow_module_level=True)

from support import artifact, machines
from support.pipe_client import PipeClient

BATCH = "@echo off\r\necho one=%~1 two=%~2\r\nfindstr text\r\nexit /b %ERRORLEVEL%\r\n"
WORDS = {"plain": ["a b", "c"], "variable": ["%PATH%", "c"], "command": ["a", 'b" & echo injected']}


def test_words_of_a_batch_file_arrive_or_are_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "bin").mkdir(parents=True)
    (project / "bin/show.cmd").write_bytes(BATCH.encode())
    (project / "bin/show.cmd").chmod(0o755)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = [
        {
            "name": name,
            "description": name,
            "inputSchema": schema,
            "_meta": {"mcpc/handler": {"command": ["bin/show.cmd", *words]}},
        }
        for name, words in WORDS.items()
    ]
    (project / "tools.json").write_text(json.dumps({"tools": tools}))
    (project / "server.json").write_text(json.dumps({"serverInfo": {"name": "batch", "version": "1"}}))
    server = artifact.build(project, tmp_path / "server.pyz", "--platform", "win_amd64")
    machine = machines.machine("wine-3.13")
    with PipeClient(machine.command(server), machine.environment({"MCPC_TASKS": "memory:"}), cwd=tmp_path) as client:
        client.greet()
        assert client.text("plain", text='x" & echo %PATH%').splitlines()[0] == "one=a b two=c"
        for name, character in (("variable", "'%'"), ("command", "'\"'")):
            reply = client.reply(client.begin_call(name, text="x"))
            assert character in json.dumps(reply).replace('\\"', '"'), reply
            assert "injected" not in json.dumps(reply).replace("echo injected", "")
