"""Format for people at a terminal, of at most 80 columns where texts can be wrapped."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.comparison.formats.lines import details, fails, headline, item_text, version_line

if TYPE_CHECKING:
    from mcpc.release.comparison.model import Change, Comparison
    from mcpc.release.comparison.rules import Impact

WIDTH = 80


def as_text(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the changes, grouped by verdict."""
    lines = [headline(comparison)]
    for verdict, changes in groupby(comparison.changes, key=lambda each: each.verdict):
        lines += ["", f"{verdict}:"]
        for change in changes:
            lines += _change_lines(change)
    failed = sum(fails(each, failing) for each in comparison.changes)
    notes = [version_line(comparison)]
    notes += [f"accepted, but there is no such change: {visible(each)}" for each in comparison.unused]
    notes += [f"the gate fails: {failed} change{'' if failed == 1 else 's'}"] if failed else []
    notes = [each for each in notes if each]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def _change_lines(change: Change) -> list[str]:
    found = _wrapped(f"{item_text(change)}: {visible(change.message)}  [{change.rule}]", "  ")
    for each in details(change):
        found += _wrapped(each, "      ")
    return found


def _wrapped(text: str, indent: str) -> list[str]:
    rest = f"{indent}    "
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=rest, break_long_words=False)
