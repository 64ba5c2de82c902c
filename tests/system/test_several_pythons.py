"""A file with bytecode for several Pythons: each runs its own, whichever compiled it, and nothing from the sources."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from mcpc.emit.interpreters import HERE, cache_tag
from support.artifact import mcpc
from support.files import write_files
from support.interpreters import interpreters
from support.processes import run_program

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
    write_files(folder / "project", {"server.json": SERVER, "tools.py": TOOLS})
    target = folder / f"{python.replace(',', '-')}.pyz"
    folders = [os.environ["PATH"], *(str(path.parent) for path in interpreters().values())]
    environment = {"PATH": os.pathsep.join(folders)}  # one that `.ci/python314` made is not on it
    mcpc("build", folder / "project", "--python", python, "--no-smoke", "-o", target, environment=environment, status=0)
    return target


def entries(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@needs_several
def test_no_python_of_the_list_compiles_anything(tmp_path: Path) -> None:
    server = built_for(tmp_path, ",".join(MINORS))
    for minor, python in interpreters().items():
        lines = "".join(json.dumps(request) + "\n" for request in REQUESTS)
        done = run_program([python, "-ISc", NO_COMPILER, server], input=lines)
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
