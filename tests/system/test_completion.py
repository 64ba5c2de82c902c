"""Completion in real shells: `mcpc` and a built file, each by its own script."""

import json
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from support.artifact import SOURCES, build, mcpc
from support.files import write_files
from support.needs import ROOT, needs
from support.processes import run_program

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
        {"name": "odd", "inputSchema": {"type": "object", "properties": properties}, "_meta": {"mcpc/handler": {"content": []}}}
    ]  # fmt: skip
    server = {"serverInfo": {"name": "odd", "version": "1"}}
    write_files(found / "project", {"server.json": json.dumps(server), "tools.json": json.dumps({"tools": tools})})
    return found


def completed(shell: str, folder: Path, script: Path, words: list[str]) -> list[str]:
    """What a shell offers after these words, of which the last is being typed."""
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": SOURCES, "HOME": str(folder)}
    done = run_program([*DRIVERS[shell], script, *words], cwd=folder, env=environment, status=0)
    return sorted({line.split("\t")[0].split(":")[0] for line in done.stdout.splitlines() if line})


def script_of(shell: str, folder: Path, program: str) -> Path:
    needs(shell)
    if program == "mcpc":
        text = mcpc("editor", "completion", shell).stdout
    else:
        text = run_program([folder / program, "completion", shell], check=True).stdout
    path = folder / f"{program}.{shell}"
    path.write_text(text)
    return path


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_of_mcpc(shell: str, folder: Path) -> None:
    script = script_of(shell, folder, "mcpc")
    assert completed(shell, folder, script, ["mcpc", "sh"]) == ["ship"]
    assert completed(shell, folder, script, ["mcpc", "ship", "b"]) == ["bundle"]
    assert completed(shell, folder, script, ["mcpc", "call", "server.pyz", ""]) == ["count_words", "greet"]
    assert completed(shell, folder, script, ["mcpc", *CLIENTS_LINE]) == ["cursor"]


PROMPT_OF_ZSH = """
fpath=("$1" $fpath); PROMPT=""
autoload -Uz compinit; compinit -u -D
. ./server.pyz.zsh
tell() { print -r -- "$BUFFER" >> lines; BUFFER="" }
zle -N tell; bindkey "^T" tell
: > lines
"""
LINES = {
    "mcpc sh": "mcpc ship ",
    "mcpc call server.pyz gr": "mcpc call server.pyz greet ",
    "mcpc call server.pyz greet lan": "mcpc call server.pyz greet language=",
    "./server.pyz call cou": "./server.pyz call count_words ",
}
"""What is typed before the key Tab, and the line that zsh has then."""


def test_zsh_completes_a_line_that_is_typed_at_a_terminal(folder: Path) -> None:
    functions = folder / "functions"
    functions.mkdir()
    script_of("zsh", folder, "mcpc").rename(functions / "_mcpc")
    script_of("zsh", folder, "server.pyz")
    (folder / "rc").write_text(PROMPT_OF_ZSH)
    with terminal(["zsh", "-f", "-i", "-o", "NO_MONITOR"], folder) as (master, process):
        os.write(master, b". ./rc functions\n")
        told = folder / "lines"
        wait_for(told.exists, master, process)
        for count, line in enumerate(LINES, 1):
            os.write(master, line.encode() + b"\t\x14")
            wait_for(partial(has_lines, told, count), master, process)
    assert dict(zip(LINES, told.read_text().splitlines(), strict=True)) == LINES


def has_lines(file: Path, count: int) -> bool:
    return file.read_text().count("\n") == count


@contextmanager
def terminal(argv: list[str], folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A program at a terminal: the end of it that types, and the process."""
    master, slave = os.openpty()
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": SOURCES, "TERM": "vt100"}
    process = subprocess.Popen(
        argv, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    try:
        yield master, process
    finally:
        process.kill()
        process.wait()
        os.close(master)


def wait_for(is_there: Callable[[], bool], master: int, process: subprocess.Popen[bytes]) -> None:
    """Wait, and take what the program prints, so that it can go on."""
    printed, ends = b"", time.monotonic() + 120
    while not is_there():
        assert process.poll() is None, printed
        assert time.monotonic() < ends, printed
        if select.select([master], [], [], 0.05)[0]:
            printed += os.read(master, 4096)


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
    done = run_program([built, "completion", "--line", "odd.pyz call odd "], check=True)
    assert done.stdout == "plain=\n"
    wrong = subprocess.run([built, "completion", "ksh"], capture_output=True, text=True, timeout=60, check=False)
    assert (wrong.returncode, "bash, zsh or fish" in wrong.stderr) == (2, True)


STAGES = ("pipeline", "frontends", "lower", "emit", "pack", "schema", "dependencies", "cli.build_steps", "cli.artifact")
LARGE = ("pydantic", "packaging", "jinja2", "jsonschema", "yaml")


def asked(words: str, folder: Path, **variables: str) -> tuple[list[str], list[str]]:
    """What `mcpc` answers a shell, and which of the compiler's stages and large packages it imports for that."""
    environment = {
        **os.environ, "PYTHONPATH": SOURCES, "MCPC_CACHE_DIR": str(folder / "cache"), "_MCPC_COMPLETE": "bash_complete",
        "COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), **variables,
    }  # fmt: skip
    done = run_program([sys.executable, "-X", "importtime", "-m", "mcpc"], cwd=folder, env=environment)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    return done.stdout.split(), sorted(imported & {*(f"mcpc.{name}" for name in STAGES), *LARGE})


def test_names_of_commands_are_completed_without_importing_any(tmp_path: Path) -> None:
    answer, imported = asked("mcpc d", tmp_path)
    assert {"plain,dev", "plain,diff", "plain,doctor"} <= {*answer}
    assert imported == []


def test_names_of_a_built_file_are_completed_without_the_stages_of_the_compiler(folder: Path) -> None:
    """A shell waits for them: it takes hardly longer than `mcpc --help`."""
    for command, kind in (("call", "greet"), ("call --prompt", "introduce")):
        answer, imported = asked(f"mcpc {command} server.pyz ", folder)
        assert f"plain,{kind}" in answer
        assert imported == []
    answer, imported = asked("mcpc call server.pyz greet ", folder)
    assert {"plain,language=", "plain,name="} <= {*answer}
    assert imported == []
    assert asked("mcpc call server.pyz --resource ", folder)[1] == []
