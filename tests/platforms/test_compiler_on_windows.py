"""mcpc itself on Windows, under Wine: its files are those of Linux, byte for byte, and its commands do the same."""

import hashlib
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from platforms import projects
from support.artifact import mcpc
from support.files import write_files
from support.needs import ROOT
from support.pipe_client import PipeClient
from support.wheels import wheel
from support.windows_compiler import VERSION, WindowsCompiler, windows_compiler

ABOUT_THIS_MACHINE = {"MCP210", "MCP241", "MCP503"}
"""Warnings that depend on the machine of the build: on its programs, and on whether it is one with Windows."""


@pytest.fixture(scope="module")
def compiler() -> Iterator[WindowsCompiler]:
    with windows_compiler() as found:
        yield found


@pytest.fixture
def same_python(compiler: WindowsCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this machine compile bytecode by the same Python: another patch version may write other bytecode."""
    command = tmp_path / "path" / f"python{VERSION}"
    command.parent.mkdir()
    variables = " ".join(f"{name}='{value}'" for name, value in compiler.machine.variables.items())
    command.write_text(f'#!/bin/sh\n{variables} exec {" ".join(compiler.machine.python)} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")


def reported(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Return the diagnostics in order, apart from those about the machine."""
    rows: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    return [row for row in rows if row["code"] not in ABOUT_THIS_MACHINE]


@pytest.mark.usefixtures("same_python")
@pytest.mark.parametrize("name", ["mixed", "bash"])
def test_a_file_built_on_windows_is_byte_for_byte_the_one_built_on_linux(
    compiler: WindowsCompiler, tmp_path: Path, name: str
) -> None:
    if name == "bash":
        project = ROOT / "examples/files"
    else:
        project = projects.write(name, tmp_path / name)
        (project / "bin/convert.py").chmod(0o755)
    options = ("--python", VERSION, "--quiet", "--format", "json")
    there = compiler.run("build", compiler.machine.path(project), *options, "-o", "windows.pyz", folder=tmp_path)
    assert there.returncode == 0, there
    here = mcpc("build", str(project), *options, "-o", str(tmp_path / "linux.pyz"))
    assert here.returncode == 0, here
    data = [(tmp_path / f"{system}.pyz").read_bytes() for system in ("linux", "windows")]
    different = differing_entries(tmp_path / "linux.pyz", tmp_path / "windows.pyz")
    assert not different, different
    assert [hashlib.sha256(each).hexdigest() for each in data] == [json.loads(there.stdout)["built"]["sha256"]] * 2
    assert reported(there) == reported(here)


@pytest.mark.usefixtures("same_python")
def test_packages_are_installed_on_windows_as_on_linux(
    compiler: WindowsCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path / "wheels", "demo", "1.0", {"demo/__init__.py": "from demo.b import size\n"}, needs=["base"])
    wheel(tmp_path / "wheels", "base", "2.0", {"demo/b.py": "size = 3\n", "base/data.txt": "é\n"})
    project = write_files(tmp_path / "packed", {"server.py": WITH_PACKAGE, "requirements.txt": "demo==1.0\n"})
    options = ("--offline", "--find-links", "wheels", "--python", VERSION, "--quiet", "--format", "json")
    there = compiler.run("build", "packed", *options, "-o", "windows.pyz", folder=tmp_path)
    assert there.returncode == 0, there
    monkeypatch.chdir(tmp_path)
    here = mcpc("build", project.name, *options, "-o", "linux.pyz")
    assert here.returncode == 0, here
    assert not differing_entries(tmp_path / "linux.pyz", tmp_path / "windows.pyz")
    called = compiler.run("call", "windows.pyz", "size", folder=tmp_path)
    assert (called.returncode, called.stdout.strip()) == (0, "3"), called


def differing_entries(one: Path, other: Path) -> set[str]:
    """Return the names of entries that only one of two archives has, or that differ."""
    with zipfile.ZipFile(one) as left, zipfile.ZipFile(other) as right:
        contents = [{name: archive.read(name) for name in archive.namelist()} for archive in (left, right)]
    return {name for name in {**contents[0], **contents[1]} if contents[0].get(name) != contents[1].get(name)}


WITH_PACKAGE = """import demo
from mcpc import Server

server = Server("packed")


@server.tool
def size() -> int:
    "Say a size."
    return demo.size
"""
WRONG = {
    "server.json": {"serverInfo": {"name": "wrong", "version": "1"}},
    "tools.json": {"tools": [{"name": "one", "description": "One.", "inputSchema": {"type": "unknown"}}]},
    "tools.py": "from parts import broken\nfrom mcpc import tool\n\n\n@tool\ndef two() -> str:\n    'Two.'\n    return ''\n",
    "parts/broken.py": "import json\n\nraise ValueError('it is wrong')\n",
}


def test_mistakes_are_reported_at_the_same_places_as_on_linux(
    compiler: WindowsCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_files(tmp_path / "wrong", WRONG)
    there = compiler.run("check", "wrong", "--format", "json", folder=tmp_path)
    monkeypatch.chdir(tmp_path)
    here = mcpc("check", project.name, "--format", "json")
    assert there.returncode == here.returncode == 1, there
    assert reported(there) == reported(here)
    broken = next(row for row in reported(there) if row["file"] == "wrong/parts/broken.py")
    assert broken["start"]["line"] == 3


def test_commands_of_a_project(compiler: WindowsCompiler, tmp_path: Path) -> None:
    made = compiler.run("new", "grün", folder=tmp_path)
    assert made.returncode == 0, made
    assert "grün\\server.py" in made.stderr
    assert "next: mcpc build grün -o server.pyz\n" in made.stderr
    assert "python server.pyz call greet name=Ada\n" in made.stderr
    checked = compiler.run("check", "grün", folder=tmp_path)
    assert checked.returncode == 0, checked
    called = compiler.run("call", "grün", "greet", "name=Zoë", folder=tmp_path)
    assert (called.returncode, "Zoë" in called.stdout) == (0, True), called
    explained = compiler.run("help", "MCP210", folder=tmp_path)
    assert "MCP210" in explained.stdout
    listed = compiler.run("inspect", "grün", "--format", "json", folder=tmp_path)
    assert "greet" in [tool["name"] for tool in json.loads(listed.stdout)["tools"]], listed


HOSTILE = {
    "import os; os.write(1, b'x' * (80 << 20))": (60, "it wrote more than 64 MiB to its output"),
    "held = [bytearray(b'x') * (64 << 20) for _ in range(8)]\nwhile True: pass": (60, "memory"),
    "import subprocess, sys\nfor _ in range(20): subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)\nwhile True: pass": (
        60,
        "processes",
    ),
    "import time; time.sleep(600)": (1, "it did not end within 1 seconds"),
    "import os; os._exit(3)": (60, "it ended the process with status 3"),
    "import os; os.write(3, b'answer'); print('output')": (60, "it ended the process with status 0"),
}
"""What a program does, how many seconds it has, and part of how it ends."""
CONFINED = """
import json, sys, tempfile
from pathlib import Path
from mcpc.sandbox.confinement import ConfinedProgram, run_confined
from mcpc.sandbox.confinement import model as limits
limits.MEMORY_BYTES, limits.PROCESSES = 256 << 20, 8
for text, seconds in json.load(sys.stdin):
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        done = run_confined(ConfinedProgram([sys.executable, "-I", "-c", text], root, root, seconds))
    print(json.dumps([done.how, done.answer.decode(), done.output[-20:].decode()]))
"""


def test_a_confined_program_is_bounded_by_its_job(compiler: WindowsCompiler) -> None:
    done = subprocess.run(
        compiler.python("-c", CONFINED),
        input=json.dumps([[text, seconds] for text, (seconds, _) in HOSTILE.items()]).encode(),
        capture_output=True,
        timeout=200,
        check=False,
        env=compiler.machine.environment(),
    )
    assert done.returncode == 0, done.stderr.decode()
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    for (text, (_, wanted)), (how, _, _) in zip(HOSTILE.items(), ended, strict=True):
        assert wanted in how, (text, how)
    assert ended[-1][1:] == ["answer", "output\r\n"]


def test_a_file_in_use_is_not_replaced_and_one_line_reports_it(compiler: WindowsCompiler, tmp_path: Path) -> None:
    project = projects.write("files", tmp_path / "files")
    built = compiler.run("build", project.name, "--quiet", "-o", "server.pyz", folder=tmp_path)
    assert built.returncode == 0, built
    before = (tmp_path / "server.pyz").read_bytes()
    with PipeClient(compiler.machine.command(tmp_path / "server.pyz"), compiler.machine.environment()) as client:
        client.greet()
        again = compiler.run("build", project.name, "--quiet", "-o", "server.pyz", folder=tmp_path)
    last = again.stderr.splitlines()[-1]
    assert again.returncode == 2, again
    assert "server.pyz" in last and "a program uses it" in last
    assert (tmp_path / "server.pyz").read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.pyz")] == ["server.pyz"]
