"""Format of GitHub Actions: workflow commands, which are displayed as annotations of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.github import IN_PROPERTY, IN_TEXT
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.comparison.formats.lines import details, fails, item_text, version_line
from mcpc.release.comparison.rules import Impact

if TYPE_CHECKING:
    from mcpc.release.comparison.model import Change, Comparison

WARNINGS = (Impact.BREAKING, Impact.UNDECIDED)


def as_github(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return one command per line: an error for what fails the gate, a warning for what may break, else a notice.

    What is cosmetic has none.
    """
    commands = [_command(each, failing) for each in comparison.changes if each.verdict is not Impact.COSMETIC]
    line = version_line(comparison)
    if line and comparison.fits is False:
        commands.append(f"::warning title=version::{line.translate(IN_TEXT)}")
    return "".join(f"{each}\n" for each in commands)


def _command(change: Change, failing: frozenset[Impact]) -> str:
    command = "error" if fails(change, failing) else "warning" if _is_warning(change) else "notice"
    title = f"{change.verdict}: {change.rule}".translate(IN_PROPERTY)
    lines = [f"{item_text(change)}: {visible(change.message)}", *details(change)]
    return f"::{command} title={title}::" + "\n".join(lines).translate(IN_TEXT)


def _is_warning(change: Change) -> bool:
    return change.verdict in WARNINGS and change.accepted is None
