"""What a process is given on Windows: its command line, its variables, paths, and what runs a script; on every system."""

import ast
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.systems.mcp_bash.processes import PRINT_ENVIRONMENT, parse_exported
from mcpc_runtime.transports import platforms
from mcpc_runtime.transports.platforms.windows import script_paths
from mcpc_runtime.transports.platforms.windows.supervision.programs import (
    NO_SHELL,
    UNSAFE_IN_BATCH,
    Installed,
    NoInterpreterError,
    batch_line,
    command_line,
    environment_block,
    find_program,
    find_shell,
    interpreter_words,
    is_batch,
    located,
    shell_path,
)
from mcpc_runtime.transports.platforms.windows.variables import DEFAULTS, MINIMAL, variable_name
from support.needs import ROOT, needs

LINES = (
    (["a", "b"], "a b"),
    (["a b"], '"a b"'),
    ([""], '""'),
    (['say "hi"'], '"say \\"hi\\""'),
    (['a\\"b c'], '"a\\\\\\"b c"'),
    (["C:\\a b\\"], '"C:\\a b\\\\"'),
    (["C:\\a\\"], "C:\\a\\"),
    (["a&b|c>d", "%PATH%", "^"], "a&b|c>d %PATH% ^"),
    (["tab\there", "line\nend"], '"tab\there" "line\nend"'),
)
PYTHON = "C:\\py\\python.exe"
VARIABLES = {"PATH": "C:\\bin;C:\\Windows\\System32;C:\\nodejs\\", "PATHEXT": ".EXE;.CMD"}
THERE = {"C:\\bin\\node.EXE", "C:\\Windows\\System32\\bash.EXE", "C:\\nodejs\\npm.CMD", "C:\\Git\\cmd\\git.exe"}


def exists(*more: str) -> Callable[[str], bool]:
    return lambda path: path in {*THERE, *more}


@pytest.mark.parametrize(("words", "line"), LINES)
def test_a_line_is_quoted_as_the_c_runtime_reads_it(words: list[str], line: str) -> None:
    assert command_line(words) == line


def test_a_line_has_no_null_character() -> None:
    with pytest.raises(ValueError, match="null"):
        command_line(["a", "b\0c"])


def test_a_batch_file_is_run_by_the_command_interpreter() -> None:
    line = batch_line("C:\\Windows\\System32\\cmd.exe", ["C:\\a b\\run.cmd", "x", "y z"])
    assert line == 'C:\\Windows\\System32\\cmd.exe /d /v:off /s /c ""C:\\a b\\run.cmd" "x" "y z""'


@pytest.mark.parametrize("character", UNSAFE_IN_BATCH)
def test_what_the_command_interpreter_would_act_on_is_refused(character: str) -> None:
    with pytest.raises(ValueError, match="batch file"):
        batch_line("cmd.exe", ["run.cmd", f"a{character}b"])


def test_variables_are_one_sorted_block() -> None:
    assert environment_block({"b": "2", "A": "1", "C": ""}) == "A=1\0b=2\0C=\0"
    assert environment_block({}) == "\0"
    for name, value in (("", "a"), ("a=b", "c"), ("a", "b\0c"), ("a\0", "b")):
        with pytest.raises(ValueError, match="cannot be passed"):
            environment_block({name: value})


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"#!/usr/bin/env python3\nimport os", ["python3"]),
        (b"#!/usr/bin/env -S node --flag\r\n", ["node", "--flag"]),
        (b"#!/usr/bin/env NAME=1 ruby\n", ["ruby"]),
        (b"#! /bin/bash -e\n", ["/bin/bash", "-e"]),
        (b"#!\n", []),
        (b"MZ\x90\0", []),
        (b"", []),
    ],
)
def test_the_first_line_of_a_script_is_read(head: bytes, words: list[str]) -> None:
    assert interpreter_words(head) == words


@pytest.mark.parametrize(
    ("head", "argv", "found"),
    [
        (b"#!/usr/bin/env python3", ["C:\\x\\a.py", "1"], [PYTHON, "C:\\x\\a.py", "1"]),
        (b"#!/usr/bin/python3.12 -u", ["C:\\x\\a.py"], [PYTHON, "-u", "C:\\x\\a.py"]),
        (b"#!/usr/bin/env node", ["C:\\x\\a.js"], ["C:\\bin\\node.EXE", "C:\\x\\a.js"]),
        (b"MZ", ["C:\\x\\a.exe", "1"], ["C:\\x\\a.exe", "1"]),
        (b"", ["npm", "--version"], ["C:\\nodejs\\npm.CMD", "--version"]),
        (b"", ["none"], ["none"]),
    ],
)
def test_what_runs_a_program_is_found(head: bytes, argv: list[str], found: list[str]) -> None:
    assert located(argv, head, VARIABLES, Installed(PYTHON, exists())) == found


