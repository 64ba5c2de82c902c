"""A plugin for `.ci/run`: a test that had to be run once more is written down, and fails the run if that was so lately.

`TESTS_HISTORY` names the file of earlier runs, a line of JSON each: the tests that were run once more.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

HISTORY = "TESTS_HISTORY"
LATELY = 30
"""How many runs a test has to pass at once after one in which it did not."""


class Reruns:
    """The tests that were run once more in this run."""

    def __init__(self, history: Path) -> None:
        self.history = history
        self.names: set[str] = set()
        self.again: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that failed and will be run once more."""
        if report.outcome == "rerun":  # type: ignore[comparison-overlap] - an outcome of pytest-rerunfailures
            self.names.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add this run to the history, and fail it if a test is in there already."""
        lines = self.history.read_text("utf-8").splitlines() if self.history.exists() else []
        self.again = self.names & {name for line in lines[-LATELY:] for name in json.loads(line)}
        self.history.parent.mkdir(parents=True, exist_ok=True)
        kept = [*lines[1 - LATELY :], json.dumps(sorted(self.names))]
        self.history.write_text("".join(f"{line}\n" for line in kept), "utf-8")
        if self.again and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        report(terminalreporter, "run once more", self.names - self.again)
        report(terminalreporter, f"run once more for the second time in {LATELY} runs: fails this one", self.again)


def report(terminal: pytest.TerminalReporter, words: str, names: Iterable[str]) -> None:
    for name in sorted(names):
        terminal.write_line(f"{words}: {name}")


def pytest_configure(config: pytest.Config) -> None:
    """Watch the run, in the process that has all its reports."""
    named = os.environ.get(HISTORY)
    if named and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reruns(Path(named)))
