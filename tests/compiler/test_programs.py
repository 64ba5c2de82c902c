"""Programs that the compiler starts: all of them in one table, none of them running or reading what a project says."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc import programs
from support.needs import ROOT
from support.wheels import wheel

COMPILER = ROOT / "compiler/mcpc"
STARTING = {"Popen", "call", "check_call", "check_output", "execv", "execve", "execvp", "execvpe", "fork", "forkpty"}
STARTING |= {"getoutput", "popen", "posix_spawn", "posix_spawnp", "run", "spawnv", "spawnve", "system"}
STARTING |= {"create_subprocess_exec", "create_subprocess_shell"}
HOLDERS = {"asyncio", "os", "posix", "pty", "subprocess"}
ALLOWED = {"programs.py", "confinement/posix/launcher.py"}


def started(tree: ast.AST) -> list[str]:
    """Return the calls of a module that start a process by themselves."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [
        (call.value.id, call.attr)
        for call in calls
        if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)
    ]
    return [f"{holder}.{name}" for holder, name in named if holder in HOLDERS and name in STARTING]


def test_processes_are_started_in_one_place() -> None:
    found = {
        str(path.relative_to(COMPILER)): calls
        for path in COMPILER.rglob("*.py")
        if (calls := started(ast.parse(path.read_bytes())))
    }
    assert found.keys() == ALLOWED, found


def test_every_program_has_a_row_that_is_used() -> None:
    used = set()
    for path in COMPILER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                holder, first = node.func.value, node.args[0]
                if isinstance(holder, ast.Name) and holder.id == "programs" and isinstance(first, ast.Constant):
                    used.add(first.value)
    assert used - {"-m", "-c", "-S"} == set(programs.PROGRAMS)


def test_a_program_finds_the_variables_of_its_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "s3cret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "https://registry.example/simple")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    for name, program in programs.PROGRAMS.items():
        found = programs.program_environment(name)
        if program.finds != programs.ALL_VARIABLES:
            assert not {"MY_SECRET", "PYTHONPATH", "PIP_TARGET"} & found.keys(), name
    pip = programs.program_environment("pip")
    assert pip["PIP_INDEX_URL"] == "https://registry.example/simple"
    assert pip["https_proxy"] == "http://proxy.example:3128"
    assert {"HOME", "PATH"} <= pip.keys()


def test_npm_finds_what_the_users_own_configuration_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".npmrc").write_text("//registry.example/:_authToken=${MY_TOKEN}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MY_TOKEN", "t")
    monkeypatch.setenv("OTHER_TOKEN", "o")
    found = programs.program_environment("npm")
    assert found["MY_TOKEN"] == "t"
    assert "OTHER_TOKEN" not in found


def test_a_program_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError, match="longer than"):
        programs.run_program("node", ["sh", "-c", "sleep 60"], 0.2)


TRAP = "import os\nopen(os.environ.get('TRAP') or {place!r}, 'a').write(__name__ + '\\n')\nraise ImportError('a file of the project')\n"
TRAPS = (
    "click",
    "json",
    "logging",
    "pip",
    "runpy",
    "shiv",
    "sitecustomize",
    "tempfile",
    "types",
    "typing",
    "usercustomize",
)


def trapped(folder: Path) -> Path:
    """Make a project that has modules of everybody's names, which leave a trace if they are imported."""
    place = folder / "ran"
    project = folder / "project"
    project.mkdir()
    for name in TRAPS:
        (project / f"{name}.py").write_text(TRAP.format(place=str(place)))
    (project / "server.json").write_text('{"serverInfo": {"name": "s", "version": "1"}}')
    (project / "tools.json").write_text(
        '{"tools": [{"name": "a", "description": "d", "inputSchema": {"type": "object"}}]}'
    )
    (project / "tools.bash").write_text("tool_a() { echo; }\n")
    return project


@pytest.mark.parametrize("command", ["check", "build"])
@pytest.mark.parametrize("way", ["command", "module"])
@pytest.mark.sampled(4)
def test_no_module_of_the_project_is_imported_inside_the_project(tmp_path: Path, command: str, way: str) -> None:
    project = trapped(tmp_path)
    if way == "module":
        (project / "types.py").unlink()  # `python -m` itself imports it from there, before any module of ours
    index = tmp_path / "index"
    index.mkdir()
    wheel(index, "leaf", "1.0", {"leaf.py": "X = 1\n"})
    (project / "requirements.txt").write_text("leaf==1.0\n")
    environment = {
        **os.environ,
        "MCPC_CACHE_DIR": str(tmp_path / "cache"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "../index",  # relative, and found all the same
        "TRAP": str(tmp_path / "ran"),
    }
    start = [str(Path(sys.executable).with_name("mcpc"))] if way == "command" else [sys.executable, "-m", "mcpc"]
    words = [*start, command, ".", *(["-o", str(tmp_path / "server.pyz")] if command == "build" else [])]
    done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, timeout=200)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.returncode == 0, done.stderr
    if command == "build":
        assert (tmp_path / "server.pyz").exists()
