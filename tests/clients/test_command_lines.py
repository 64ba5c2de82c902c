"""The clients' own command lines find what is installed, and those that start servers connect to it.

Each is skipped by name unless its program is on PATH, or in a folder that `TESTS_CLIENTS` names:

    npm install --prefix FOLDER @openai/codex @google/gemini-cli @github/copilot opencode-ai cline \
        @anthropic-ai/claude-code @qwen-code/qwen-code

They take 2 GB together, so continuous integration does not install them.  Some need Node 22.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from support.artifact import build
from support.needs import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "TESTS_CLIENTS"
SECONDS = 300


class CommandLine(NamedTuple):
    """A client's program, its words that list servers, and what it prints of one that it has connected to."""

    client: str
    program: str
    words: tuple[str, ...]
    connected: str = ""


COMMAND_LINES = (
    CommandLine("codex", "codex", ("mcp", "list", "--json")),
    CommandLine("gemini-cli", "gemini", ("mcp", "list")),
    CommandLine("copilot-cli", "copilot", ("mcp", "list", "--json")),
    CommandLine("opencode", "opencode", ("mcp", "list"), "connected"),
    CommandLine("cline", "cline", ("config", "mcp", "--json")),
    CommandLine("qwen-code", "qwen", ("mcp", "list"), "Connected"),
    CommandLine("claude-code", "claude", ("mcp", "get", "weather"), "Connected"),
)


@pytest.mark.parametrize("line", COMMAND_LINES, ids=lambda line: line.client)
def test_a_client_lists_what_is_installed_and_not_what_is_removed(line: CommandLine, tmp_path: Path) -> None:
    programs = f"{os.environ.get(FOLDER, tmp_path)}/node_modules/.bin"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
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
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout + done.stderr

    edit = ("--client", line.client, "--name", "weather")
    assert "added" in run(server, "install", *edit)
    listed = run(program, *line.words)
    assert "weather" in listed and line.connected in listed
    assert "unchanged" in run(server, "install", *edit)
    assert "removed" in run(server, "uninstall", *edit)
    listed = run(program, *line.words)
    assert str(server) not in listed and (line.client != "cline" or "weather" not in listed)