def test_a_shell_of_another_system_is_none() -> None:
    with pytest.raises(NoInterpreterError) as refused:
        located(["C:\\x\\a.sh"], b"#!/bin/bash", VARIABLES, Installed(PYTHON, exists()))
    assert refused.value.strerror == NO_SHELL and "Git Bash" in NO_SHELL
    with pytest.raises(NoInterpreterError, match="ruby"):
        located(["C:\\x\\a.rb"], b"#!/usr/bin/env ruby", VARIABLES, Installed(PYTHON, exists()))


SHELLS = {
    "the registry": "D:\\Git\\bin\\bash.exe",
    "beside git": "C:\\Git\\bin\\bash.exe",
    "programs": "C:\\P\\Git\\bin\\bash.exe",
    "programs of the user": "C:\\L\\Programs\\Git\\bin\\bash.exe",
    "MSYS2": "C:\\msys64\\usr\\bin\\bash.exe",
    "PATH": "C:\\tools\\bash.exe",
}
"""Where a shell may be, in the order in which it is looked for."""
FOREIGN = ("C:\\Windows\\System32\\bash.exe", "C:\\Users\\me\\AppData\\Local\\Microsoft\\WindowsApps\\bash.exe")


@pytest.mark.parametrize("place", SHELLS)
def test_git_bash_is_found_and_no_shell_of_another_system(place: str) -> None:
    variables = {
        "PATH": ";".join((*(path.rpartition("\\")[0] for path in FOREIGN), "C:\\Git\\cmd", "C:\\tools")),
        "PATHEXT": ".exe",
        "PROGRAMFILES": "C:\\P",
        "LOCALAPPDATA": "C:\\L",
    }
    there = [*SHELLS.values()][[*SHELLS].index(place) :]
    installed = Installed(PYTHON, exists(*FOREIGN, *there), lambda: ["D:\\Git\\"])
    assert find_shell("bash", variables, installed) == SHELLS[place]
    assert located(["bash", "-c", "x"], b"", variables, installed) == [SHELLS[place], "-c", "x"]
    assert located(["C:\\a.sh"], b"#!/bin/bash -e", variables, installed) == [SHELLS[place], "-e", "/c/a.sh"]
    without = Installed(PYTHON, exists(*FOREIGN))
    assert find_shell("bash", variables, without) == ""
    with pytest.raises(NoInterpreterError, match="Git Bash"):
        located(["bash", "-c", "x"], b"", variables, without)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("C:\\a b\\c.sh", "/c/a b/c.sh"),
        ("d:/x/y", "/d/x/y"),
        ("\\\\host\\share\\x", "//host/share/x"),
        ("relative\\x", "relative/x"),
        ("C:x", "C:x"),
    ],
)
def test_a_path_is_written_as_msys_does(path: str, written: str) -> None:
    assert shell_path(path) == written


def test_a_program_is_found_with_its_extension() -> None:
    assert find_program("node", VARIABLES, exists()) == "C:\\bin\\node.EXE"
    assert find_program("npm.cmd", VARIABLES, exists("C:\\bin\\npm.cmd")) == "C:\\bin\\npm.cmd"
    assert find_program("bash", VARIABLES, exists()) == ""
    assert is_batch("C:\\a.CMD") and is_batch("a.bat. ") and not is_batch("a.exe")


def test_names_of_variables_have_no_case() -> None:
    assert variable_name("Path") == b"PATH"
    assert {"SYSTEMROOT", "PATH", "PATHEXT", "TEMP"} <= set(MINIMAL)
    assert all(name == name.upper() for name in MINIMAL) and b"PYTHONUTF8" in DEFAULTS


