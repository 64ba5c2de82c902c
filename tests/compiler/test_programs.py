"""Programs that the compiler starts: all of them in one table, none of them running or reading what a project says."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc.sandbox import programs
from support.artifact import with_bytecode
from support.needs import ROOT
from support.wheels import wheel

COMPILER = ROOT / "compiler/mcpc"
STARTING = {"Popen", "call", "check_call", "check_output", "execv", "execve", "execvp", "execvpe", "fork", "forkpty"}
STARTING |= {"getoutput", "popen", "posix_spawn", "posix_spawnp", "run", "spawnv", "spawnve", "system"}
STARTING |= {"create_subprocess_exec", "create_subprocess_shell"}
HOLDERS = {"asyncio", "os", "posix", "pty", "subprocess"}
ALLOWED = {"sandbox/programs.py", "sandbox/confinement/posix/launcher.py"}


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
    used, texts = set(), set()
    for path in COMPILER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Constant) and path.name != "programs.py":
                texts.add(node.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                holder, first = node.func.value, node.args[0]
                if isinstance(holder, ast.Name) and holder.id == "programs" and isinstance(first, ast.Constant):
                    used.add(first.value)
    assert used - {"-m", "-c", "-S"} <= set(programs.PROGRAMS) <= texts


def test_a_program_finds_the_variables_of_its_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "s3cret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "https://registry.example/simple")
    monkeypatch.setenv("UV_TARGET", "/elsewhere")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    for name, program in programs.PROGRAMS.items():
        found = programs.program_environment(name)
        if program.finds != programs.ALL_VARIABLES:
            assert not {"MY_SECRET", "PYTHONPATH", "UV_TARGET"} & found.keys(), name
    uv = programs.program_environment("uv")
    assert uv["PIP_INDEX_URL"] == "https://registry.example/simple"
    assert uv["https_proxy"] == "http://proxy.example:3128"
    assert {"HOME", "PATH"} <= uv.keys()


def test_npm_finds_what_the_users_own_configuration_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".npmrc").write_text("//registry.example/:_authToken=${MY_TOKEN}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MY_TOKEN", "t")
    monkeypatch.setenv("OTHER_TOKEN", "o")
    found = programs.program_environment("npm")
    assert found["MY_TOKEN"] == "t"
    assert "OTHER_TOKEN" not in found


@pytest.mark.parametrize("variable", ["NPM_CONFIG_USERCONFIG", "npm_config_userconfig"])
def test_npms_configuration_may_be_named(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("MY_TOKEN", "t")
    assert "MY_TOKEN" not in programs.program_environment("npm")
    (tmp_path / "rc").write_text("a=${OTHER}\nb=${MY_TOKEN?}\n")
    monkeypatch.setenv(variable, str(tmp_path / "rc"))
    assert programs.program_environment("npm")["MY_TOKEN"] == "t"
    assert "MY_TOKEN" not in programs.program_environment("node")


def test_what_is_added_goes_before_and_a_path_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "xx")
    assert programs.program_environment("uv", {"LC_ALL": "C", "X": "1"}).items() >= {("LC_ALL", "C"), ("X", "1")}
    assert programs.program_environment("server", {"LC_ALL": "C"}) == {**os.environ, "LC_ALL": "C"}
    assert programs.program_environment("bash -n").keys() <= {*programs.NEEDED_VARIABLES}
    monkeypatch.delenv("PATH")
    assert programs.program_environment("node")["PATH"] == os.defpath
    assert "PATH" not in programs.program_environment("built file")
    monkeypatch.setenv("ABC_1", "x")
    assert programs.variables_like(("ABC_*", "lc_all")) == {"ABC_1": "x"}


def test_files_of_the_callers_folder_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    values = {
        "PIP_FIND_LINKS": ("here gone /abs  https://x", f"{tmp_path.resolve()}/here gone /abs  https://x"),
        "UV_CACHE_DIR": ("here", f"{tmp_path.resolve()}/here"),
        "PIP_CERT": ("here", f"{tmp_path.resolve()}/here"),
        "REQUESTS_CA_BUNDLE": ("here", f"{tmp_path.resolve()}/here"),
        "SSL_CERT_DIR": ("", ""),
        "PIP_INDEX_URL": ("here", "here"),
    }
    for variable, (value, _) in values.items():
        monkeypatch.setenv(variable, value)
    found = programs.program_environment("uv")
    assert {variable: found[variable] for variable in values} == {name: value for name, (_, value) in values.items()}


def test_a_program_runs_to_its_end_in_a_folder_of_its_own(tmp_path: Path) -> None:
    words = ["sh", "-c", "pwd; cat; echo err >&2; exit 3"]
    done = programs.run_program("node", words, 60, told=b"in")
    folder, told = done.stdout.splitlines()
    assert (done.args, done.returncode, told, done.stderr) == (words, 3, b"in", b"err\n")
    assert not Path(os.fsdecode(folder)).exists()
    done = programs.run_program("node", words, 60, cwd=tmp_path, more={"X": "1"})
    assert done.stdout == os.fsencode(tmp_path.resolve()) + b"\n"
    assert tmp_path.exists()
    assert programs.python_command("-c", "x") == [sys.executable, "-I", "-c", "x"]


def test_a_program_is_asked_to_end_and_then_killed() -> None:
    for trap, status in (("exit 5", 5), ("", -9)):
        text = f"trap '{trap}' TERM; echo; while :; do sleep 0.05; done"
        with programs.start_program("node", ["sh", "-c", text]) as process:
            process.stdout.readline()
            programs.end_program(process, 60 if trap else 0.1)
            assert process.returncode == status


def test_a_program_in_the_foreground_has_the_users_streams(capfd: pytest.CaptureFixture[str]) -> None:
    assert programs.run_in_foreground("server", ["sh", "-c", "echo $X; exit 4"], {"X": "said"}) == 4
    assert capfd.readouterr().out == "said\n"


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    script = f"echo $$ > {tmp_path}/id; sleep 60"
    with pytest.raises(TimeoutError, match=r"longer than 0\.5 seconds"):
        programs.run_program("node", ["sh", "-c", script], 0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "id").read_text()), 0)


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
        "MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")),
        "UV_DEFAULT_INDEX": (tmp_path / "no-registry").as_uri(),
        "UV_FIND_LINKS": "../index",  # relative, and found all the same
        "TRAP": str(tmp_path / "ran"),
    }
    start = [str(Path(sys.executable).with_name("mcpc"))] if way == "command" else [sys.executable, "-m", "mcpc"]
    words = [*start, command, ".", *(["-o", str(tmp_path / "server.pyz")] if command == "build" else [])]
    done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, timeout=200)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.returncode == 0, done.stderr
    if command == "build":
        assert (tmp_path / "server.pyz").exists()
