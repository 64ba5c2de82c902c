"""What a server and `mcpc` say to a person at a terminal: hints for slips, help where it is looked for, and Ctrl-C."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from artifact import SOURCES, build
from mcpc.cli import cli

TOOLS = '''
import time
from pathlib import Path

from mcpc import Server

mcp = Server("terminal", version="1")


@mcp.tool
def greet(name: str) -> str:
    """Greet."""
    return f"Hello, {name}!"


@mcp.tool
def wait(mark: str) -> str:
    """Wait."""
    Path(mark).write_text("began")
    time.sleep(60)
    return ""
'''
SUCCESS, USAGE, TOOL_ERROR, INTERRUPTED = 0, 2, 5, 130


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("console") / "project"
    folder.mkdir()
    (folder / "server.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def server(project: Path) -> Path:
    return build(project, project.parent / "server.pyz")


def test_which_one_it_is(server: Path) -> None:
    run = ran(server, "--version")
    assert (run.returncode, run.stdout, run.stderr) == (SUCCESS, "terminal 1\n", "")


def ran(server: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a built file to its end."""
    argv = [sys.executable, str(server), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL)


SLIPS = {
    ("serv",): (USAGE, "did you mean serve?"),
    ("zzz",): (USAGE, "'zzz' is no command of this server\n"),
    ("call", "gret", "name=x"): (TOOL_ERROR, "error -32602: Unknown tool: gret; did you mean greet?\n"),
    ("call", "zzz"): (TOOL_ERROR, "server.pyz list` names them all\n"),
    ("call", "greet", "Ada"): (USAGE, "error: 'Ada' is not NAME=VALUE\n"),
}


@pytest.mark.parametrize("words", SLIPS, ids=" ".join)
def test_a_slip_is_answered_with_a_hint(server: Path, words: tuple[str, ...]) -> None:
    done = ran(server, *words)
    status, said = SLIPS[words]
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr


@pytest.mark.parametrize("words", [("list",), ("info",), ("check",), ("call",), ("call", "greet")], ids=" ".join)
def test_every_command_has_help(server: Path, words: tuple[str, ...]) -> None:
    for option in ("--help", "-h"):
        done = ran(server, *words, option)
        assert (done.returncode, done.stderr) == (SUCCESS, "")
        assert done.stdout == ran(server, "--help").stdout


@pytest.mark.parametrize("by", ["server.pyz", "mcpc"])
def test_ctrl_c_ends_a_call_without_a_word(by: str, server: Path, project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    argv = [str(server), "call"] if by == "server.pyz" else ["-m", "mcpc", "call", str(project)]
    process = subprocess.Popen(
        [sys.executable, *argv, "wait", f"mark={mark}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": SOURCES, "MCPC_CACHE_DIR": str(server.parent / "mcpc-cache")},
    )
    until = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that were started from it
    out, said = process.communicate(timeout=20)
    assert (process.returncode, out) == (INTERRUPTED, b"")
    assert [line for line in said.decode().splitlines() if not line.startswith("mcpc: ")] == []


def test_the_next_command_can_be_pasted(project: Path, tmp_path: Path) -> None:
    for words in (("new",), ("import", str(project), "-o")):
        target = str(tmp_path / f"{words[0]} me")
        done = CliRunner().invoke(cli, [*words, target], prog_name="mcpc")
        assert done.exit_code == SUCCESS, done.output
        assert f"mcpc build {shlex.quote(target)} -o server.pyz" in done.stderr


def test_a_project_that_finds_no_room_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = Path.write_bytes, []

    def fails_at_the_third(path: Path, data: bytes) -> int:
        written.append(path)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fails_at_the_third)
    done = CliRunner().invoke(cli, ["new", str(tmp_path / "new"), "--template", "bash"], prog_name="mcpc")
    assert done.exit_code == USAGE
    assert done.stderr.splitlines()[-1] == f"Error: cannot write {tmp_path / 'new'}: No space left on device"
    assert list((tmp_path / "new").iterdir()) == []


def test_a_code_that_nobody_knows_leads_to_the_list() -> None:
    done = CliRunner().invoke(cli, ["explain", "nonsense"], prog_name="mcpc")
    assert done.exit_code == USAGE
    assert "there is no code nonsense; `mcpc explain` lists them all" in done.stderr
