"""README's first five minutes, word for word, with each template, where there is no jq."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc.cli.new import TEMPLATES
from support.artifact import SOURCES, mcpc
from support.needs import ROOT
from support.processes import run_program

BLOCK = re.compile(r"^## Five minutes\n+```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = ("bash", "sh", "env", "df")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A folder with the compiler, this Python, and what every system has; without jq."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS:
        (folder / program).symlink_to(shutil.which(program) or "")
    (folder / "python3").symlink_to(sys.executable)
    (folder / "mcpc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    (folder / "mcpc").chmod(0o755)
    return str(folder)


def run(command: str, folder: Path, path: str) -> str:
    environment = {**os.environ, "PATH": path, "PYTHONPATH": SOURCES, "MCPC_CACHE_DIR": str(folder / "cache")}
    done = run_program(shlex.split(command, comments=True), cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.sampled(3)
def test_the_first_five_minutes_of_the_readme(template: str, tmp_path: Path, path: str) -> None:
    found = BLOCK.search((ROOT / "README.md").read_text())
    assert found is not None
    said = wanted = ""
    for line in found[1].splitlines():
        if line.startswith("$ "):
            command = line[2:].replace("mcpc new my-server", f"mcpc new my-server --template {template}")
            assert wanted in said
            said, wanted = run(command, tmp_path, path), ""
        else:
            wanted += f"{line}\n"
    assert wanted
    assert said == wanted


def test_the_prompt_of_the_bash_template_escapes_what_it_is_given(tmp_path: Path, path: str) -> None:
    run("mcpc new my-server --template bash", tmp_path, path)
    said = run("""mcpc call my-server --prompt introduce 'name=A "B" C'""", tmp_path, path)
    assert said == 'user:\nWrite a two-sentence introduction of A "B" C.\n'


def test_no_template_names_an_older_revision() -> None:
    files = [*(ROOT / "templates/new").rglob("server.json")]
    assert files
    assert [file for file in files if "protocolVersion" in file.read_text()] == []


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.sampled(3)
def test_a_new_project_passes_its_checks_and_its_own_tests(template: str, tmp_path: Path) -> None:
    project = tmp_path / "weather"
    said = mcpc("new", project, "--template", template).stderr
    assert [words for words in ("mcpc build", "call greet", "mcpc test") if words not in said] == []
    assert {"README.md", ".gitignore", "tests/tools.yaml"} <= {
        path.relative_to(project).as_posix() for path in project.rglob("*")
    }
    assert (project / "README.md").read_text().startswith("# weather\n")
    assert mcpc("check", "--strict", project).returncode == 0
    done = mcpc("test", project)
    assert done.returncode == 0, done.stdout + done.stderr
    files = mcpc("inspect", project, "--files").stdout
    assert [name for name in ("README", ".gitignore", "tests/", "pyproject") if name in files] == []
