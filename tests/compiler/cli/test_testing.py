"""`mcpc test`: which cases are run on what, and what is printed, written and returned; no server is started."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import cli, test
from mcpc.cli import test as testing
from mcpc.cli.test import (
    check_targets,
    default_jobs,
    filtered,
    load_cases,
    offered_names,
    repeat_command,
    run_all,
    selection_of,
    served_target,
)
from mcpc.workbench.testing.model import Case, Fault, Mismatch, Outcome, Reply, Variant
from mcpc.workbench.testing.running import OutputValidators, VariantSelection
from mcpc.workbench.testing.servers import Served
from support.archives import built_file
from support.files import write_files

CASES = """\
tests:
- {name: Greets, tool: greet, arguments: {name: Ada}, expect: {text: old}}
- {name: other, tool: other}
- {name: asks, prompt: ask}
"""
TOOLS = [
    {"name": "greet", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}},
    {"name": "other", "outputSchema": {"type": "string"}},
]
LISTS = {"tools": TOOLS, "prompts": [{"name": "ask", "arguments": [{"name": "topic"}]}]}
STDIO = Variant("stdio", "stateless")


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, ["test", *map(str, words)])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is served without being built; its cases fail as `failing` says, by name and number of ways."""
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    file = built_file(tmp_path / "server.pyz", {"options": {"http": True}}, LISTS)

    @contextmanager
    def built_artifact(target: Path, given: dict[str, Any]) -> Iterator[Path]:
        ran.append(given)
        yield file

    ran.clear()
    failing.clear()
    monkeypatch.setattr(test, "built_artifact", built_artifact)
    monkeypatch.setattr(testing, "run_cases", run_cases)
    monkeypatch.setattr(testing, "Connection", Connection)
    return write_files(tmp_path / "project", {"tests/a.yaml": CASES})


ran: list[Any] = []
failing: dict[str, int] = {}


class Connection:
    def __init__(self, served: Served) -> None:
        ran.append(served.folder)

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        ran.append("closed")


def run_cases(
    cases: Sequence[Case], served: Served, selection: VariantSelection, outputs: OutputValidators
) -> Iterator[Outcome]:
    ran.append(([case.name for case in cases], selection, served, outputs.schemas))
    for case in cases:
        ways = selection.variants(case)
        for number, variant in enumerate(ways):
            node = case.expect.members[0].node if case.expect else None
            wrong = (Mismatch("text", "old", "new", node, "new"),) if number < failing.get(case.name, 0) else ()
            yield Outcome(case, variant, wrong, Reply(bool(wrong)), is_repeated=failing.get(case.name) == -1)


def test_all_cases_run_on_the_project(project: Path) -> None:
    done = run(project, "--strict", "-j", 3)
    assert (done.exit_code, done.stdout.split(" in ")[0]) == (0, "3 cases, 12 calls: all passed")
    given, (names, selection, served, outputs) = ran
    assert (given["http"], given["strict"], names) == (True, True, ["Greets", "other", "asks"])
    assert (selection.transports, selection.eras) == (("stdio", "http"), ("handshake", "stateless"))
    assert (selection.jobs, selection.is_first_only, selection.read_only) == (3, False, {"greet"})
    assert (served.folder.name[:10], served.seconds) == ("mcpc-test-", 60)
    assert served.tools == {"greet": {"type": "object"}, "other": None}
    assert served.variables == {"MCPC_BUILT_FROM": str(project)}
    assert outputs == {"greet": None, "other": {"type": "string"}}


@pytest.mark.parametrize(
    ("words", "names", "ways"),
    [
        (["-k", "greets|ask"], ["Greets", "asks"], 4),
        (["-k", "a.yaml", "--era", "stateless"], ["Greets", "other", "asks"], 2),
        (["--filter", "^other$", "--transport", "stdio", "--era", "handshake"], ["other"], 1),
        (["-x", "-k", "OTHER"], ["other"], 4),
    ],
)
def test_cases_and_ways_are_selected(words: list[str], names: list[str], ways: int, project: Path) -> None:
    assert run(project, *words).exit_code == 0
    found, selection, *_ = ran[1]
    assert (found, len(selection.selected), selection.is_first_only) == (names, ways, "-x" in words)
    assert ran[0].get("http") is (None if "stdio" in words else True)


