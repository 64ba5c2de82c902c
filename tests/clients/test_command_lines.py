"""The clients' own command lines find what is installed, and those that start servers connect to it.

Those in `command_lines/package.json` are installed for the tests.  The others are skipped by name unless the program is
on PATH, or in a folder that `TESTS_CLIENTS` names: they need Node 22, or take 400 MB each.

    npm install --prefix FOLDER opencode-ai cline @anthropic-ai/claude-code @qwen-code/qwen-code
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from support.artifact import build
from support.needs import ROOT
from support.npm import installed_packages
from support.processes import run_program

FOLDER = "TESTS_CLIENTS"
LOCKED = ROOT / "tests/clients/command_lines"
SECONDS = 300


class CommandLine(NamedTuple):
    """A client's program, its words that list servers, and what it prints of one that it has connected to.

    `is_locked`: it is in `command_lines/package.json`.
    """

    client: str
    program: str
    words: tuple[str, ...]
    connected: str = ""
    is_locked: bool = False


COMMAND_LINES = (
    CommandLine("codex", "codex", ("mcp", "list", "--json"), is_locked=True),
    CommandLine("gemini-cli", "gemini", ("mcp", "list"), is_locked=True),
    CommandLine("copilot-cli", "copilot", ("mcp", "list", "--json"), is_locked=True),
    CommandLine("opencode", "opencode", ("mcp", "list"), "connected"),
    CommandLine("cline", "cline", ("config", "mcp", "--json")),
    CommandLine("qwen-code", "qwen", ("mcp", "list"), "Connected"),
    CommandLine("claude-code", "claude", ("mcp", "get", "weather"), "Connected"),
)


@pytest.mark.slow  # 700 MB are installed
@pytest.mark.parametrize("line", COMMAND_LINES, ids=lambda line: line.client)
def test_a_client_lists_what_is_installed_and_not_what_is_removed(line: CommandLine, tmp_path: Path) -> None:
    folders = [Path(os.environ.get(FOLDER, tmp_path)), *([installed_packages(LOCKED)] if line.is_locked else [])]
    path = os.pathsep.join([*(f"{folder}/node_modules/.bin" for folder in folders), os.environ["PATH"]])
    program = shutil.which(line.program, path=path)
    if program is None:
        pytest.skip(f"{line.program} is not installed, the command line of {line.client}")
    server = build(ROOT / "examples/files", tmp_path / "server.pyz")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(tmp_path),
        "PATH": path,
        "NO_COLOR": "1",
        "CI": "1",
    }

    def run(*words: str | Path) -> str:
        done = run_program(words, cwd=tmp_path, env=environment, timeout=SECONDS, stdin=subprocess.DEVNULL)
        return done.stdout + done.stderr

    edit = ("--client", line.client, "--name", "weather")
    assert "added" in run(server, "install", *edit)
    listed = run(program, *line.words)
    assert "weather" in listed and line.connected in listed
    assert "unchanged" in run(server, "install", *edit)
    assert "removed" in run(server, "uninstall", *edit)
    listed = run(program, *line.words)
    assert str(server) not in listed and (line.client != "cline" or "weather" not in listed)
