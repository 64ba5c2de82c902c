"""Markdown: the report for a review comment, and release notes with the sections of Keep a Changelog."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.comparison.formats.lines import details, fails, headline, item_text, version_line
from mcpc.release.comparison.rules import Impact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.release.comparison.model import Change, Comparison

SPECIAL = re.compile(r"[\\*_{}\[\]<>#|]")
SPAN = re.compile(r"(`[^`]*`)")
TITLES = {
    Impact.BREAKING: "Breaking",
    Impact.UNDECIDED: "Undecided",
    Impact.ADDITIVE: "Additive",
    Impact.ROUTING: "Texts that models read",
    Impact.COSMETIC: "Cosmetic",
}
SECTIONS = ("Breaking", "Added", "Changed", "Removed")
"""Sections of release notes, in their order."""


def as_markdown(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the report as Markdown."""
    lines = [f"### {escaped(headline(comparison))}"]
    for verdict, changes in groupby(comparison.changes, key=lambda each: each.verdict):
        lines += ["", f"**{TITLES[verdict]}**", ""]
        lines += [f"{item_line(each)} ({each.rule}){' — fails' if fails(each, failing) else ''}" for each in changes]
    line = version_line(comparison)
    lines += ["", escaped(line[0].upper() + line[1:] + ".")] if line else []
    return "\n".join(lines) + "\n"


def as_changelog(comparison: Comparison, title: str = "") -> str:
    """Return release notes: breaking changes first, then what is new, changed and gone; none that are cosmetic."""
    lines = [f"## {escaped(title or comparison.new.version or comparison.suggested or 'Unreleased')}"]
    rows: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for each in comparison.changes:
        if each.verdict is not Impact.COSMETIC:
            rows[section(each)].append(item_line(each))
    for name in SECTIONS:
        if rows[name]:
            lines += ["", f"### {name}", "", *_without_doubles(rows[name])]
    if len(lines) == 1:
        lines += ["", "No changes for clients."]
    return "\n".join(lines) + "\n"


def section(change: Change) -> str:
    """Return the section of release notes that a change belongs to."""
    if change.verdict is Impact.BREAKING:
        return "Breaking"
    if change.rule.endswith(("-removed", "-dropped")):
        return "Removed"
    return "Added" if change.verdict is Impact.ADDITIVE and change.rule.endswith("-added") else "Changed"


def item_line(change: Change) -> str:
    """Return a change as an item of a list."""
    more = "".join(f"; {each}" for each in details(change))
    return f"- {escaped(item_text(change))}: {escaped(visible(change.message) + more)}"


def escaped(text: str) -> str:
    """Return a text in which nothing is markup but `code`."""
    parts = SPAN.split(text)
    return "".join(part if number % 2 else SPECIAL.sub(r"\\\g<0>", part) for number, part in enumerate(parts))


def _without_doubles(lines: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(lines)]
