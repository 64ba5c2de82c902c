"""Plugins: closed manifests of Agent Plugins 1.0.0, the skills byte for byte, and the forms of single clients."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.release.carriers import BuiltServer, UnusableValueError
from mcpc.release.carriers.built_server import ProgramTarget
from mcpc.release.carriers.plugin import plugin_files
from support.artifact import mcpc
from support.carriers import FILES, assert_valid

PROGRAM = ProgramTarget("linux", "amd64")


def files(server: BuiltServer, *words: Any) -> dict[str, bytes]:
    return {file.path: file.data for file in plugin_files(server, *words)}


@pytest.mark.parametrize("command", ["", "py", "./bin/python"])
@pytest.mark.parametrize("target", [None, PROGRAM])
def test_both_manifests_are_valid(server: BuiltServer, command: str, target: ProgramTarget | None) -> None:
    found = files(replace(server, target=target), command)
    assert_valid("agent-plugins-1.0.0/plugin.schema.json", json.loads(found["plugin.json"]))
    servers = json.loads(found["mcp.json"])
    assert_valid("agent-plugins-1.0.0/mcp.schema.json", servers)
    started = servers["mcpServers"]["weather"]
    if target is None or command:
        assert started["command"] == (command or "python3")
        assert started["args"] == ["-I", "${PLUGIN_ROOT}/" + ("server.pyz" if target is None else "server")]
    else:
        assert (started["command"], "args" in started) == ("./server", False)
    assert not {setting.name for setting in server.settings} & {*started["env"]}


def test_skills_are_the_files_of_the_project(server: BuiltServer) -> None:
    found = files(server)
    for path, data in FILES.items():
        if path.startswith("skills/"):
            assert found[path] == (data if isinstance(data, bytes) else data.encode())
    assert found["server.pyz"] == server.data


@pytest.mark.parametrize("command", ["-x", "$HOME/python", " ", "a\nb"])
def test_what_cannot_start_a_server_is_refused(server: BuiltServer, command: str) -> None:
    with pytest.raises(UnusableValueError):
        plugin_files(server, command)


def test_the_command_writes_a_folder_that_serves(tmp_path: Path, artifact: Path) -> None:
    place = tmp_path / "weather"
    mcpc("ship", "plugin", artifact, "-o", place, "--also", "claude,gemini", status=0)
    assert {path.name for path in place.iterdir()} >= {"plugin.json", "mcp.json", "server.pyz", ".mcp.json"}
    assert os.access(place / "server.pyz", os.X_OK)
    argv = [sys.executable, str(place / "server.pyz"), "list", "--json"]
    assert "forecast" in subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout
    again = mcpc("ship", "plugin", artifact, "-o", place, status=2)
    assert "already exists" in again.stderr
    wrong = mcpc("ship", "plugin", artifact, "-o", tmp_path / "other", "--also", "claud")
    assert (wrong.returncode, (tmp_path / "other").exists()) == (2, False)
