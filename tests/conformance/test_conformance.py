"""The harness says no to every way in which a run of the suite can be less than all of it."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance import suite
from conformance.__main__ import FORCED, PARTS, SKILLS, TASKS, Part, report
from conformance.suite import Scenario

PART = Part("a part", (("--suite", "all"),), 2, 3)
GOOD = (Scenario("one", {"SUCCESS": 2}, ()), Scenario("two", {"SUCCESS": 1, "INFO": 4}, ()))


def judged(*found: Scenario, some: bool = False) -> bool:
    """Return what is said of a part of which this came."""
    return report(PART, lambda options: found, some)


def test_what_is_expected_is_accepted() -> None:
    assert judged(*GOOD)


@pytest.mark.parametrize(
    "found",
    [
        (),
        GOOD[:1],
        (*GOOD, Scenario("three", {"SUCCESS": 0}, ())),
        (GOOD[0], Scenario("two", {"SUCCESS": 1, "FAILURE": 1}, ("failure x: no",))),
        (GOOD[0], Scenario("two", {"SKIPPED": 1}, ())),
        (GOOD[0], Scenario("two", {"SUCCESS": 2}, ())),
    ],
    ids=["nothing", "one less", "one more", "a failure", "skipped", "another check"],
)
def test_anything_else_is_refused(found: Sequence[Scenario], capsys: pytest.CaptureFixture[str]) -> None:
    assert not judged(*found)
    said = capsys.readouterr().out
    assert said.startswith("FAILED a part")
    assert all(complaint in said for scenario in found for complaint in scenario.complaints)


def test_single_scenarios_have_to_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(GOOD[0], some=True)
    assert not judged(Scenario("one", {"SUCCESS": 2, "FAILURE": 1}, ()), some=True)
    capsys.readouterr()


def test_results_are_read_from_what_the_suite_wrote(tmp_path: Path) -> None:
    folder = tmp_path / "server-tools-list-2026-01-01T00-00-00-000Z"
    folder.mkdir()
    checks = [
        {"id": "a", "status": "SUCCESS", "description": "fine"},
        {"id": "b", "status": "WARNING", "description": "hm"},
        {"id": "c", "status": "FAILURE", "description": "no", "errorMessage": "it is not"},
    ]
    (folder / "checks.json").write_text(json.dumps(checks))
    (found,) = suite.scenarios(tmp_path)
    assert (found.name, found.passed) == ("tools-list", False)
    assert found.complaints == ("warning b: hm", "failure c: it is not")


def test_a_suite_that_runs_nothing_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(argv: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 1, "", "it crashed")

    monkeypatch.setattr(subprocess, "run", broken)
    with pytest.raises(RuntimeError, match="it crashed"):
        suite.run(tmp_path, "http://localhost:1/mcp", ("--suite", "all"))


def test_the_figures_are_those_of_the_suite() -> None:
    assert {part.label: part.scenarios for part in PARTS} == {
        "2025-03-26": 1,
        "2025-03-26, of later ones": 17,
        "2025-06-18": 27,
        "2025-11-25": 33,
        "2026-07-28": 40,
        "tasks": 10,
        "skills": 3,
    }
    assert len(set(FORCED)) == 17 and len(set(TASKS)) == 10 and len(set(SKILLS)) == 3
    assert all(part.checks >= part.scenarios for part in PARTS)