def test_a_failure_is_a_status_and_is_remembered(project: Path, tmp_path: Path) -> None:
    failing["other"] = 2
    done = run(project, "--junit", tmp_path / "out.xml")
    assert (done.exit_code, "FAIL" in done.stdout, 'failures="1"' in (tmp_path / "out.xml").read_text()) == (
        1,
        True,
        True,
    )
    assert run(project, "--lf").exit_code == 1
    assert ran[-1][0] == ["other"]
    failing.clear()
    assert run(project, "--lf").exit_code == 0
    again = run(project, "--lf")
    assert (len(ran[-1][0]), "note: " in again.stderr) == (3, True)
    assert json.loads(run(project, "--format", "json").stdout)["cases"] == 3


def test_notes_tell_what_is_not_tested(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def notes(*words: str) -> list[str]:
        found: list[str] = json.loads(run(project, "--format", "json", *words).stdout)["notes"]
        return found

    assert notes() == []
    failing["other"] = -1
    (note,) = notes()
    assert "`other`" in note
    assert "1 in all" in note
    failing.clear()
    built_file(tmp_path / "server.pyz", {"options": {}}, LISTS)
    assert len(notes()) == 1
    assert notes("--transport", "stdio") == []
    assert ran[-1][1].transports == ("stdio",)
    assert run(project, "--transport", "http").exit_code == 2


def test_expectations_are_updated(project: Path) -> None:
    failing["Greets"] = 4
    done = run(project, "--update")
    assert (done.exit_code, "1 expectations in 1 files; 0 differ" in done.stderr) == (0, True)
    assert (project / "tests/a.yaml").read_text() == CASES.replace("text: old", 'text: "new"')
    failing["other"] = 4
    done = run(project, "--update")
    assert (done.exit_code, "1 expectations in 1 files; 1 differ" in done.stderr) == (1, True)


@pytest.mark.parametrize(("least", "status"), [("100", 0), ("100.0", 0), (None, 0)])
def test_coverage_is_measured(least: str | None, status: int, project: Path) -> None:
    done = run(project, *(["--min-coverage", least] if least else ["--coverage"]))
    assert (done.exit_code, "coverage: 3 of 3" in done.stdout) == (status, True)
    assert "coverage" not in run(project).stdout
    (project / "tests/a.yaml").write_text("tests:\n- {name: a, tool: greet}\n")
    assert [run(project, "--min-coverage", each).exit_code for each in ("33", "33.4", "34")] == [0, 7, 7]
    failing["a"] = 1
    assert run(project, "--min-coverage", "100").exit_code == 1


def test_calls_are_recorded(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, empty = tmp_path / "log", tmp_path / "empty"
    log.write_text(json.dumps({"tool": "greet", "arguments": {"name": "x-1"}, "status": "success"}) + "\n")
    empty.write_text("")
    done = run(project, "--record", log, "--redact", "X-[0-9]")
    assert (done.exit_code, ran) == (0, [])
    recorded = project / "tests/recorded.yaml"
    assert "REDACTED" in recorded.read_text()
    assert f"recorded 1 cases in {recorded}" in done.stderr
    assert run(project, "--record", log, "-o", project / "tests/a.yaml").exit_code == 0
    assert (project / "tests/a.yaml").read_text().startswith(CASES)
    assert run(project, "--record", empty).exit_code == 2
    assert run(project, "--record", log, "--redact", "(").exit_code == 2
    (project / "tests/b.yaml").write_bytes(b"\xff")
    assert run(project, "--record", log, "-o", project / "tests/b.yaml").exit_code == 2
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path / "server.pyz", "--record", log).exit_code == 0
    assert (tmp_path / "tests/recorded.yaml").exists()


def test_watching_runs_the_other_options_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[Any] = []

    def watch(root: Path, words: list[str], ended: Any) -> None:
        watched.append((root, words))
        ended()
        raise KeyboardInterrupt

    monkeypatch.setattr("mcpc.workbench.testing.running.watch", watch)
    monkeypatch.setattr(sys, "argv", ["mcpc", "test", str(project), "--watch", "-x"])
    done = run(project, "--watch", "-x")
    assert (done.exit_code, watched, ran) == (0, [(project, [str(project), "-x"])], [])
    assert "Ctrl-C" in done.stderr


def test_tools_are_fuzzed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fuzzed: list[Any] = []
    fault = Fault("greet", {}, "it fails", "x", True, (STDIO,), (STDIO,))

    def fuzz_tool(tool: dict[str, Any], _connection: object, plan: Any) -> list[Fault]:
        fuzzed.append((tool["name"], plan.seed, plan.examples, plan.with_effects, len(plan.variants)))
        return [fault] if plan.seed else []

    monkeypatch.setattr("mcpc.workbench.testing.fuzzing.fuzz_tool", fuzz_tool)
    done = run(project, "--fuzz")
    assert done.exit_code == 0
    assert "1 tools, 100 arguments each, seed 0, in 4 of 4 ways" in done.stdout
    assert "not fuzzed: 1 that do not say" in done.stdout
    assert (ran[-2].name[:10], ran[-1]) == ("mcpc-test-", "closed")
    assert run(project, "--fuzz-all", "--era", "stateless", "--examples", "5").exit_code == 0
    done = run(project, "--fuzz-tool", "other", "--seed", "3", "--transport", "http")
    assert (
        done.exit_code,
        f"mcpc test {project} --seed 3 --examples 100 --transport http --fuzz-tool" in done.stdout,
    ) == (1, True)
    assert fuzzed == [
        ("greet", 0, 100, False, 4),
        ("greet", 0, 5, True, 2),
        ("other", 0, 5, True, 2),
        ("other", 3, 100, False, 2),
    ]
    assert run(project, "--fuzz-tool", "none").exit_code == 2
    fuzzed.clear()
    (project / "tests/a.yaml").unlink()
    assert (run(project).exit_code, run(project, "--fuzz").exit_code, len(fuzzed)) == (2, 0, 1)


def test_hypothesis_is_needed_to_fuzz(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        def import_module(_: str) -> Any:
            raise ModuleNotFoundError(name=name)

        return import_module

    monkeypatch.setattr(testing.importlib, "import_module", missing("hypothesis.errors"))
    with pytest.raises(click.UsageError):
        testing.load_fuzzing()
    monkeypatch.setattr(testing.importlib, "import_module", missing("other"))
    with pytest.raises(ModuleNotFoundError):
        testing.load_fuzzing()


def test_the_command_that_repeats_a_fault() -> None:
    own = {"seed": 1, "examples": 2, "era": "both", "transport": "both"}
    assert repeat_command(Path("p"), own) == "mcpc test p --seed 1 --examples 2 --fuzz-tool"
    own |= {"era": "stateless", "transport": "http"}
    assert (
        repeat_command(Path("p"), own)
        == "mcpc test p --seed 1 --examples 2 --era stateless --transport http --fuzz-tool"
    )


OWN = {"cases": None, "pattern": "", "is_last_failed": False, "is_fuzzed": False}


def test_cases_are_those_of_the_project_or_of_a_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load_cases(project, OWN)
    assert (loaded.folder, loaded.prefix, [*loaded.sources], len(loaded.cases)) == (
        project / "tests",
        "project/",
        ["tests/a.yaml"],
        3,
    )
    own = load_cases(tmp_path / "server.pyz", {**OWN, "cases": project / "tests"})
    assert (own.folder, own.prefix, [*own.sources]) == (project / "tests", "project/tests/", ["a.yaml"])
    monkeypatch.chdir(project)
    assert load_cases(tmp_path / "server.pyz", OWN).prefix == ""
    (project / "tests/b.yaml").write_text("tests:\n- {name: a, tol: b}\n")
    done = run(project)
    assert (done.exit_code, "tests/b.yaml:2" in done.stderr, len(ran)) == (1, True, 1)
    for wrong in ("none", "("):
        with pytest.raises(click.UsageError):
            filtered(loaded.cases, wrong)


def test_cases_of_what_is_not_offered_are_refused(project: Path) -> None:
    (project / "tests/a.yaml").write_text("tests:\n- {name: a, tool: gret}\n")
    done = run(project)
    assert (done.exit_code, "MCP605" in done.stderr, len(ran)) == (1, True, 1)
    loaded = load_cases(project, OWN)
    check_targets(loaded, {"tools": 0})
    with pytest.raises(click.exceptions.Exit) as ended:
        check_targets(loaded, LISTS)
    assert ended.value.exit_code == 1


def test_an_unknown_field_and_an_unknown_tool_of_a_case_are_both_reported(project: Path) -> None:
    (project / "tests/a.yaml").write_text("tests:\n- {name: a, tool: gret, expects: {text: x}}\n")
    done = run(project)
    codes = [code for code in ("MCP602", "MCP605") if code in done.stderr]
    assert (done.exit_code, codes, len(ran)) == (1, ["MCP602", "MCP605"], 1)
    (project / "tests/a.yaml").write_text("tests:\n- {name: a, tool: gret, expect: 5}\n")
    done = run(project)  # a case that cannot be read calls nothing, so that nothing has to be built
    assert (done.exit_code, "MCP603" in done.stderr, "MCP605" in done.stderr, len(ran)) == (1, True, False, 1)


def test_what_is_offered_is_known_by_kind() -> None:
    facts = {
        **LISTS,
        "resourceTemplates": [{"uriTemplate": "a://{x}/{y}"}],
        "completions": [{"ref": {"type": "ref/prompt", "name": "ask"}, "argument": "topic"}],
    }
    names = ["ask topic", "a://{x}/{y} x", "a://{x}/{y} y"]
    assert offered_names(facts) == {"tool": ["greet", "other"], "prompt": ["ask"], "complete": names}
    assert offered_names({"tools": TOOLS, "prompts": 0}) == {"tool": ["greet", "other"]}
    assert offered_names({"prompts": [], "resourceTemplates": 0}) == {"prompt": []}
    assert offered_names({"prompts": [], "resourceTemplates": [{"uriTemplate": "a://{"}]}) == {"prompt": []}


def test_a_file_is_served_from_this_folder(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = built_file(tmp_path / "server.pyz", {"tools": 0, "options": {}})
    with served_target(file, {"http": None}, 5) as (served, facts):
        assert (served.path, served.folder, served.seconds, served.variables) == (
            file.resolve(),
            tmp_path.resolve(),
            5,
            {},
        )
        assert (served.tools, facts["tools"]) == ({}, [])
    assert ran == [{"http": None}]
    own = {"transport": "both", "era": "handshake", "is_first_only": True, "jobs": 2}
    selection = selection_of(own, facts)
    assert (selection.transports, selection.eras, selection.is_first_only, selection.jobs) == (
        ("stdio",),
        ("handshake",),
        True,
        2,
    )
    outcome: Any = SimpleNamespace(folder=tmp_path, cases=[], sources={}, prefix="")
    found = run_all(outcome, served, facts, {**own, "is_fuzzed": False})
    assert (found.results, found.notes) == ([], [])
    assert len(run_all(outcome, served, facts, {**own, "is_fuzzed": True}).notes) == 1


@pytest.mark.parametrize(("usable", "jobs"), [(1, 4), (5, 5), (16, 16), (17, 16)])
def test_jobs_are_as_many_as_processors_within_limits(usable: int, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test.os, "sched_getaffinity", lambda _: {*range(usable)}, raising=False)
    assert default_jobs() == jobs
    monkeypatch.delattr(test.os, "sched_getaffinity")
    monkeypatch.setattr(test.os, "cpu_count", lambda: None)
    assert default_jobs() == 4
