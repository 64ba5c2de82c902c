"""Work in several threads: what a finder of modules extracts while Python holds the import lock."""

import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from mcpc_runtime.artifact.packages import folders
from mcpc_runtime.artifact.packages.folders import for_each
from support.artifact import SOURCES
from support.processes import run_program

FINDER = """
import importlib, sys, threading
from mcpc_runtime.artifact.packages import folders

folders.processors = lambda: 2
both = threading.Barrier(2)

def work(item):
    both.wait(30)  # each thread has one of the two items
    importlib.import_module(f"late_{item}")

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "wanted":
            folders.for_each(["one", "two"], work)

sys.meta_path.insert(0, Finder())
import wanted
print(wanted.late, folders._imp.lock_held())
"""


def test_threads_of_a_finder_can_import(tmp_path: Path) -> None:
    """The first call of a server with native packages came to its time limit if the second thread was the first to import."""
    (tmp_path / "late_one.py").touch()
    (tmp_path / "late_two.py").touch()
    (tmp_path / "wanted.py").write_text(
        "import sys\nlate = [name for name in sys.modules if name.startswith('late_')]\n"
    )
    done = run_program([sys.executable, "-c", FINDER], env={"PYTHONPATH": f"{SOURCES}:{tmp_path}"})
    assert (done.stderr, sorted(done.stdout.split("] ")[0][1:].split(", "))) == ("", ["'late_one'", "'late_two'"])
    assert done.stdout.endswith(" False\n")


@pytest.mark.parametrize("processors", [1, 2, 4])
def test_each_item_has_one_call_and_the_first_problem_is_raised(
    processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "processors", lambda: processors)
    done: list[str] = []
    for_each([str(number) for number in range(50)], done.append)
    assert sorted(map(int, done)) == [*range(50)]
    before = threading.active_count()
    failed: list[str] = []

    def fail(item: str) -> None:
        failed.append(item)
        raise ValueError(item)

    with pytest.raises(ValueError, match="0"):
        for_each(numbers(10), fail)
    assert len(failed) <= processors
    assert threading.active_count() == before


def numbers(count: int) -> Iterable[str]:
    return map(str, range(count))
