"""Completion in real shells: `mcpc` and a built file, each by its own script."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.artifact import SOURCES, build, mcpc
from support.files import write_files
from support.needs import ROOT, needs

if TYPE_CHECKING:
    from pathlib import Path

SHELLS = ("bash", "zsh", "fish")
CLIENTS_LINE = ["install", "--client", "curs"]
BASH = """
compopt() { :; }
source "$1"; shift
COMP_WORDBREAKS=$' \\t\\n"><=;|&(:'
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
name=$(complete -p "${1##*/}"); name=${name##*-F }; ${name%% *} "$1"
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { function=$1 }
compadd() { local last="${@[-1]}"; print -rl -- "${(@P)last}" }
_describe() { print -rl -- "${(@P)3}" }
_path_files() { :; }
source "$1"; shift
words=("$@"); CURRENT=$#; $function
"""
FISH = """
source $argv[1]; complete -C (string join ' ' -- $argv[2..])
"""
DRIVERS = {
    "bash": ["bash", "-c", BASH, "-"],
    "zsh": ["zsh", "-fc", ZSH, "-"],
    "fish": ["fish", "--no-config", "-c", FISH],
}
"""How each shell completes a line: its program reads the script, and prints what its function offers."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `mcpc`, a built server, and a project that was not built."""
    found = tmp_path_factory.mktemp("completion")
    (found / "mcpc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    (found / "mcpc").chmod(0o755)
    build(ROOT / "templates/new/python", found / "server.pyz")
    properties = {name: {"type": "string"} for name in ("plain", "$(touch ran)", "a b", "`id`")}
    tools = [
        {
            "name": "odd",
            "inputSchema": {"type": "object", "properties": properties},
            "_meta": {"mcpc/handler": {"content": []}},
        }
    ]
    server = {"serverInfo": {"name": "odd", "version": "1"}}
    write_files(found / "project", {"server.json": json.dumps(server), "tools.json": json.dumps({"tools": tools})})
    return found


def completed(shell: str, folder: Path, script: Path, words: list[str]) -> list[str]:
    """What a shell offers after these words, of which the last is being typed."""
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": SOURCES, "HOME": str(folder)}
    done = subprocess.run(
        [*DRIVERS[shell], script, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return sorted({line.split("\t")[0].split(":")[0] for line in done.stdout.splitlines() if line})


def script_of(shell: str, folder: Path, program: str) -> Path:
    """The script that a program prints for a shell."""
    needs(shell)
    if program == "mcpc":
        text = mcpc("completion", shell).stdout
    else:
        text = subprocess.run(
            [folder / program, "completion", shell], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    path = folder / f"{program}.{shell}"
    path.write_text(text)
    return path


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_of_mcpc(shell: str, folder: Path) -> None:
    script = script_of(shell, folder, "mcpc")
    assert completed(shell, folder, script, ["mcpc", "st"]) == ["stubs"]
    assert completed(shell, folder, script, ["mcpc", "call", "server.pyz", ""]) == ["count_words", "greet"]
    assert completed(shell, folder, script, ["mcpc", *CLIENTS_LINE]) == ["cursor"]


@pytest.mark.slow
def test_a_shell_completes_more_of_mcpc(folder: Path) -> None:
    shell = "bash"
    script = script_of(shell, folder, "mcpc")
    assert completed(shell, folder, script, ["mcpc", "call", "server.pyz", "greet", ""]) == ["language=", "name="]
    assert completed(shell, folder, script, ["mcpc", "call", "project", "odd", ""]) == ["plain="]
    assert completed(shell, folder, script, ["mcpc", "explain", "mcp11"])[:1] == ["MCP110"]
    assert completed(shell, folder, script, ["mcpc", "docs", "--form"]) == ["--format"]
    assert completed(shell, folder, script, ["mcpc", "prompt", "server.pyz", "int"]) == ["introduce"]
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_of_a_built_file(shell: str, folder: Path) -> None:
    script, program = script_of(shell, folder, "server.pyz"), "./server.pyz"
    assert completed(shell, folder, script, [program, "ca"]) == ["call"]
    assert completed(shell, folder, script, [program, "call", ""]) == ["count_words", "greet"]
    assert completed(shell, folder, script, [program, "call", "greet", "name=Ada", ""]) == ["language="]
    assert completed(shell, folder, script, [program, *CLIENTS_LINE]) == ["cursor"]
    values = completed(shell, folder, script, [program, "call", "greet", "language=f"])
    assert values == (["fr"] if shell == "bash" else ["language=fr"])


def test_a_built_file_offers_plain_names_only(folder: Path) -> None:
    built = build(folder / "project", folder / "odd.pyz")
    done = subprocess.run(
        [built, "completion", "--line", "odd.pyz call odd "], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "plain=\n"
    wrong = subprocess.run([built, "completion", "ksh"], capture_output=True, text=True, timeout=60, check=False)
    assert (wrong.returncode, "bash, zsh or fish" in wrong.stderr) == (2, True)


def test_names_of_commands_are_completed_without_importing_any() -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": SOURCES,
        "_MCPC_COMPLETE": "bash_complete",
        "COMP_WORDS": "mcpc d",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "mcpc"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert {"plain,dev", "plain,diff", "plain,docs"} <= {*done.stdout.split()}
    assert [name for name in ("mcpc.cli.dev", "mcpc.cli.diff", "mcpc.pipeline") if name in done.stderr] == []
