"""Sentences that several formats have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.comparison.rules import Impact

if TYPE_CHECKING:
    from mcpc.release.comparison.model import Change, Comparison


def item_text(change: Change) -> str:
    """Return what a change is of: `tool get_weather`."""
    return visible(f"{change.kind} {change.item}" if change.item != "*" else f"{change.kind}s")


def details(change: Change) -> list[str]:
    """Return what else is to be known of a change."""
    found = []
    if change.hint:
        found.append(f"probably renamed to `{change.hint}`")
    if change.reason:
        found.append(change.reason)
    if change.accepted is not None:
        found.append(f"accepted by the project{': ' if change.accepted else ''}{change.accepted}")
    return [visible(each) for each in found]


def headline(comparison: Comparison) -> str:
    """Return one line: both versions, and how many changes there are."""
    old, new = comparison.old, comparison.new
    names = f"{old.name} {old.version}".strip(), f"{new.name} {new.version}".strip()
    counts = [f"{count} {verdict}" for verdict, count in comparison.counts().items() if count]
    return visible(f"{names[0]} -> {names[1]}: {', '.join(counts) or 'no changes'}")


def version_line(comparison: Comparison) -> str:
    """Return a sentence on the next version number; empty if none can be suggested."""
    if comparison.suggested is None:
        return ""
    if comparison.level == "none":
        return f"no new version is needed after {visible(comparison.old.version)}"
    doubt = ", since what is undecided may break" if _is_doubtful(comparison) else ""
    text = f"the changes call for version {comparison.suggested}{doubt}"
    if comparison.fits is None:
        return text
    return f"{text}; {visible(comparison.new.version)} {'is enough' if comparison.fits else 'is too low'}"


def _is_doubtful(comparison: Comparison) -> bool:
    verdicts = {each.verdict for each in comparison.changes}
    return Impact.UNDECIDED in verdicts and Impact.BREAKING not in verdicts


def fails(change: Change, failing: frozenset[Impact]) -> bool:
    """Tell whether a change fails the gate."""
    return change.accepted is None and change.verdict in failing
