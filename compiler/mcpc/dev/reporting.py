"""What a person is told of each build: what it changed, which problems are new, and that earlier ones are gone.

A warning that was told is not told again while it stays; errors are, because they are why the last build serves on.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.dev.building import Facts, Made, Problem
    from mcpc.dev.screen import Screen

HEAD = "mcpc dev: "
STAYS = "the project cannot be built; the last build serves on"
NAMED = {
    "tools": ("", "name"),
    "prompts": ("prompt ", "name"),
    "resources": ("resource ", "uri"),
    "resourceTemplates": ("resource ", "uriTemplate"),
}
"""By the list of a built file: the word before a name in it (none for tools), and the field that holds the name."""
SEVERITIES = ("error", "warning", "note")
MOST_NAMES = 10
MOST_CHARACTERS = 80
"""Of a name, which may be any text."""


class Reporter:
    """Tells of one build after another, and remembers which problems were told."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._told: Counter[tuple[str, str, str]] = Counter()
        self._had_problems = self._had_errors = False

    def first(self, made: Made) -> None:
        """Tell of the first build."""
        if made.path is None:
            self._show(made.problems, made.more)
            self._line(False, "; ".join([*explained(made.problems), "the project cannot be built"]))
            return
        shown = self._unheard(made.problems)
        self._show(shown, made.more)
        self._remember(made)
        said = f"built in {made.seconds:.1f} s: {offered(made.facts)}"
        self._line(True, "; ".join([said, *filter(None, [counted(shown)])]))

    def failed(self, made: Made) -> None:
        """Tell of a build that came to nothing: its errors, and warnings that are new."""
        unheard = self._unheard(made.problems)
        errors = [problem for problem in made.problems if problem.severity == "error"]
        shown = [problem for problem in made.problems if problem in unheard or problem.severity == "error"]
        self._show(shown if errors else made.problems, made.more)
        self._told |= Counter(problem.key for problem in made.problems)
        self._had_problems = self._had_errors = True
        self._line(False, "; ".join([*explained(made.problems), STAYS]))

    def rebuilt(self, earlier: Facts, made: Made) -> str:
        """Tell of a build that serves from now on, or is the one that serves; return that in a line."""
        shown = self._unheard(made.problems)
        self._show(shown, made.more)
        relief = self._relief(made)
        old = len(made.problems) - len(shown)
        counts = [*filter(None, [counted(shown, "new ")]), *([f"{plural(old, 'warning')} as before"] if old else [])]
        self._remember(made)
        said = "; ".join([*relief, changes(earlier, made.facts), *counts])
        line = f"rebuilt in {made.seconds:.1f} s: {said}"
        self._line(True, line)
        return line

    def _relief(self, made: Made) -> list[str]:
        """Say that what the screen still shows is over."""
        if self._had_problems and not made.problems and not made.more:
            return ["no problems any more"]
        return ["no errors any more"] if self._had_errors else []

    def _unheard(self, problems: Sequence[Problem]) -> list[Problem]:
        left = self._told.copy()
        unheard = []
        for problem in problems:
            if left[problem.key]:
                left[problem.key] -= 1
            else:
                unheard.append(problem)
        return unheard

    def _remember(self, made: Made) -> None:
        self._told = Counter(problem.key for problem in made.problems)
        self._had_problems, self._had_errors = bool(made.problems or made.more), False

    def _show(self, problems: Iterable[Problem], more: str) -> None:
        blocks = [problem.painted if self._screen.colour else problem.plain for problem in problems]
        self._screen.write("\n\n".join(filter(None, [*blocks, more.strip("\n")])))

    def _line(self, is_good: bool, text: str) -> None:
        self._screen.write(f"{HEAD}{self._screen.mark(is_good)}{text}")


def changes(earlier: Facts, later: Facts) -> str:
    """Return what a build changed: `+name` what is new, `-name` what is gone, `~name` what is defined otherwise."""
    signs: dict[str, list[str]] = {"+": [], "-": [], "~": []}
    for kind in NAMED:
        if earlier.lists.get(kind) != later.lists.get(kind):
            compare(definitions(earlier, kind), definitions(later, kind), signs)
    names = [f"{sign}{name}" for sign, found in signs.items() for name in found]
    if names:
        rest = len(names) - MOST_NAMES
        return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
    if earlier.lists != later.lists:
        return "order changed"
    if earlier.code != later.code:
        return "handlers changed"
    return "nothing changed" if earlier.content == later.content else "contents changed"


def compare(earlier: dict[str, str], later: dict[str, str], signs: dict[str, list[str]]) -> None:
    """Sort the names of two lists by what became of them."""
    signs["+"] += [name for name in later if name not in earlier]
    signs["-"] += [name for name in earlier if name not in later]
    signs["~"] += [name for name, value in later.items() if name in earlier and earlier[name] != value]


def definitions(facts: Facts, kind: str) -> dict[str, str]:
    """Return the definitions of a list by their names as they are shown."""
    word, label = NAMED[kind]
    found = json.loads(facts.lists.get(kind, "[]"))
    return {word + visible(str(item.get(label)), MOST_CHARACTERS): json.dumps(item) for item in found}


def offered(facts: Facts) -> str:
    """Return how many of each kind a built file has; tools always."""
    numbers = {"tool": len(facts.names)}
    for kind, (word, _) in NAMED.items():
        if word:
            numbers[word.strip()] = numbers.get(word.strip(), 0) + len(json.loads(facts.lists.get(kind, "[]")))
    return ", ".join(plural(number, word) for word, number in numbers.items() if number or word == "tool")


def counted(problems: Sequence[Problem], word: str = "") -> str:
    """Return how many problems there are of each severity; nothing if there are none."""
    numbers = Counter(problem.severity for problem in problems)
    return ", ".join(plural(numbers[name], word + name) for name in SEVERITIES if numbers[name])


def explained(problems: Sequence[Problem]) -> list[str]:
    """Return how many problems there are, and which command says more; nothing if there are none."""
    if not problems:
        return []
    worst = min(problems, key=lambda problem: SEVERITIES.index(problem.severity))
    return [counted(problems), f"`mcpc explain {worst.code}` says more"]


def plural(number: int, word: str) -> str:
    """Return a number of things."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
