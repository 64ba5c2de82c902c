"""`--no-import`: what the syntax of marked files shows, and that none of the project's code runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.needs import ROOT, needs_node

SERVER = """import os
from mcpc import Context, Field, Server
open({place!r}, "w").close()
mcp = Server("shown", instructions="Be kind.")
NAME = "computed"


@mcp.tool(title="Add")
def add(a: int, b: str = "x", context: Context = None, *, c) -> int:
    \"\"\"Add.\"\"\"
    return a


@mcp.resource("users://{{id}}", description="One.")
def user(id: str) -> str:
    return id


@mcp.prompt(name=NAME)
def ask(topic: str) -> str:
    \"\"\"Ask.\"\"\"
    return topic
"""


def mcpc(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "mcpc", *words], capture_output=True, text=True, timeout=200)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/server.py").write_text(SERVER.format(place=str(tmp_path / "ran")))
    return tmp_path / "project"


def test_a_project_is_checked_without_being_run(project: Path) -> None:
    done = mcpc("check", "--no-import", str(project))
    assert done.returncode == 0, done.stderr
    assert "MCP716" in done.stderr
    assert not (project.parent / "ran").exists()


@pytest.mark.parametrize("command", ["build", "generate models"])
def test_nothing_is_made_of_it(project: Path, command: str) -> None:
    done = mcpc(*command.split(), "--no-import", str(project), "-o", str(project.parent / "server.pyz"))
    assert done.returncode == 2
    assert "--no-import" in done.stderr
    assert not (project.parent / "server.pyz").exists()
    assert not (project.parent / "ran").exists()


def test_modules_of_toolbox_are_not_imported_either(tmp_path: Path) -> None:
    needs_node()
    for command, status in (("check", 0), ("build", 2)):
        words = ["-o", str(tmp_path / "server.pyz")] if command == "build" else []
        done = mcpc(command, "--no-import", str(ROOT / "examples/toolbox"), *words)
        assert done.returncode == status, done.stderr
        assert ("MCP716" in done.stderr) == (command == "check")
    assert not (tmp_path / "server.pyz").exists()
