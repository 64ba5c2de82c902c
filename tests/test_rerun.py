"""What `.ci/run` lets pass: a test that fails once, but not one that fails twice, and of the former no more than five.

What failed once is written down, and may not do so again in the next 30 runs.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.needs import ROOT

pytestmark = pytest.mark.slow

SETTINGS = """[pytest]
addopts = -p no:rerunfailures
filterwarnings =
  error
  ignore:Module already imported so cannot be rewritten; __main__:pytest.PytestAssertRewriteWarning
"""
"""The second filter is that of this project: its plugin for pytest is installed from a folder."""
PROJECT = """
import pathlib
import pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    place = tmp_path_factory.mktemp("shared")
    with pathlib.Path("made").open("a") as made:
        made.write("once ")
    return place

@pytest.mark.parametrize("number", range({unsteady}))
def test_unsteady(shared, number):
    mark = shared / str(number)
    if not mark.exists():
        mark.touch()
        raise OSError("not ready")

@pytest.mark.parametrize("number", range({broken}))
def test_broken(shared, number):
    raise OSError("broken")
"""


def options() -> list[str]:
    found = re.search(r"^readonly once_more=\((.*)\)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert found is not None
    return found[1].split()


@pytest.mark.parametrize(
    ("unsteady", "broken", "closing"),
    [
        (5, 0, "5 passed, 1 skipped, 5 rerun"),
        (0, 1, "1 failed, 1 skipped, 1 rerun"),
        (4, 1, "1 failed, 4 passed, 5 rerun"),
        (6, 0, "1 failed, 5 passed, 1 skipped, 5 rerun"),
    ],
)
def test_a_test_that_fails_is_run_once_more(tmp_path: Path, unsteady: int, broken: int, closing: str) -> None:
    done = run(tmp_path, PROJECT.format(unsteady=unsteady, broken=broken))
    *listed, last = done.stdout.splitlines()
    assert re.sub(r" in .*", "", last) == closing
    assert done.returncode == ("failed" in closing)
    assert sum(line.startswith("RERUN ") for line in listed) == closing.count("rerun") * min(5, unsteady + broken)
    assert not unsteady or (tmp_path / "made").read_text() == "once ", "what tests share stays"


def run(place: Path, tests: str) -> subprocess.CompletedProcess[str]:
    (place / "pytest.ini").write_text(SETTINGS)
    (place / "test_it.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", *options()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TESTS_HISTORY": str(place / "history")}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("runs_between", "status"), [(29, 1), (30, 0)])
def test_a_test_that_is_run_once_more_twice_in_thirty_runs_fails(
    tmp_path: Path, runs_between: int, status: int
) -> None:
    tests = PROJECT.format(unsteady=1, broken=0)
    assert run(tmp_path, tests).returncode == 0
    history = tmp_path / "history"
    first = history.read_text()
    assert json.loads(first) == ["test_it.py::test_unsteady[0]"]
    history.write_text(first + "[]\n" * runs_between)
    done = run(tmp_path, tests)
    assert (done.returncode, "for the second time" in done.stdout) == (status, bool(status))
    assert len(history.read_text().splitlines()) == 30
