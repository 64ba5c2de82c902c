"""Commands from a project to a file: what each passes on, writes, prints and exits with; nothing is compiled here."""

import hashlib
import io
import json
import os
import shutil
import signal
import stat
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc import cli as command_line
from mcpc.cli import build as building
from mcpc.cli import build_steps, cli, messages, report
from mcpc.cli import help as help_pages
from mcpc.cli.build import BuildParameters, require_repeatable
from mcpc.cli.build_steps import atomic_write, load_or_build, output_path, without_earlier_output, write_artifact
from mcpc.diagnostics import CODES, Diagnostic, Severity, Span, diagnose
from mcpc.emit import interpreters
from mcpc.frontends import FRONTENDS
from mcpc.interpreters.launchers import windows_file
from mcpc.interpreters.launchers.windows_file import PythonChoice
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest
from mcpc.options import Options
from mcpc.pack.archive import ArchiveEntry, build_archive
from mcpc.pack.cache import CachedBuild
from mcpc.pack.prologue import START_ALONE, START_BY_PYTHON, SmokeError
from mcpc.reading import Source, SourceTree
from mcpc.release.scan.model import CODES as RISK_CODES
from mcpc.release.trust import second_build
from mcpc.release.trust.second_build import SecondBuildError
from support.archives import built_file
from support.files import write_files
from support.needs import ROOT
from support.projects import SERVER_JSON, SMOKETEST, tree