def published_names(path: str) -> list[str]:
    for statement in ast.parse((ROOT / path).read_bytes()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def ports() -> list[str]:
    folder = ROOT / "runtime/mcpc_runtime/transports/platforms"
    return sorted(path.stem for path in folder.glob("*.py") if "bind_port(globals()" in path.read_text("utf-8"))


@pytest.mark.parametrize("adapter", ["posix", "windows"])
@pytest.mark.parametrize("port", ports())
def test_an_adapter_has_what_its_ports_publish(port: str, adapter: str) -> None:
    folder = f"runtime/mcpc_runtime/transports/platforms/{adapter}"
    module = {"environments": "variables", "supervisor": "supervision/client"}.get(port, port)
    lines = "\n".join(path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py"))
    text = (ROOT / folder / f"{module}.py").read_text("utf-8")
    elsewhere = {"SECRETS", "TEMPORARY_FOLDERS", "remove_quietly", "remove_tree"}
    lazily = {"watch_end"}
    for name in set(published_names(f"runtime/mcpc_runtime/transports/platforms/{port}.py")) - elsewhere:
        assert name in (lines if name in lazily else text), name


@pytest.mark.parametrize("adapter", ["posix", "windows"])
def test_an_adapter_has_what_the_port_of_the_compiler_publishes(adapter: str) -> None:
    folder = "compiler/mcpc/sandbox/platforms"
    text = (ROOT / folder / f"{adapter}.py").read_text("utf-8")
    assert [name for name in published_names(f"{folder}/__init__.py") if name not in text] == ["PLATFORM"]


def test_the_adapter_is_that_of_this_system() -> None:
    assert platforms.ADAPTER == "mcpc_runtime.transports.platforms.posix" and platforms.LINE_END == "\n"
    assert platforms.system.__name__ == "posix"


SHELL, OTHER = b"#!/usr/bin/env bash\n", b"#!/usr/bin/env python3\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/c/Users/me", "C:/Users/me"),
        ("/c", "C:/"),
        ("/C:/Users/me", "C:/Users/me"),
        ("C:\\Users\\me", "C:/Users/me"),
        ("c:/x", "c:/x"),
        ("//host/share/x", "//host/share/x"),
        ("\\\\host\\share", "//host/share"),
        ("/tmp/x", "/tmp/x"),
        ("data/x", "data/x"),
        ("", ""),
    ],
)
def test_a_path_is_read_however_it_is_written(text: str, path: str) -> None:
    assert script_paths.local_path(text) == path
    assert script_paths.local_path(path) == path


@pytest.mark.parametrize(
    ("path", "is_absolute"),
    [("C:/x", True), ("//host/share", True), ("C:x", False), ("/tmp/x", False), ("x", False), ("", False)],
)
def test_a_path_begins_at_a_drive_or_a_share(path: str, is_absolute: bool) -> None:
    assert script_paths.is_absolute(path) == is_absolute


def test_paths_are_written_for_the_program_that_reads_them() -> None:
    for head, path, both in ((SHELL, "/c/a b/x", "/c/a b/x:/d/y"), (OTHER, "C:\\a b\\x", "C:\\a b\\x;D:\\y")):
        write_path = script_paths.path_writer(head)
        assert write_path("C:/a b/x") == path
        assert script_paths.joined_paths(["C:/a b/x", "D:/y"], write_path) == both
    assert script_paths.path_writer(b"#!/bin/sh -e\n") is shell_path


@pytest.mark.parametrize(
    ("path", "head", "is_program"),
    [
        ("tool.sh", b"#!/bin/sh\n", True),
        ("tool", b"MZ\x90", True),
        ("tool.CMD", b"@echo off", True),
        ("tool.exe", b"", True),
        ("tool.sh", b"echo x\n", False),
        ("tool", b"\x7fELF", False),
    ],
)
def test_programs_are_known_by_their_first_bytes_or_their_extension(path: str, head: bytes, is_program: bool) -> None:
    assert script_paths.begins_as_program(path, head) == is_program


@pytest.mark.parametrize("translates", [False, True])
def test_an_environment_file_exports_what_it_changes(translates: bool, tmp_path: Path) -> None:
    needs("bash")
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "env.sh").write_text('export ONE="a\nb" KEPT=1; OTHER=2; echo noise; PATH="/c/bin:$PATH"')
    if translates:  # as Git and MSYS2 have it
        (tmp_path / "cygpath").write_text('#!/bin/sh\nprintf "windows:%s" "$3"')
        (tmp_path / "cygpath").chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    words = [bash, "--norc", "--noprofile", "-c", PRINT_ENVIRONMENT, "mcp-bash", str(tmp_path / "env.sh")]
    ran = subprocess.run(words, env={"PATH": path, "KEPT": "1"}, capture_output=True, check=True, timeout=60)
    completed = ProcessResult()
    completed.status, completed.printed = ran.returncode, ran.stdout
    expected = f"windows:/c/bin:{path}" if translates else f"/c/bin:{path}"
    assert parse_exported(completed) == {b"ONE": b"a\nb", b"PATH": expected.encode()}
    assert ran.stderr == b"noise\n"
