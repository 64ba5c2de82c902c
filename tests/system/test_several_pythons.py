"""A file with bytecode for several Pythons: each runs its own, whichever compiled it, and nothing from the sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from mcpc.emit.interpreters import HERE, MissingPythonError, cache_tag, interpreter
from mcpc.options import Options, minor_versions
from mcpc.pack.prologue import shell_prologue
from support.artifact import mcpc
from support.files import write_files
from support.interpreters import interpreters

if TYPE_CHECKING:
    from pathlib import Path

MINORS = tuple(interpreters())
needs_several = pytest.mark.skipif(len(MINORS) < 2, reason="needs two Pythons")
SERVER = {"serverInfo": {"name": "several", "version": "1.0.0"}}
TOOLS = '''
from mcpc import tool

@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
REQUESTS = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "double", "arguments": {"number": 21}}},
)
NO_COMPILER = """
import builtins, sys
def refuse(source, name, *more, **options):
    if "__main__" not in name: # the few lines that select the code of the start
        raise SystemExit(f"{name} was compiled")
    return compile(source, name, *more, **options)
import zipimport
zipimport._compile_source = lambda path, source: refuse(source, path, "exec", dont_inherit=True)
compile, builtins.compile = builtins.compile, refuse
z = zipimport.zipimporter(sys.argv[1])
exec(z.get_code("__main__"))
"""


def built_for(folder: Path, python: str) -> Path:
    """Build a project with one tool for some Pythons."""
    write_files(folder / "project", {"server.json": SERVER, "tools.py": TOOLS})
    target = folder / f"{python.replace(',', '-')}.pyz"
    folders = [os.environ["PATH"], *(str(path.parent) for path in interpreters().values())]
    environment = {"PATH": os.pathsep.join(folders)}  # one that `.ci/python314` made is not on it
    done = mcpc("build", folder / "project", "--python", python, "--no-smoke", "-o", target, environment=environment)
    assert done.returncode == 0, done.stderr
    return target


def entries(file: Path) -> dict[str, bytes]:
    """Return the entries of a file by their names."""
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@needs_several
def test_no_python_of_the_list_compiles_anything(tmp_path: Path) -> None:
    server = built_for(tmp_path, ",".join(MINORS))
    for minor, python in interpreters().items():
        lines = "".join(json.dumps(request) + "\n" for request in REQUESTS)
        done = subprocess.run(
            [python, "-ISc", NO_COMPILER, server], input=lines, capture_output=True, text=True, check=False
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [answer["id"] for answer in answers] == [1, 2], (minor, done.stderr)
        assert answers[1]["result"]["structuredContent"] == {"result": 42}, minor


@needs_several
def test_bytecode_is_the_same_whichever_python_is_first(tmp_path: Path) -> None:
    first, second = MINORS[:2]
    one, other = entries(built_for(tmp_path, f"{first},{second}")), entries(built_for(tmp_path, f"{second},{first}"))
    suffixes = f".{cache_tag(first)}", f".{cache_tag(second)}"
    tagged = [name for name in one if name.endswith(suffixes[1])]
    assert "mcpc_runtime/bytecode" + suffixes[1] in tagged
    assert "handlers/tools.pyc" + suffixes[1] in tagged
    for name in tagged:
        plain = name.removesuffix(suffixes[1])
        assert one[name] == other[plain], name
        assert one[plain] == other[plain + suffixes[0]], name


def test_one_version_that_is_listed_has_the_bytecode_of_a_file_without_list(tmp_path: Path) -> None:
    listed = entries(built_for(tmp_path, HERE))
    target = tmp_path / "plain.pyz"
    assert mcpc("build", tmp_path / "project", "--no-smoke", "-o", target).returncode == 0
    assert {name: data for name, data in entries(target).items() if not name.startswith("META-INF/")} == {
        name: data for name, data in listed.items() if not name.startswith("META-INF/")
    }


def test_a_missing_python_is_named_with_what_installs_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"server.json": SERVER, "tools.py": TOOLS})
    done = mcpc("build", tmp_path, "--python", f"{HERE},3.99", "-o", tmp_path / "server.pyz")
    assert done.returncode == 2
    assert "needs a Python 3.99" in done.stderr
    assert "uv python install 3.99" in done.stderr
    assert not (tmp_path / "server.pyz").exists()


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"server.json": SERVER, "tools.py": TOOLS})
    done = mcpc("build", tmp_path, "--python", "3.10,3.11", "-o", tmp_path / "server.pyz")
    assert done.returncode == 2
    assert "does not run on Python 3.10" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell script in place of Python")
def test_a_program_that_is_another_python_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "python3.98"
    fake.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(MissingPythonError):
        interpreter("3.98")


@pytest.mark.parametrize("value", ["python3.12", "/usr/bin/python3", "3", "3.12,", "3.12 3.13", "python3.12,3.13", ""])
def test_other_values_are_commands_as_before(value: str) -> None:
    assert minor_versions(value) == ()


def test_the_prologue_looks_for_the_listed_versions_first() -> None:
    script = shell_prologue("3.12,3.11")
    assert "for mcpc_name in python3.12 python3.11 python3 python3.15 python3.14 python3.13;" in script
    assert "*/python3.12 | */python3.11) ;;" in script


def test_native_modules_are_requested_for_each_version() -> None:
    assert Options(python="3.11,3.12").targets == ("-cp311", "-cp312")
    named = Options(python="3.11,3.12", platforms=("win_amd64", "manylinux2014_x86_64-cp313")).targets
    assert named == ("win_amd64-cp311", "manylinux2014_x86_64-cp313", "win_amd64-cp312")
    assert Options(platforms=("win_amd64",)).targets == ("win_amd64",)
