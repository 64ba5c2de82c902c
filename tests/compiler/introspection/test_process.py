"""What is believed of the output of the process that describes a project, and how it is started."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpc.frontends.introspection import find_decorated, process
from mcpc.frontends.introspection.model import DecoratedFile
from mcpc.frontends.introspection.process import (
    FileDescription,
    ImportFailure,
    ImportResults,
    describe_in_processes,
    has_last_line,
    parse_results,
    run_process,
)
from mcpc.reading import Source
from mcpc.sandbox.confinement.model import IMPORT_GRACE_SECONDS, IMPORT_SECONDS, TIME_LIMIT_MESSAGE, ProgramOutcome

ROOT = Path("/r")
ROW = {"definition": {}, "binding": [], "context": "", "problems": []}
END = {"end": True, "strays": []}


def decorated(path: str, count: int = 1) -> DecoratedFile:
    text = "from mcpc import Server, tool\nmcp = Server('s')\n"
    text += "".join(f"@tool\ndef f{number}(): ...\n" for number in range(count))
    found = find_decorated(Source(path, text.encode()), {})
    assert found is not None
    return found


FILES = (decorated("a.py"), decorated("b.py", 2))


def line(path: str, *rows: Any, **more: Any) -> dict[str, Any]:
    return {"path": path, "marks": [*rows], "servers": {}, "failure": None, **more}


def outcome(*lines: object, output: str = "", status: int | None = 0, why: str = "") -> ProgramOutcome:
    answer = "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines)
    return ProgramOutcome(answer.encode(), output.encode(), status, why)


def described(*rows: Any, **servers: Any) -> FileDescription:
    return FileDescription(tuple(rows), servers)


def test_results_are_those_of_the_files() -> None:
    server = {"said": {"name": "s"}, "problems": []}
    stray = {"path": "c.py", "function": "f", "line": 3, "kinds": ["tool"]}
    said = (line("a.py", ROW, servers={"mcp": server}), line("b.py", ROW, ROW), {"end": True, "strays": [stray]})
    assert parse_results(outcome(*said), FILES, ROOT) == ImportResults(
        {"a.py": described(ROW, mcp=server), "b.py": described(ROW, ROW)}, (stray,)
    )
    failure = {"message": "m", "path": "x.py", "line": 7}
    found = parse_results(outcome(line("a.py", failure=failure), line("b.py", ROW, ROW), END), FILES, ROOT)
    assert found.files["a.py"] == FileDescription(failure=ImportFailure("m", "x.py", 7))


PROBLEM = {"code": "MCP217", "where": "function", "message": "m", "hint": "h"}
FAILURE = {"message": "m", "path": "a.py", "line": 0}
REFUSED: dict[str, object] = {
    "no JSON": "{", "no object": "[]", "another file": line("z.py", ROW), "no path": line(5, ROW),  # type: ignore[arg-type]
    "no rows": {**line("a.py"), "marks": {}}, "too few rows": line("a.py"), "too many rows": line("a.py", ROW, ROW),
    "a row that is none": line("a.py", 5), "no definition": line("a.py", {**ROW, "definition": []}),
    "a binding of numbers": line("a.py", {**ROW, "binding": [1]}), "no binding": line("a.py", {**ROW, "binding": "x"}),
    "no context": line("a.py", {**ROW, "context": None}), "no problems": line("a.py", {**ROW, "problems": {}}),
    "a problem without a code": line("a.py", {**ROW, "problems": [{**PROBLEM, "code": "MCP000"}]}),
    "a problem without a text": line("a.py", {**ROW, "problems": [{**PROBLEM, "hint": 5}]}),
    "a problem that is none": line("a.py", {**ROW, "problems": ["x"]}),
    "no servers": line("a.py", ROW, servers=[]), "a server that is none": line("a.py", ROW, servers={"s": 5}),
    "a server that says nothing": line("a.py", ROW, servers={"s": {"problems": []}}),
    "a server without problems": line("a.py", ROW, servers={"s": {"said": {}}}),
    "a failure with rows": line("a.py", ROW, failure=FAILURE), "a failure that is none": line("a.py", failure="x"),
    "a failure with more": line("a.py", failure={**FAILURE, "x": 1}), "no line": line("a.py", failure={**FAILURE, "line": -1}),
    "a line that is true": line("a.py", failure={**FAILURE, "line": True}),
    "a line too large": line("a.py", failure={**FAILURE, "line": 1 << 31}),
    "a path that is none": line("a.py", failure={**FAILURE, "path": 5}),
}  # fmt: skip
TAKEN: dict[str, dict[str, Any]] = {
    "a problem": line("a.py", {**ROW, "problems": [PROBLEM]}), "an empty server": line("a.py", ROW, servers={"s": {}}),
    "the last line": line("a.py", failure={**FAILURE, "line": (1 << 31) - 1}), "the first": line("a.py", failure=FAILURE),
    "a binding": line("a.py", {**ROW, "binding": ["x"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_line_of_another_form_is_no_result(name: str) -> None:
    found = parse_results(outcome(REFUSED[name], line("b.py", ROW, ROW)), FILES, ROOT)
    assert found.files.keys() == {"a.py", "b.py"}
    assert found.files["a.py"] == FileDescription(failure=ImportFailure("it ended the process with status 0", "a.py"))


@pytest.mark.parametrize("name", TAKEN)
def test_a_line_at_the_edge_is_one(name: str) -> None:
    said = TAKEN[name]
    found = parse_results(outcome(said), FILES[:1], ROOT).files["a.py"]
    assert (list(found.marks), found.servers) == (said["marks"], said["servers"])
    assert (found.failure is None) == (said["failure"] is None)


@pytest.mark.parametrize(
    "strays",
    [{}, [5], [{"path": "c.py", "function": 5, "line": 1, "kinds": []}], [{"path": "c.py", "function": "f", "line": -1, "kinds": []}],
     [{"path": "c.py", "function": "f", "line": 1, "kinds": [1]}]],
)  # fmt: skip
def test_strays_of_another_form_are_none(strays: object) -> None:
    good = {"path": "c.py", "function": "f", "line": 0, "kinds": []}
    lines = (
        line("a.py", ROW),
        {"end": True, "strays": strays},
        {"end": 1, "strays": [good]},
        {"end": True, "strays": [good]},
    )
    assert parse_results(outcome(*lines), FILES[:1], ROOT).strays == (good,)


DUMP = 'noise\nFile "/r/project/z.py", line 1\nTimeout (0:00:02)!\nFile "/lib/x.py", line 9\nFile "/r/project/p/c.py", line 12\n'
ENDS = {
    "by a status": (outcome(status=3), ("it ended the process with status 3", "a.py", 0)),
    "by a signal": (outcome(status=-9), ("it ended the process by signal 9", "a.py", 0)),
    "for a reason": (outcome(status=None, why="it wrote too much"), ("it wrote too much", "a.py", 0)),
    "by the time limit": (outcome(output=DUMP, status=1), (TIME_LIMIT_MESSAGE, "p/c.py", 12)),
    "by a crash": (
        outcome(output=DUMP.replace("Timeout (0:00:02)!", "Fatal Python error: Aborted"), status=-6),
        ("it ended the process by signal 6", "p/c.py", 12),
    ),
    "with a traceback of its own": (outcome(output=DUMP.replace("Timeout", "timeout"), status=1), ("it ended the process with status 1", "a.py", 0)),
    "outside the project": (outcome(output="Timeout (1)!\nFile \"/x.py\", line 1\n", status=1), (TIME_LIMIT_MESSAGE, "a.py", 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_how_a_process_ended_is_the_result_of_its_first_silent_file(name: str) -> None:
    given, (message, path, number) = ENDS[name]
    found = parse_results(given, FILES, ROOT).files
    assert found == {"a.py": FileDescription(failure=ImportFailure(message, path, number))}


def test_a_process_that_says_its_last_line_too_early() -> None:
    found = parse_results(outcome(END), FILES, ROOT).files["a.py"].failure
    assert (found.path, found.line) == ("a.py", 0)
    assert found.message not in ("", "it ended the process with status 0")
    ends = {
        b'{"end": 1}\n': True,
        b'x\n{"end"\n': True,
        b'{"end"': False,
        b'{"end"\n\n': False,
        b"": False,
        b"\n": False,
        b'a{"end"\n': False,
    }
    assert {data: has_last_line(data) for data in ends} == ends


def test_the_files_behind_one_that_ends_its_process_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(files: Any, root: Path, packages: object, environment: object) -> ProgramOutcome:
        asked.append([file.source.path for file in files])
        stray = {"path": "c.py", "function": "f", "line": len(asked), "kinds": []}
        return (
            outcome(status=3) if len(asked) == 1 else outcome(line("b.py", ROW, ROW), {"end": True, "strays": [stray]})
        )

    monkeypatch.setattr(process, "run_process", run)
    found = describe_in_processes(FILES, ROOT, ())
    assert asked == [["a.py", "b.py"], ["b.py"]]
    assert list(found.files) == ["a.py", "b.py"]
    assert [stray["line"] for stray in found.strays] == [2]


@pytest.mark.parametrize("count", [1, 2])
def test_each_file_has_its_time(count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jobs: list[Any] = []

    def run(job: Any) -> ProgramOutcome:
        jobs.append((job, json.loads(Path(job.words[job.words.index(str(tmp_path)) + 2]).read_text())))
        return outcome()

    monkeypatch.setattr(process.confinement, "run_confined", run)
    run_process(FILES[:count], tmp_path, ["/packages"], {"KEY": "x"})
    ((job, asked),) = jobs
    assert job.seconds == IMPORT_SECONDS * count + IMPORT_GRACE_SECONDS
    assert dict(job.variables) == {"KEY": "x", "PYTHONHASHSEED": "0"}
    rows = [{"kind": "tool", "function": "f0"}, {"kind": "tool", "function": "f1"}]
    assert asked == [
        {"path": path, "marks": rows[:number], "servers": ["mcp"], "seconds": IMPORT_SECONDS}
        for path, number in (("a.py", 1), ("b.py", 2))[:count]
    ]
    assert "/packages" in job.words
    assert not Path(job.words[job.words.index(str(tmp_path)) + 2]).exists()