GOLDEN = ROOT / "tests/golden/cli"
NOTE = Diagnostic("MCP291", Severity.NOTE, None, "a note", hint="do this")
HEAVY = Diagnostic("MCP205", Severity.NOTE, None, "a heavy note", size=1_000_001)
LIGHT = replace(HEAVY, message="a light note", size=1_000_000)
WARNING = Diagnostic("MCP108", Severity.WARNING, Span("tools.json", 3, 4), "a warning")
BUILD = CachedBuild(
    b"archive" * 60_000,
    "sha256:c",
    "demo",
    "1.2",
    1,
    2,
    3,
    "Python 3.11 to 3.14, any system",
    (NOTE, HEAVY, LIGHT, WARNING),
)
WRONG: dict[str, object] = {
    "server.json": SERVER_JSON,
    "tools.json": {"tools": [{"name": "t", "inputSchema": {"type": "nonsense"}}]},
    "tools.bash": "tool_t() { :; }\n",
}


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, [*map(str, words)])


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `mcpc build` passes on to its steps, of which none does anything."""
    seen: dict[str, Any] = {}

    def step(name: str, answer: Any) -> None:
        def record(*given: Any, **named: Any) -> Any:
            seen[name] = (*given, *named.values())
            return answer(*given) if callable(answer) else answer

        monkeypatch.setattr(building, name, record)

    files = {"tools.json": Source("tools.json", b"123456")}
    step("load_or_build", (BUILD, files))
    step("as_windows_program", lambda build, _: replace(build, data=b"MZ"))
    step("embed_build", lambda build, *_: replace(build, data=b"ELF"))
    step("require_repeatable", None)
    step("write_artifact", None)
    monkeypatch.setattr(building, "this_machine", lambda: "linux_x86_64")
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    return seen


def test_a_build_is_loaded_tested_and_written(passed: dict[str, Any], tmp_path: Path) -> None:
    done = run("build", tmp_path, "-o", tmp_path / "a.pyz", "--strict")
    place = tmp_path.resolve() / "a.pyz"
    assert done.exit_code == 0
    assert passed["load_or_build"] == (tmp_path, Options(strict=True, every_python=True), "text", place, False)
    assert passed["require_repeatable"] == (
        BUILD,
        BuildParameters(tmp_path, Options(strict=True, every_python=True), place, None, False),
        False,
        False,
    )
    assert passed["write_artifact"] == (BUILD, place, START_BY_PYTHON, True)
    assert {"as_windows_program", "embed_build"}.isdisjoint(passed)
    warnings, _, rest = done.stderr.partition("note: a note")
    assert [word in warnings for word in ("MCP108", "MCP205", "a heavy note", "a light note")] == [*[True] * 3, False]
    assert rest.splitlines()[0] == ": do this"
    assert rest.splitlines()[1].startswith("demo 1.2; try `")
    assert rest.splitlines()[2:] == [
        f"sha256 {hashlib.sha256(BUILD.data).hexdigest()}",
        f"built {tmp_path / 'a.pyz'}: 1 tool, 2 prompts, 3 resources, 0.4 MB in 0.0 s",
        "runs on: Python 3.11 to 3.14, any system",
    ]
    assert done.stdout == ""


def test_a_quiet_build_prints_problems_only(passed: dict[str, Any], tmp_path: Path) -> None:
    done = run("build", tmp_path, "-q", "-o", tmp_path / "a.pyz", "--no-smoke", "--verify")
    assert [word in done.stderr for word in ("MCP108", "MCP205", "note", "built")] == [True, False, False, False]
    assert passed["load_or_build"][-1] is True
    assert passed["write_artifact"][-1] is False
    assert passed["require_repeatable"][-2:] == (True, True)


def test_a_build_is_reported_to_programs(passed: dict[str, Any], tmp_path: Path) -> None:
    done = run("build", tmp_path, "-o", "x.pyz", "--format", "json")
    found = json.loads(done.stdout)
    assert done.stdout == json.dumps(found, indent=2) + "\n"
    assert found["built"] == {
        "path": "x.pyz",
        "name": "demo",
        "version": "1.2",
        "sha256": hashlib.sha256(BUILD.data).hexdigest(),
        "contentDigest": "sha256:c",
        "bytes": 420_000,
        "tools": 1,
        "prompts": 2,
        "resources": 3,
    }
    assert [row["code"] for row in found["diagnostics"]] == ["MCP205", "MCP205", "MCP291", "MCP108"]
    assert found["diagnostics"][3]["file"].endswith("/tools.json")
    assert done.stderr == ""
    blocks = run("build", tmp_path, "-o", tmp_path / "x.pyz", "--blocks", "40")
    assert passed["load_or_build"][2] == "blocks:40"
    assert "built" not in blocks.stderr


@pytest.mark.parametrize(
    ("words", "name", "data", "start"),
    [
        ([], "server.pyz", BUILD.data, START_BY_PYTHON),
        (["-o", "own.pyz"], "own.pyz", BUILD.data, START_BY_PYTHON),
        (["--exe"], "server.exe", b"MZ", START_BY_PYTHON),
        (["--exe", "-o", "own.pyz"], "own.pyz", b"MZ", START_BY_PYTHON),
        (["--self-contained", "linux_x86_64"], "server", b"ELF", START_ALONE),
        (["--self-contained", "win_amd64"], "server.exe", b"ELF", START_BY_PYTHON),
        (["--self-contained", "linux_aarch64"], "server", b"ELF", START_BY_PYTHON),
    ],
)
def test_the_name_and_the_start_of_a_file_are_those_of_its_kind(
    words: list[str],
    name: str,
    data: bytes,
    start: tuple[str, ...],
    passed: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("build", ".", *words)
    assert done.exit_code == 0, done.output
    build, place, started, _ = passed["write_artifact"]
    assert (place.name, build.data, started) == (name, data, start)


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        (["--self-contained", "linux_x86_64"], EmbeddingRequest(b"", "linux_x86_64")),
        (
            ["--self-contained", "linux_aarch64", "--minimal-library", "--interpreter", "."],
            EmbeddingRequest(b"", "linux_aarch64", Path(), True),
        ),
    ],
)
def test_what_is_embedded_is_passed_on(words: list[str], request_: EmbeddingRequest, passed: dict[str, Any]) -> None:
    assert run("build", ".", "-q", *words, "-o", "x").exit_code == 0
    assert passed["embed_build"] == (BUILD, request_, "text", True)
    assert passed["require_repeatable"][1].embedding == request_


@pytest.mark.parametrize(
    "words",
    [
        ["--interpreter", "."],
        ["--minimal-library"],
        ["--exe", "--self-contained", "linux_x86_64"],
        ["--exe", "--python", "/usr/bin/python3"],
        ["--self-contained", "none"],
        ["--python", ""],
        ["--python", "a b"],
        ["--python", "a$b"],
        ["--python", "a\x01b"],
        ["--python", "bin/python"],
        ["--python", "3.10"],
        ["--python", "3.99"],
    ],
)
def test_options_of_a_build_that_do_not_fit_are_refused(words: list[str], passed: dict[str, Any]) -> None:
    assert run("build", ".", *words).exit_code == 2
    assert passed == {}


@pytest.mark.parametrize("python", ["python3", "/usr/bin/python3", f"3.{sys.version_info.minor}"])
def test_a_python_is_passed_on(python: str, passed: dict[str, Any]) -> None:
    assert run("build", ".", "--python", python, "-o", "x.pyz").exit_code == 0
    assert passed["load_or_build"][1].python == python


def test_a_minor_version_is_looked_for_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(interpreters, "interpreter", looked.append)
    monkeypatch.setattr(interpreters, "HERE", "3.13")
    for minor in ("3.11", "3.13"):
        building.check_minor(minor)
    assert looked == ["3.11"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    return write_files(tmp_path / "project", SMOKETEST)


def test_a_build_is_cached_unless_a_note_may_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[CachedBuild] = []
    stored: dict[str, CachedBuild] = {}
    monkeypatch.setattr(build_steps.cache, "load_build", stored.get)
    monkeypatch.setattr(build_steps.cache, "store_build", stored.__setitem__)
    unknown = Diagnostic("MCP241", Severity.NOTE, None, "may change")

    def build_checked(analysed: Any, options: Options, _tell: object) -> CachedBuild:
        assert analysed.checked.server.name == "smoke"
        assert options.http is True
        made.append(replace(BUILD, diagnostics=() if made else (unknown,)))
        return made[-1]

    monkeypatch.setattr(build_steps, "build_checked", build_checked)
    refused: list[Options] = []
    monkeypatch.setattr(report, "refuse_unimported", lambda options, _: refused.append(options))
    found = [load_or_build(project, Options(http=True), "text", None)[0] for _ in range(3)]
    assert refused == [Options(http=True)] * 2
    assert len(made) == 2
    assert found == [made[0], made[1], made[1]]
    (project / "server.pyz").write_bytes(archive({}))
    build, files = load_or_build(project, Options(http=True), "text", project.resolve() / "server.pyz")
    assert (build, sorted(files)) == (made[1], sorted(SMOKETEST))
    printed: list[Any] = []
    monkeypatch.setattr(report, "report", lambda *given: printed.append(given))
    assert build_steps.build_project(project, Options(http=True), "json") == made[1]
    assert [(each[0], each[2:]) for each in printed] == [((), ("json", project))]


HERE_ONLY, ANYWHERE = "Linux x86-64, Python 3.11 (nat)", "Python 3.11, any system"
NAMED = '[tool.mcpc]\nplatforms = ["win_amd64"]\n'


@pytest.mark.parametrize(
    ("named", "toml", "runs_on", "built_for"),
    [
        ((), "", HERE_ONLY, [(), ("common",)]),
        ((), "", ANYWHERE, [()]),
        ((), NAMED, HERE_ONLY, [()]),
        (("win_arm64",), "", HERE_ONLY, [("win_arm64",)]),
    ],
)
def test_machine_code_is_built_for_the_usual_machines(
    named: tuple[str, ...], toml: str, runs_on: str, built_for: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"pyproject.toml": Source("pyproject.toml", toml.encode())}
    platforms: list[tuple[str, ...]] = []

    def load(_project: Path, options: Options, *_: object) -> Any:
        platforms.append(options.platforms)
        return replace(BUILD, runs_on=runs_on, name=str(len(platforms))), files

    monkeypatch.setattr(build_steps, "load_or_build", load)
    build = build_steps.build_for_usual_machines(Path("p"), Options(platforms=named))
    assert (platforms, build.name) == (built_for, str(len(built_for)))


def test_platforms_of_a_project_count_for_files_that_run_elsewhere() -> None:
    project = tree({"pyproject.toml": NAMED})
    for options, platforms in (
        (Options(every_python=True), ("win_amd64",)),
        (Options(every_python=True, platforms=("win_arm64",)), ("win_arm64",)),
        (Options(), ()),
    ):
        assert build_steps.with_declared_platforms(options, project).platforms == platforms
    wrong = tree({"pyproject.toml": '[tool.mcpc]\nplatforms = "common"\n'})
    assert build_steps.with_declared_platforms(Options(every_python=True), wrong).platforms == ()


@pytest.mark.parametrize(("words", "status"), [((), 1), (("--format", "json"), 1), (("--strict",), 1)])
def test_a_project_with_errors_is_not_built(words: tuple[str, ...], status: int, tmp_path: Path) -> None:
    project = write_files(tmp_path / "wrong", WRONG)
    done = run("build", project, "-o", tmp_path / "x.pyz", *words)
    assert done.exit_code == status
    assert "MCP110" in (done.stdout if "json" in words else done.stderr)
    assert not (tmp_path / "x.pyz").exists()
    with pytest.raises(ValueError, match="errors"):
        build_steps.build_checked(SimpleNamespace(checked=None), Options(), print)  # type: ignore[arg-type]


def test_the_output_of_an_earlier_build_is_no_source(tmp_path: Path) -> None:
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    files = {name: Source(name, data) for name, data in {"a.py": b"x", "out/s.pyz": empty.getvalue()}.items()}
    tree = SourceTree(MappingProxyType(files), "name", "root")
    root = tmp_path.resolve()
    without = without_earlier_output(tree, tmp_path, root / "out/s.pyz")
    assert (sorted(without.files), without.name, without.root) == (["a.py"], "name", "root")
    for other in (root / "b.pyz", root.parent / "s.pyz", Path("/a.py")):
        assert without_earlier_output(tree, tmp_path, other) is tree
    with pytest.raises(click.UsageError):
        without_earlier_output(tree, tmp_path, root / "a.py")


def test_where_a_file_is_written(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    write_files(tmp_path, {"file": "", "folder/x": ""})
    (tmp_path / "link").symlink_to("file")
    assert output_path(tmp_path / "link") == root / "file"
    assert output_path(tmp_path / "new/deep/x") == root / "new/deep/x"
    for wrong, named in (("folder", "a folder"), ("file/x", "not a folder"), ("file/x/y", "not a folder")):
        with pytest.raises(click.UsageError, match=named):
            output_path(tmp_path / wrong)
    with pytest.raises(click.UsageError, match="not a regular file"):
        output_path(Path("/dev/null"))


def test_a_file_takes_its_name_when_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "server.pyz"
    tried: list[Any] = []

    def smoke(path: Path, start: tuple[str, ...]) -> None:
        tried.append((path.read_bytes(), stat.S_IMODE(path.stat().st_mode) & 0o700, path.parent, start))
        assert not target.exists() or target.read_bytes() == b"older"
        if len(tried) == 2:
            raise SmokeError("it fell over")

    monkeypatch.setattr(build_steps, "smoke", smoke)
    before = os.umask(0o027)
    try:
        write_artifact(BUILD, target, ("how",))
    finally:
        assert os.umask(before) == 0o027
    assert tried == [(BUILD.data, 0o700, target.parent, ("how",))]
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (BUILD.data, 0o750)
    target.write_bytes(b"older")
    with pytest.raises(click.exceptions.Exit) as ended:
        write_artifact(BUILD, target)
    assert (ended.value.exit_code, target.read_bytes()) == (4, b"older")
    assert "it fell over" in capsys.readouterr().err
    write_artifact(BUILD, target, tried=False)
    assert (len(tried), target.read_bytes()) == (2, BUILD.data)
    assert [path.name for path in target.parent.iterdir()] == ["server.pyz"]
    (tmp_path / "file").write_text("")
    with pytest.raises(click.UsageError):
        write_artifact(BUILD, tmp_path / "file" / "x")
    with pytest.raises(click.UsageError, match="No such file"), atomic_write(tmp_path / "none" / "x", b"", 0o600):
        pass


def test_an_interpreter_is_embedded_or_the_reason_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def embed_server(request: EmbeddingRequest) -> bytes:
        if request.minimal:
            raise CannotEmbedError("MCP420", "no such Python", "take another")
        return b"with " + request.archive[:7]

    monkeypatch.setattr(build_steps, "embed_server", embed_server)
    request = EmbeddingRequest(b"", "linux_x86_64")
    assert build_steps.embed_build(BUILD, request, "text", True) == replace(BUILD, data=b"with archive")
    with pytest.raises(click.exceptions.Exit) as ended:
        build_steps.embed_build(BUILD, replace(request, minimal=True), "text", True)
    assert ended.value.exit_code == 1
    assert "MCP420" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "minor", "minors", "is_only"),
    [
        (Options(), "", (sys.version_info.minor,), False),
        (Options(), "3.11", (11,), False),
        (Options(python="3.12,3.11"), "3.13", (12, 11), False),
        (Options(python="python3.12"), "", (12,), True),
        (Options(python="python3"), "", (sys.version_info.minor,), False),
    ],
)
def test_a_program_for_windows_finds_the_python_of_its_options(
    options: Options, minor: str, minors: tuple[int, ...], is_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(windows_file, "windows_file", lambda *given: made.append(given) or b"MZ")
    building.check_python_of_program(options)
    assert building.windows_program(b"zip", options, minor) == b"MZ"
    assert made == [(b"zip", "x64", PythonChoice(minors, is_only=is_only))]
    assert building.as_windows_program(BUILD, options).data == b"MZ"


@pytest.mark.parametrize(
    ("platforms", "machine"),
    [
        ((), "x64"),
        (("win_arm64",), "arm64"),
        (("win_arm64-3.13", "manylinux2014_x86_64"), "arm64"),
        (("win_arm64", "win_amd64"), "x64"),
        (("linux_x86_64",), "x64"),
    ],
)
def test_the_machine_of_a_program_is_that_of_its_platforms(platforms: tuple[str, ...], machine: str) -> None:
    assert building.machine_of(Options(platforms=platforms)) == machine
    for python in ("python4", "xpython3.12", "/bin/python3.12"):
        with pytest.raises(click.UsageError):
            building.check_python_of_program(Options(python=python))


def test_the_request_of_a_second_build(tmp_path: Path) -> None:
    root = str(tmp_path.resolve())
    inside = BuildParameters(tmp_path, Options(http=True), tmp_path.resolve() / "out/x.pyz")
    assert (inside.request().project, inside.request().left_out, inside.request().options) == (
        root,
        "out/x.pyz",
        Options(http=True),
    )
    outside = replace(inside, place=Path("/x.pyz"), embedding=EmbeddingRequest(b"", "linux_x86_64"))
    found = outside.request()
    assert (found.left_out, found.embedded, found.interpreter, found.minimal) == ("", "linux_x86_64", "", False)
    given = EmbeddingRequest(b"", "linux_x86_64", tmp_path / "a" / "..", True)
    found = replace(outside, embedding=given).request()
    assert (found.interpreter, found.minimal) == (root, True)


def test_a_second_build_has_the_form_of_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(second_build, "build_elsewhere", lambda request: b"2")
    monkeypatch.setattr(building, "as_windows_program", lambda build, _: replace(build, data=b"MZ" + build.data))
    asked = BuildParameters(tmp_path, Options(), tmp_path / "x")
    assert asked.built(BUILD) == b"2"
    assert replace(asked, is_program=True).built(BUILD) == b"MZ2"


def archive(entries: dict[str, bytes]) -> bytes:
    return build_archive([ArchiveEntry(name, content) for name, content in entries.items()], "")


@pytest.mark.parametrize(("count", "shown", "more"), [(20, 20, ""), (21, 20, "  and 1 more")])
def test_two_builds_that_differ_are_refused(
    count: int, shown: int, more: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {"META-INF/build.json": b"{}"}
    first = archive({**facts, **{f"f{number:02}": b"1" for number in range(count)}})
    second = archive({**facts, **{f"f{number:02}": b"2" for number in range(count)}})
    answers = [second]
    monkeypatch.setattr(second_build, "build_elsewhere", lambda *_: answers[0])
    asked = BuildParameters(Path("p"), Options(), Path("/x"))
    build = replace(BUILD, data=first)
    require_repeatable(build, asked, is_required=False, quiet=True)
    with pytest.raises(click.exceptions.Exit) as ended:
        require_repeatable(build, asked, is_required=True, quiet=True)
    assert ended.value.exit_code == 6
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == messages.NOT_REPEATABLE.format(project="p")
    assert lines[1 : shown + 1] == [f"  {'changed':<11}f{number:02}" for number in range(shown)]
    assert [*filter(None, lines[shown + 1 :])] == [*filter(None, [more])]
    answers[0] = first
    require_repeatable(build, asked, is_required=True, quiet=True)


def test_a_second_build_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build_elsewhere(*_: object) -> bytes:
        raise SecondBuildError("no disk")

    monkeypatch.setattr(second_build, "build_elsewhere", build_elsewhere)
    with pytest.raises(click.exceptions.Exit) as ended:
        require_repeatable(BUILD, BuildParameters(Path("p"), Options(), Path("/x")), is_required=True, quiet=True)
    assert ended.value.exit_code == 6
    assert capsys.readouterr().err == messages.SECOND_BUILD_FAILED.format(problem="no disk") + "\n"


def test_diagnostics_are_printed_where_they_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {"tools.json": Source("tools.json", b"123456")}
    report.report((WARNING,), sources, "text", tmp_path / "sub")
    text = capsys.readouterr()
    assert (text.out, "sub/tools.json:1:4" in text.err) == ("", True)
    report.report((WARNING,), sources, "text")
    assert "  sub/" not in capsys.readouterr().err
    report.report((), sources, "text")
    assert capsys.readouterr() == ("", "")
    report.report((), sources, "json", tmp_path)
    empty = capsys.readouterr()
    assert (json.loads(empty.out)["diagnostics"], empty.err) == ([], "")
    report.report((WARNING,), sources, "sarif", tmp_path)
    assert tmp_path.resolve().as_uri() + "/" in capsys.readouterr().out
    assert report.relative_to_cwd(tmp_path / "a" / "b") == "a/b"
    assert report.relative_to_cwd(tmp_path) == "."


def test_a_successful_build_prints_no_notes_but_heavy_ones() -> None:
    everything = (NOTE, HEAVY, LIGHT, WARNING)
    assert report.notable_diagnostics(everything, "text") == (WARNING,)
    assert report.notable_diagnostics(everything, "blocks:80", 1_000_000) == (HEAVY, WARNING)
    assert report.notable_diagnostics(everything, "json") == everything


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((0, 0, 0), "0 tools, 0 prompts"),
        ((1, 1, 1), "1 tool, 1 prompt, 1 resource"),
        ((2, 3, 4), "2 tools, 3 prompts, 4 resources"),
    ],
)
def test_definitions_are_counted(counts: tuple[int, int, int], text: str) -> None:
    assert report.count_definitions(*counts) == text


def test_colours_are_for_terminals_and_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    assert report.has_colours() is False
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert report.has_colours() is True
    monkeypatch.setenv("NO_COLOR", "1")
    assert report.has_colours() is False
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    assert report.has_colours() is True


ERROR = diagnose("MCP110", None, "an error")
REFUSED, UNREADABLE = diagnose("MCP422", None, "refused"), diagnose("MCP414", None, "unreadable")


@pytest.mark.parametrize(
    ("found", "options", "status", "decisive"),
    [
        ((), Options(), None, ()),
        ((WARNING,), Options(), None, (WARNING,)),
        ((WARNING,), Options(strict=True), 1, (WARNING,)),
        ((ERROR,), Options(), 1, (ERROR,)),
        ((ERROR, REFUSED), Options(), 6, (ERROR, REFUSED)),
        ((ERROR, REFUSED, UNREADABLE), Options(locked=True), 6, (REFUSED,)),
        ((UNREADABLE,), Options(), 1, (UNREADABLE,)),
        ((ERROR, UNREADABLE), Options(locked=True), 6, (UNREADABLE,)),
        ((ERROR,), Options(locked=True), 1, (ERROR,)),
    ],
)
def test_a_build_is_refused_with_a_status(
    found: tuple[Diagnostic, ...], options: Options, status: int | None, decisive: tuple[Diagnostic, ...]
) -> None:
    assert report.decisive(found, options) == decisive
    if status is None:
        report.exit_if_refused(found, options)
    else:
        with pytest.raises(click.exceptions.Exit) as ended:
            report.exit_if_refused(found, options)
        assert ended.value.exit_code == status


def test_files_that_had_to_be_imported_are_refused() -> None:
    unimported = diagnose("MCP716", None, "not imported")
    report.refuse_unimported(Options(), (unimported,))
    report.refuse_unimported(Options(imports=False), (ERROR,))
    with pytest.raises(click.UsageError):
        report.refuse_unimported(Options(imports=False), (ERROR, unimported))


class Timer:
    made: list["Timer"]

    def __init__(self, seconds: float, begin: Callable[[], None]) -> None:
        self.seconds, self.begin, self.daemon, self.calls = seconds, begin, False, list[str]()
        self.made.append(self)

    def start(self) -> None:
        self.calls.append("start")

    def cancel(self) -> None:
        self.calls.append("cancel")


def test_the_stage_is_printed_of_work_that_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Timer, "made", [], raising=False)
    monkeypatch.setattr(report.threading, "Timer", Timer)
    with report.progress_reporter() as tell:
        tell("one")
        assert capsys.readouterr().err == ""
        (timer,) = Timer.made
        assert (timer.seconds, timer.daemon, timer.calls) == (1.0, True, ["start"])
        timer.begin()
        tell("two")
    assert timer.calls == ["start", "cancel"]
    assert capsys.readouterr().err == "mcpc: one …\nmcpc: two …\n"
    with pytest.raises(RuntimeError), report.progress_reporter(quiet=True):
        Timer.made[1].begin()
        raise RuntimeError
    assert Timer.made[1].calls == ["cancel"]
    assert capsys.readouterr().err == "mcpc: reading …\n"


def test_check_and_show_print_a_project(project: Path, golden: Callable[[Path, str], None]) -> None:
    checked, shown = run("check", project), run("inspect", project, "--definitions")
    assert (checked.exit_code, shown.exit_code) == (0, 0)
    golden(GOLDEN / "check.txt", checked.stderr)
    assert run("check", project, "--from", "mcbox").exit_code == 0
    found = json.loads(run("inspect", project, "--definitions", "--format", "json").stdout)
    assert found["server"] == shown.stdout.splitlines()
    assert found["diagnostics"] == json.loads(run("check", project, "--format", "json").stdout)["diagnostics"]
    assert "smoke 0.0.1" not in run("check", project, "--format", "json").stderr


def test_check_and_show_refuse_a_wrong_project(tmp_path: Path) -> None:
    project = write_files(tmp_path / "wrong", WRONG)
    commands = (("check", project), ("inspect", project, "--definitions"))
    for command in commands:
        done = run(*command)
        assert (done.exit_code, "MCP110" in done.stderr) == (1, True)
    write_files(project, {"tools.json": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}})
    assert [run(*command, *words).exit_code for command in commands for words in ((), ("--strict",))] == [0, 1, 0, 1]
    file = built_file(tmp_path / "a.pyz")
    assert "expected the folder of a project" in run("inspect", file, "--definitions").stderr


def test_codes_are_listed_and_explained() -> None:
    lines = run("help", "codes").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*CODES, *RISK_CODES]
    assert f"MCP001  error    {CODES['MCP001'].title}" in lines
    assert f"SCAN101  high     {RISK_CODES['SCAN101'].title}" in lines
    rows = json.loads(run("help", "codes", "--format", "json").stdout)
    assert rows["MCP108"] == {"severity": "warning", "title": CODES["MCP108"].title}
    assert [*rows] == [*CODES, *RISK_CODES]
    for code, severity, texts in (
        ("mcp001", "error", help_pages.explain("MCP001")),
        ("Scan101", "high", help_pages.explain_risk("SCAN101")),
    ):
        assert run("help", code).stdout == texts
        found = json.loads(run("help", code, "--format", "json").stdout)
        title = {**CODES, **RISK_CODES}[code.upper()].title
        assert found == {"code": code.upper(), "severity": severity, "title": title, "text": texts}
    formats = run("help", "MCP009").stdout.partition("\n\n- ")[2].splitlines()
    assert [line.removeprefix("- ").partition(":")[0] for line in formats] == [each.name for each in FRONTENDS]
    near = run("help", "MCP01")
    assert (near.exit_code, "did you mean MCP" in near.stderr) == (2, True)
    assert "mcpc help codes" in run("help", "zzzzzzzz").stderr
    option: Any = None
    assert help_pages.topics(option, option, "scan1") == [code for code in RISK_CODES if code.startswith("SCAN1")]
    assert help_pages.topics(option, option, "mcp00")[:2] == ["MCP001", "MCP002"]


PAGE = "A long paragraph of words\n- item one-two three four\n- another\n\n  indented lines stay as they are\n\nend\n"


@pytest.mark.parametrize(
    ("columns", "is_terminal", "is_wrapped"), [(119, True, True), (120, True, False), (20, False, False)]
)
def test_a_page_is_wrapped_to_a_narrow_terminal(
    columns: int, is_terminal: bool, is_wrapped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: is_terminal))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((columns, 24)))
    assert (help_pages.wrap_page("a\nb\n") == "a b\n") is is_wrapped
    assert help_pages.fill_paragraph(PAGE.split("\n\n")[0], 16) == (
        "A long paragraph\nof words\n- item one-two\n  three four\n- another"
    )
    if is_wrapped:
        monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((16, 24)))
        assert help_pages.wrap_page(PAGE) == (
            "A long paragraph\nof words\n- item one-two\n  three four\n- another\n\n"
            "  indented lines stay as they are\n\nend\n"
        )


def test_an_unexpected_exception_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(command_line.TRACEBACK_VARIABLE, raising=False)
    for problem, status, text in (
        (FileNotFoundError(2, "No such file", "a.txt"), 2, "mcpc: a.txt: No such file\n"),
        (FileNotFoundError(2, "No such file", b"b.txt"), 2, "mcpc: b.txt: No such file\n"),
        (OSError("bare"), 2, "mcpc: bare\n"),
        (OSError(5, "Input/output error"), 2, "mcpc: Input/output error\n"),
        (KeyboardInterrupt(), 130, ""),
        (ValueError("odd"), 70, messages.INTERNAL_ERROR.format(kind="ValueError", problem="odd", variable="MCPC_TRACEBACK") + "\n"),
    ):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            command_line.report_exception(type(problem), problem, None)
        assert (ended.value.code, capsys.readouterr().err) == (status, text)
    monkeypatch.setenv(command_line.TRACEBACK_VARIABLE, "1")
    with pytest.raises(SystemExit):
        command_line.report_exception(ValueError, ValueError("odd"), None)
    assert capsys.readouterr().err.startswith("ValueError: odd\n")


@contextmanager
def main_of_a_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Record what `main` sets up for the process."""
    calls: list[Any] = []
    hooks = sys.excepthook, sys.unraisablehook
    monkeypatch.setattr(command_line.gc, "disable", lambda: calls.append("gc"))
    monkeypatch.setattr(command_line, "use_utf8", lambda: calls.append("utf8"))
    monkeypatch.setattr(command_line.signal, "signal", lambda number, function: calls.append((number, function)))
    monkeypatch.setattr(command_line, "cli", lambda **given: calls.append(given))
    try:
        yield calls
    finally:
        sys.excepthook, sys.unraisablehook = hooks


