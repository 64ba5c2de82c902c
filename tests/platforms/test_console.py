"""The commands of a built file: what they print is what they print on the machine that built it."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from support import machines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.machines import Machine

TOOL_ERROR = 5
SAME: dict[tuple[str, ...], int] = {
    ("--version",): 0,
    ("licenses",): 0,
    ("list",): 0,
    ("list", "--json"): 0,
    ("call", "fast", "text=grün 緑"): 0,
    ("call", "slow", "text=grün 緑"): 0,
    ("call", "later", "text=x", "seconds=0.1"): 0,
    ("call", "convert", "text=grün"): 0,
    ("call", "fail"): TOOL_ERROR,
    ("read", "note://static"): 0,
    ("read", "note://anna/text"): 0,
    ("prompt", "introduce", "name=Ada"): 0,
    ("complete", "note://{name}/text", "name", "an"): 0,
    ("call", "fats", "text=x"): TOOL_ERROR,
}
"""Commands whose output names nothing of the machine, and their status."""


def ran(machine: Machine, artifact: Path, *words: str) -> tuple[int, str, str]:
    """Run a built file to its end; return its status, output and errors."""
    done = subprocess.run(
        machine.command(artifact, *words),
        input=b"",
        capture_output=True,
        timeout=120,
        check=False,
        env=machine.environment({"MCPC_TASKS": "memory:"}),
    )
    output, errors = (text.decode("utf-8").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    return done.returncode, output, errors.replace(json.dumps(machine.path(artifact))[1:-1], "FILE")


@pytest.mark.parametrize("words", SAME, ids=" ".join)
def test_a_command_prints_the_same(machine: Machine, file_of: Callable[[str], Path], words: tuple[str, ...]) -> None:
    status, output, errors = ran(machine, file_of("mixed"), *words)
    assert status == SAME[words], errors
    here = machines.machine(machines.NATIVE)
    if machine != here:
        wanted = ran(here, file_of("mixed"), *words)
        assert output == wanted[1]
        assert errors.replace(machine.path(file_of("mixed")), "FILE") == wanted[2]


def test_a_copy_is_installed_and_removes_itself(
    machine: Machine, file_of: Callable[[str], Path], tmp_path: Path
) -> None:
    given = ("--client", "cursor", "--scope", "project", "--name", f"copy-{os.getpid()}")

    def output(*words: str) -> str:
        variables = machine.environment({"HOME": str(tmp_path), "XDG_DATA_HOME": None})
        command = [*machine.python, *words]
        done = subprocess.run(
            command, input=b"", capture_output=True, timeout=120, check=True, cwd=tmp_path, env=variables
        )
        return done.stdout.decode()

    python = machine.path(machine.python[-1])
    copied = output(machine.path(file_of("mixed")), "install", *given, "--python", python).splitlines()[0]
    place = copied.removeprefix("copied to ").removesuffix(", which clients start")
    assert json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"][given[-1]]["args"] == ["-I", place]
    assert output(place, "uninstall", *given).splitlines()[-1] == f"removed {place}"


def test_a_file_describes_itself(machine: Machine, file_of: Callable[[str], Path]) -> None:
    status, output, _ = ran(machine, file_of("mixed"), "info", "--json")
    assert status == 0
    assert json.loads(output)["name"] == "mixed"


def test_a_file_checks_itself(machine: Machine, file_of: Callable[[str], Path]) -> None:
    status, output, _ = ran(machine, file_of("mixed"), "check")
    assert status == 0
    assert "ok      every definition loads" in output


def test_help_has_an_entry_for_clients(machine: Machine, file_of: Callable[[str], Path]) -> None:
    """It can be pasted: its JSON is valid, and what it names starts the server."""
    status, output, _ = ran(machine, file_of("mixed"), "--help")
    assert status == 0
    entry = json.loads(output.rstrip().splitlines()[-1])["mcpServers"]["mixed"]
    command = [*machine.python[:-1], entry["command"], *entry["args"], "--version"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=120, check=False, env=machine.environment())
    assert (done.returncode, done.stdout.split()) == (0, [b"mixed", b"1.0.0"])
