"""Report of each build: what it changed, which problems are new, and whether earlier ones are fixed.

A warning is reported once while it persists; errors are reported again, because they are why the last build keeps
serving.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.workbench.dev.building import BuildFacts, BuildProblem, BuildResult
    from mcpc.workbench.dev.screen import Screen

HEAD = "mcpc dev: "
STAYS = "the build failed; the last successful build keeps serving"
NAME_FIELDS = {
    "tools": ("", "name"),
    "prompts": ("prompt ", "name"),
    "resources": ("resource ", "uri"),
    "resourceTemplates": ("resource ", "uriTemplate"),
}
"""By list of a built file: the label before a name (none for tools), and the field with the name."""
SEVERITIES = ("error", "warning", "note")
MAX_NAMES = 10
MAX_NAME_LENGTH = 80
"""In characters; a name may be any text."""


class Reporter:
    """Reports builds, and remembers which problems were reported."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._reported: Counter[tuple[str, str, str]] = Counter()
        self._had_problems = self._had_errors = False

    def first(self, build: BuildResult) -> None:
        """Report the first build."""
        if build.path is None:
            self._show(build.problems, build.more)
            self._line(False, "; ".join([*summarise_problems(build.problems), "the build failed"]))
            return
        shown = self._unreported(build.problems)
        self._show(shown, build.more)
        self._remember(build)
        text = f"built in {build.seconds:.1f} s: {count_offered(build.facts)}"
        self._line(True, "; ".join([text, *filter(None, [count_problems(shown)])]))

    def failed(self, build: BuildResult) -> None:
        """Report a failed build: its errors, and new warnings."""
        unreported = self._unreported(build.problems)
        errors = [problem for problem in build.problems if problem.severity == "error"]
        shown = [problem for problem in build.problems if problem in unreported or problem.severity == "error"]
        self._show(shown if errors else build.problems, build.more)
        self._reported |= Counter(problem.key for problem in build.problems)
        self._had_problems = self._had_errors = True
        self._line(False, "; ".join([*summarise_problems(build.problems), STAYS]))

    def rebuilt(self, earlier: BuildFacts, build: BuildResult) -> str:
        """Report a successful build, and return the report's line."""
        shown = self._unreported(build.problems)
        self._show(shown, build.more)
        fixes = self._fixes(build)
        old = len(build.problems) - len(shown)
        counts = [
            *filter(None, [count_problems(shown, "new ")]),
            *([f"{plural(old, 'warning')} unchanged"] if old else []),
        ]
        self._remember(build)
        text = "; ".join([*fixes, describe_changes(earlier, build.facts), *counts])
        line = f"rebuilt in {build.seconds:.1f} s: {text}"
        self._line(True, line)
        return line

    def _fixes(self, build: BuildResult) -> list[str]:
        """Report that problems which are still on the screen are fixed."""
        if self._had_problems and not build.problems and not build.more:
            return ["all problems fixed"]
        return ["all errors fixed"] if self._had_errors else []

    def _unreported(self, problems: Sequence[BuildProblem]) -> list[BuildProblem]:
        left = self._reported.copy()
        unreported = []
        for problem in problems:
            if left[problem.key]:
                left[problem.key] -= 1
            else:
                unreported.append(problem)
        return unreported

    def _remember(self, build: BuildResult) -> None:
        self._reported = Counter(problem.key for problem in build.problems)
        self._had_problems, self._had_errors = bool(build.problems or build.more), False

    def _show(self, problems: Iterable[BuildProblem], more: str) -> None:
        blocks = [problem.painted if self._screen.colour else problem.plain for problem in problems]
        self._screen.write("\n\n".join(filter(None, [*blocks, more.strip("\n")])))

    def _line(self, is_good: bool, text: str) -> None:
        self._screen.write(f"{HEAD}{self._screen.mark(is_good)}{text}")


def describe_changes(earlier: BuildFacts, later: BuildFacts) -> str:
    """Return what a build changed: `+name` for new, `-name` for removed, `~name` for changed definitions."""
    signs: dict[str, list[str]] = {"+": [], "-": [], "~": []}
    for kind in NAME_FIELDS:
        if earlier.lists.get(kind) != later.lists.get(kind):
            compare_names(definitions_by_name(earlier, kind), definitions_by_name(later, kind), signs)
    names = [f"{sign}{name}" for sign, found in signs.items() for name in found]
    if names:
        rest = len(names) - MAX_NAMES
        return ", ".join(names[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
    if earlier.lists != later.lists:
        return "order changed"
    if earlier.code != later.code:
        return "handlers changed"
    return "nothing changed" if earlier.content == later.content else "contents changed"


def compare_names(earlier: dict[str, str], later: dict[str, str], signs: dict[str, list[str]]) -> None:
    """Sort the names of two lists into new, removed and changed."""
    signs["+"] += [name for name in later if name not in earlier]
    signs["-"] += [name for name in earlier if name not in later]
    signs["~"] += [name for name, value in later.items() if name in earlier and earlier[name] != value]


def definitions_by_name(facts: BuildFacts, kind: str) -> dict[str, str]:
    """Return the definitions of a list by their displayed names."""
    word, label = NAME_FIELDS[kind]
    found = json.loads(facts.lists.get(kind, "[]"))
    return {word + visible(str(item.get(label)), MAX_NAME_LENGTH): json.dumps(item) for item in found}


def count_offered(facts: BuildFacts) -> str:
    """Return how many definitions of each kind a built file has; tools are always included."""
    numbers = {"tool": len(facts.names)}
    for kind, (word, _) in NAME_FIELDS.items():
        if word:
            numbers[word.strip()] = numbers.get(word.strip(), 0) + len(json.loads(facts.lists.get(kind, "[]")))
    return ", ".join(plural(number, word) for word, number in numbers.items() if number or word == "tool")


def count_problems(problems: Sequence[BuildProblem], word: str = "") -> str:
    """Return the number of problems of each severity as text; empty if there are none."""
    numbers = Counter(problem.severity for problem in problems)
    return ", ".join(plural(numbers[name], word + name) for name in SEVERITIES if numbers[name])


def summarise_problems(problems: Sequence[BuildProblem]) -> list[str]:
    """Return the number of problems and the command that explains them; empty if there are none."""
    if not problems:
        return []
    worst = min(problems, key=lambda problem: SEVERITIES.index(problem.severity))
    return [count_problems(problems), f"see `mcpc help {worst.code}`"]


def plural(number: int, word: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