def test_the_process_of_a_command_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with main_of_a_process(monkeypatch) as calls:
        command_line.main()
        assert sys.excepthook is command_line.report_exception
        assert sys.unraisablehook is command_line.signal_again
    signals = [(number, command_line.exit_on_signal) for number in command_line.ENDING_SIGNALS]
    assert calls == ["gc", "utf8", *signals, {"prog_name": "mcpc"}]
    with pytest.raises(SystemExit) as ended:
        command_line.exit_on_signal(signal.SIGTERM, None)
    assert ended.value.code == 143


def test_a_signal_whose_exit_was_lost_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(command_line._thread, "start_new_thread", lambda function, given: function(*given))
    monkeypatch.setattr(command_line.time, "sleep", sent.append)
    monkeypatch.setattr(command_line, "signal_main_thread", sent.append)
    monkeypatch.setattr(sys, "__unraisablehook__", lambda lost: sent.append(lost.exc_value))
    for problem in (
        SystemExit(128 + signal.SIGTERM),
        other := SystemExit(1),
        none := SystemExit(),
        odd := ValueError(),
    ):
        lost: Any = SimpleNamespace(exc_value=problem)
        command_line.signal_again(lost)
    assert sent == [0.01, signal.SIGTERM, other, none, odd]


def test_an_interrupted_command_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mcpc.pipeline.read_project", interrupted)
    assert run("check", ".").exit_code == 130
