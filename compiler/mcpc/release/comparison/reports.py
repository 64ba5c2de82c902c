"""Formats of a comparison: a function and a row of `FORMATS` for each.  `failing`: verdicts that fail the gate."""

from __future__ import annotations

import re
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Severity
from mcpc.diagnostics.formats.findings import JunitCase, ReportFinding, github_annotations, junit_report
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.release.comparison.rules import Impact

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.release.comparison.rules import Change, Comparison


def item_text(change: Change) -> str:
    """Return what a change is of: `tool get_weather`."""
    return visible(f"{change.kind} {change.item}" if change.item != "*" else f"{change.kind}s")


def details(change: Change) -> list[str]:
    """Return what else is to be known of a change."""
    sentences = [f"probably renamed to `{change.hint}`"] if change.hint else []
    sentences += [change.reason] if change.reason else []
    if change.accepted is not None:
        sentences.append(f"accepted by the project{': ' if change.accepted else ''}{change.accepted}")
    return [visible(each) for each in sentences]


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
    verdicts = {each.verdict for each in comparison.changes}
    is_doubtful = Impact.UNDECIDED in verdicts and Impact.BREAKING not in verdicts
    doubt = ", since what is undecided may break" if is_doubtful else ""
    text = f"the changes call for version {comparison.suggested}{doubt}"
    if comparison.fits is None:
        return text
    return f"{text}; {visible(comparison.new.version)} {'is enough' if comparison.fits else 'is too low'}"


def fails(change: Change, failing: frozenset[Impact]) -> bool:
    return change.accepted is None and change.verdict in failing


WIDTH = 80


def as_text(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the changes, grouped by verdict."""
    lines = [headline(comparison)]
    # `groupby` joins neighbours only: `in_order` has sorted the changes by verdict.
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
    texts = [(f"{item_text(change)}: {visible(change.message)}  [{change.rule}]", "  ")]
    texts += [(each, "      ") for each in details(change)]
    return [
        line
        for text, margin in texts
        for line in wrap(text, WIDTH, initial_indent=margin, subsequent_indent=f"{margin}    ", break_long_words=False)
    ]


def as_json(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the comparison as JSON; `reason` is there where it is known."""
    version = {"level": comparison.level, "suggested": comparison.suggested, "fits": comparison.fits}
    report = {
        "old": {"name": comparison.old.name, "version": comparison.old.version},
        "new": {"name": comparison.new.name, "version": comparison.new.version},
        "changes": [_entry(each, failing) for each in comparison.changes],
        "summary": comparison.counts(),
        "version": version,
        "unused": [*comparison.unused],
        "failed": any(fails(each, failing) for each in comparison.changes),
    }
    return visible_json(report) + "\n"


def _entry(change: Change, failing: frozenset[Impact]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "rule": change.rule,
        "verdict": str(change.verdict),
        "kind": change.kind,
        "item": change.item,
        "pointer": change.pointer,
        "place": change.location,
        "message": change.message,
        "old": change.old,
        "new": change.new,
        "fails": fails(change, failing),
    }
    if change.hint:
        entry["renamed"] = change.hint
    if change.reason:
        entry["reason"] = change.reason
    if change.accepted is not None:
        entry["accepted"] = change.accepted
    return entry


WARNINGS = (Impact.BREAKING, Impact.UNDECIDED)


def as_github(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return annotations: errors for what fails the gate, warnings for what may break, else notices.

    What is cosmetic has none.
    """
    findings = [_finding(each, failing) for each in comparison.changes if each.verdict is not Impact.COSMETIC]
    line = version_line(comparison)
    if line and comparison.fits is False:
        findings.append(ReportFinding("version", Severity.WARNING, line))
    return github_annotations(findings)


def _finding(change: Change, failing: frozenset[Impact]) -> ReportFinding:
    may_break = change.verdict in WARNINGS and change.accepted is None
    milder = Severity.WARNING if may_break else Severity.NOTE
    severity = Severity.ERROR if fails(change, failing) else milder
    message = f"{item_text(change)}: {change.message}"
    return ReportFinding(f"{change.verdict}: {change.rule}", severity, message, tuple(details(change)))


def as_junit(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the changes as test cases; what fails the gate is a failure.  Without changes there is one that passes."""
    cases = [_case(each, failing) for each in comparison.changes] or [JunitCase("mcpc.diff", "no changes")]
    return junit_report("mcpc diff", [(comparison.new.name or "server", cases)])


def _case(change: Change, failing: frozenset[Impact]) -> JunitCase:
    name = f"{item_text(change)}: {change.message}"
    text = "\n".join([f"{change.rule} at {change.location}", *details(change)])
    return JunitCase(f"mcpc.diff.{change.verdict}", name, (change.rule, name) if fails(change, failing) else None, text)


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
            lines += ["", f"### {name}", "", *dict.fromkeys(rows[name])]
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
    more = "".join(f"; {each}" for each in details(change))
    return f"- {escaped(item_text(change))}: {escaped(visible(change.message) + more)}"


def escaped(text: str) -> str:
    """Return a text in which nothing is markup but `code`."""
    # `split` returns what the group matches, too: every other part is a span of code.
    parts = SPAN.split(text)
    return "".join(part if number % 2 else SPECIAL.sub(r"\\\g<0>", part) for number, part in enumerate(parts))


FORMATS: dict[str, Callable[[Comparison, frozenset[Impact]], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
    "markdown": as_markdown,
}
