"""What a shell reads and finds before a call: texts and environments, names in messages, and the encoding of replies."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.bash import libraries, runner, standard_streams
from mcpc_runtime.handlers.bash.libraries import Libraries, encode_variables, join_texts
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.systems.mcp_bash import processes
from support.expressions import check_expressions
from support.needs import ROOT

LONGEST = "x" * 100_000
EXCLUDED = (
    b"BASHOPTS BASH_ENV BASH_XTRACEFD CDPATH ENV GLOBIGNORE IFS POSIXLY_CORRECT PS4 SHELLOPTS BASH_FUNC_f%% mcpc_arg_a"
).split()


class Host:
    """As much of a runner's context as libraries use; counts what is read."""

    def __init__(self, environment: Any = (), **index: Any) -> None:
        usual = {"environment": environment, "shell": ("lib/a.sh", "b.sh"), "prelude": ("one.bash", "two.bash")}
        self.read: list[str] = []
        self.image = SimpleNamespace(index={**usual, **index}, entry=self.entry)
        self.made: list[int] = []

    def entry(self, name: str) -> bytes:
        self.read.append(name)
        return (b"\xef\xbb\xbf" if name.endswith("b.sh") else b"") + name.encode()

    def environment(self, number: int) -> dict[bytes, bytes]:
        self.made.append(number)
        return {b"PATH": b"/bin", b"BASH": b"kept", b"N": b"%d" % number, **dict.fromkeys(EXCLUDED, b"x")}


def library(*environment: tuple[str, str], **index: Any) -> tuple[Libraries, Any]:
    host: Any = Host(environment, **index)
    return Libraries(host), host


def test_an_environment_is_made_once_and_has_what_can_be_exported() -> None:
    made, host = library(("A", "é"), ("N", "own"), ("FITS", LONGEST), ("LARGE", LONGEST + "x"))
    expected = {b"PATH": b"/bin", b"BASH": b"kept", b"N": b"own", b"A": "é".encode(), b"FITS": LONGEST.encode()}
    assert [made.environment(number) for number in (2, 3, 2)] == [expected] * 3
    assert host.made == [2, 3]


PRELUDE = [b"mcpc_app/bash/one.bash", b"mcpc_app/bash/two.bash"]


def test_the_texts_are_the_prelude_and_the_libraries_in_order() -> None:
    made, host = library(("A", "a"))
    assert made.texts() == [*PRELUDE, b"handlers/lib/a.sh", b"handlers/b.sh"]
    assert made.texts(b"part") == [*PRELUDE, b"part"]
    assert (made.program("one.bash"), made.name) == (PRELUDE[0].decode(), "a.sh")
    assert sorted(host.read) == sorted({*host.read})  # each once
    made, _ = library(("A", LONGEST + "'"), ("B", LONGEST), ("C", LONGEST + "y"))
    large = f"A='{LONGEST}'\\'''\nC='{LONGEST}y'\n".encode()
    assert made.texts(b"part") == [*PRELUDE, large, b"part"]


def test_a_library_that_uses_its_path_is_read_from_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "extracted_folder", lambda image: "/it's")
    made, _ = library(unpack=True)
    assert made.texts() == [*PRELUDE, b"source -- '/it'\\''s/lib/a.sh'", b"source -- '/it'\\''s/b.sh'"]


def named(made: Libraries, output: bytes) -> tuple[bytes, bytes, bytes]:
    result = ProcessResult()
    result.output = result.printed = result.errors = output
    assert made.name_sources(result) is result
    return result.output, result.printed, result.errors


def test_messages_name_the_file_that_a_shell_read_by_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "extracted_folder", lambda image: "/place")
    output = b"".join(b"/dev/fd%b/9: line %d: x\n" % (b"/." * number, number) for number in range(6))
    kept = b"/dev/fd/9: no line\n/place/b.sh: line 7\n"
    for environment, index, names in (
        ((), {}, ["one.bash", "two.bash", "lib/a.sh", "b.sh", "/dev/fd/././././9", "/dev/fd/./././././9"]),
        ((("A", LONGEST + "x"),), {}, ["one.bash", "two.bash", "mcpc", "lib/a.sh", "b.sh", "/dev/fd/./././././9"]),
        (
            (),
            {"unpack": True},
            ["one.bash", "two.bash", "lib/a.sh", "b.sh", "/dev/fd/././././9", "/dev/fd/./././././9"],
        ),
    ):
        made, _ = library(*environment, **index)
        lines = b"".join(b"%b: line %d: x\n" % (name.encode(), number) for number, name in enumerate(names))
        expected = lines + (kept.replace(b"/place/", b"") if index else kept)
        assert named(made, output + kept) == (expected,) * 3
    assert named(library()[0], b"/dev/fd/9: lin") == (b"/dev/fd/9: lin",) * 3


def test_variables_are_texts_by_their_kind() -> None:
    call = ShellCall("a.sh", "f", b"", 0)
    assert encode_variables(call) == []
    call.exported = {b"E": b"1", b"F": b""}
    call.variables = {"a": b"text", "b": [b"x", b"y"], "c": []}
    texts = [b"E", b"+", b"1", b"F", b"+", b"", b"a", b"=", b"text", b"b", b"2", b"x", b"y", b"c", b"0"]
    assert encode_variables(call) == texts
    assert (join_texts([b"a", b"", b"b"]), join_texts([])) == (b"a\0\0b\0", b"")


def test_scripts_are_read_from_their_paths(tmp_path: Path) -> None:
    (tmp_path / "fork").mkdir()
    (tmp_path / "fork/launcher.bash").write_text("first")
    made = processes.ScriptLibraries(f"{tmp_path}/sdk", lambda number: {b"N": b"%d" % number})
    assert (made.name, made.texts(), made.environment(3)) == ("scripts", [f"{tmp_path}/sdk".encode()], {b"N": b"3"})
    assert made.program("launcher.bash") == "first"
    (tmp_path / "fork/launcher.bash").write_text("second")
    assert made.program("launcher.bash") == "first"
    call = processes.script_call("/s/t.sh", {b"A": b"1", b"B": b""}, "/folder", 4)
    assert (call.file, call.function, call.environment) == ("/s/t.sh", "/s/t.sh", 4)
    assert call.argument == b"/folder\0A=1\0B="
    assert [name for name in (*EXCLUDED, b"BASH", b"PATH", b"xBASH_FUNC_f") if processes.allows_forking([b"PATH", name])] == [
        b"BASH", b"PATH", b"xBASH_FUNC_f",
    ]  # fmt: skip


def test_what_its_functions_return(golden: Callable[[Path, str], None]) -> None:
    path = ROOT / "tests/golden/runtime/handlers/shells.txt"
    check_expressions(golden, path, runner, standard_streams)
