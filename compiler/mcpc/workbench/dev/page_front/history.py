"""The builds of `mcpc dev` as JSON for the page, each with its problems and what it changes for clients."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison import compare
from mcpc.workbench.dev.reporting import Reporter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpc.client import ServerLists
    from mcpc.release.comparison import Change, Comparison
    from mcpc.workbench.dev.building import BuildFacts, BuildProblem, BuildResult
    from mcpc.workbench.dev.screen import Screen

    Json = dict[str, Any]

MAX_BUILDS = 50
MAX_PROBLEMS = 200
MAX_CHANGES = 500


class BuildHistory:
    """The last builds.  Any thread may add and wait; `served` is the number of the build that is served, 0 for none."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._builds: list[Json] = []
        self._version = self._served = self._count = 0

    def add(self, build: BuildResult, summary: str, comparison: Comparison | None) -> None:
        """Add a build that has ended."""
        changes = comparison.changes if comparison is not None else ()
        with self._changed:
            self._count += 1
            row = {
                "number": self._count,
                "ok": build.path is not None,
                "seconds": round(build.seconds, 3),
                "summary": summary,
                "problems": [problem_json(problem) for problem in build.problems[:MAX_PROBLEMS]],
                "more": build.more.strip("\n"),
                "changes": [change_json(each) for each in changes[:MAX_CHANGES]],
            }
            self._builds = [*self._builds, row][-MAX_BUILDS:]
            self._tell()

    def serve_last(self) -> None:
        """Note that the last build is served now."""
        with self._changed:
            self._served = self._count
            self._tell()

    def _tell(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def wait(self, after: int, seconds: float) -> Json:
        """Return the builds, at once if something happened since version `after`, else when it does or time is over."""
        with self._changed:
            if after == self._version:
                self._changed.wait_for(lambda: self._version != after, seconds)
            return {"version": self._version, "served": self._served, "builds": list(self._builds)}

    @property
    def is_serving(self) -> bool:
        """Whether a build is served, or was."""
        return self._served > 0


class PageReporter(Reporter):
    """Reports builds on the screen, and to the page.  `lists_of`: reads what a built file offers."""

    def __init__(self, screen: Screen, history: BuildHistory, lists_of: Callable[[Path], ServerLists]) -> None:
        super().__init__(screen)
        self._history = history
        self._lists_of = lists_of
        self._lists: ServerLists | None = None

    def first(self, build: BuildResult) -> None:
        """Report the first build."""
        super().first(build)
        self._record(build, "")

    def failed(self, build: BuildResult) -> None:
        """Report a failed build."""
        super().failed(build)
        self._record(build, "")

    def rebuilt(self, earlier: BuildFacts, build: BuildResult) -> str:
        """Report a successful build, and return the report's line."""
        line = super().rebuilt(earlier, build)
        self._record(build, line.partition(": ")[2])
        return line

    def _record(self, build: BuildResult, summary: str) -> None:
        lists = self._lists_of(build.path) if build.path is not None else None
        comparison = compare(self._lists, lists) if self._lists is not None and lists is not None else None
        self._lists = lists or self._lists
        self._history.add(build, summary, comparison)


def problem_json(problem: BuildProblem) -> Json:
    """Return a problem for the page; `plain` is its whole text, with its place and the line."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        "path": problem.path,
        "message": problem.message,
        "plain": problem.plain,
    }


def change_json(change: Change) -> Json:
    """Return a change for the page."""
    return {
        "verdict": str(change.verdict),
        "rule": change.rule,
        "location": change.location,
        "message": change.message,
        "old": change.old,
        "now": change.new,
    }
