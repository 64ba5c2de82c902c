"""What commands print: names of files from where they run, one document for programs, nothing that a terminal obeys."""

import json
import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from support.artifact import build, mcpc
from support.needs import ROOT
from support.processes import run_program

pytestmark = pytest.mark.sampled(4)

SERVER = """from mcpc import Server

mcp = Server("one", version="1")


@mcp.tool
def greet(name: str) -> str:
    \"\"\"Greet.\"\"\"
    return name
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "repository/servers/one"
    folder.mkdir(parents=True)
    (folder / "server.py").write_text(SERVER)
    return folder


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    folder = tmp_path / "repository/servers/broken"
    folder.mkdir(parents=True)
    (folder / "server.json").write_text("{\n  'serverInfo': 1}")
    return folder


def check(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpc", "check", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("where", "given", "shown"),
    [("", "servers/broken", "servers/broken/"), ("servers", "broken", "broken/"), ("servers/broken", ".", ""),
     ("servers/broken", "../broken", ""), ("servers/one", "../broken", "../broken/")],
)  # fmt: skip
def test_problems_name_files_from_where_the_command_runs(project, broken, where: str, given: str, shown: str) -> None:
    place = f"{shown}server.json"
    cwd = broken.parents[1] / where
    assert f"--> {place}:2:3" in check(given, cwd=cwd).stderr
    assert f"file={place},line=2,col=3," in check(given, "--format", "github", cwd=cwd).stdout
    assert json.loads(check(given, "--format", "json", cwd=cwd).stdout)["diagnostics"][-1]["file"] == place
    (run,) = json.loads(check(given, "--format", "sarif", cwd=cwd).stdout)["runs"]
    assert run["results"][-1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == place
    assert run["originalUriBaseIds"]["WORKINGDIRECTORY"]["uri"] == cwd.as_uri() + "/"


def test_a_requirement_without_a_version_is_told_once_with_the_version_found(tmp_path: Path) -> None:
    text = 'import click\nfrom mcpc import Server, tool\nserver = Server("one", version="1")\n\n\n@tool\ndef name() -> str:\n    """Name it."""\n    return click.__name__\n'
    (tmp_path / "server.py").write_text(text)
    (tmp_path / "requirements.txt").write_text("click\n")
    done = mcpc("build", tmp_path, "-o", tmp_path / "built.pyz", "--format", "json", status=0)
    (told,) = json.loads(done.stdout)["diagnostics"]
    assert (told["code"], told["hint"]) == ("MCP404", f"name one: `click=={metadata.version('click')}`")


def test_extras_and_groups_are_chosen_on_the_command_line(project: Path, tmp_path: Path) -> None:
    table = "[project]\nname = 'one'\n[project.optional-dependencies]\nsearch = ['annotated-types=={0}']\n"
    table += "[dependency-groups]\nrun = ['one[search]']\n"
    (project / "pyproject.toml").write_text(table.format(metadata.version("annotated-types")))
    for words in (("--extra", "search"), ("--group", "run")):
        done = mcpc("build", project, "-o", tmp_path / "s.pyz", "--format", "json", *words, status=0)
        with zipfile.ZipFile(tmp_path / "s.pyz") as archive:
            facts = json.loads(archive.read("META-INF/build.json"))
        assert any(row.startswith("annotated-types ") for row in facts["packages"])
    done = mcpc("check", project, "--extra", "searches", status=1)
    assert "MCP419" in done.stderr
    assert "did you mean `search`?" in done.stderr


HOSTILE = "x\x1b[2J\x1b]0;pwn\x07\u202e\x9b"


def test_inspecting_a_hostile_file_commands_no_terminal(project: Path, tmp_path: Path) -> None:
    target = build(project, tmp_path / "s.pyz")
    other = tmp_path / "hostile.pyz"
    with zipfile.ZipFile(target) as archive, zipfile.ZipFile(other, "w") as changed:
        for entry in archive.infolist():
            data = archive.read(entry)
            if entry.filename == "META-INF/build.json":
                data = json.dumps({**json.loads(data), "name": HOSTILE, "version": HOSTILE}).encode()
            changed.writestr(entry.filename, data)
    for words in ((), ("--tool", "greet"), ("--format", "json"), ("--sizes",), ("--sizes", "--format", "json")):
        done = mcpc("inspect", other, *words, status=0)
        assert all(char == "\n" or char.isprintable() for char in done.stdout)
    assert json.loads(mcpc("inspect", other, "--format", "json").stdout)["name"] == HOSTILE


def test_a_file_that_unpacks_to_gigabytes_is_refused_unread(project: Path, tmp_path: Path) -> None:
    target = build(project, tmp_path / "s.pyz")
    bomb = tmp_path / "bomb.pyz"
    with zipfile.ZipFile(target) as archive, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as changed:
        for entry in archive.infolist():
            if entry.filename != "mcpc_app/blob":
                changed.writestr(entry.filename, archive.read(entry), zipfile.ZIP_STORED)
        with changed.open("mcpc_app/blob", "w") as blob:
            for _ in range(300):
                blob.write(bytes(1 << 20))
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); sys.argv = sys.argv[1:]"
    )
    program += "; from mcpc.__main__ import main; main()"
    path = os.pathsep.join((str(ROOT / "compiler"), str(ROOT / "runtime")))
    done = run_program(
        [sys.executable, "-c", program, "mcpc", "inspect", str(bomb)], env={**os.environ, "PYTHONPATH": path}, status=2
    )
    assert "bomb.pyz" in done.stderr
