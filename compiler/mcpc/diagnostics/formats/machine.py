"""Formats of diagnostics for programs: GitHub's annotations, SARIF, and one JSON object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics.codes import CODES, page
from mcpc.diagnostics.formats.findings import ReportFinding, github_annotations, sarif_log
from mcpc.diagnostics.formats.source_location import SourceText, advice_lines, region_of
from mcpc.diagnostics.model import Severity, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics


def findings_of(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> list[ReportFinding]:
    """Return the findings that diagnostics are, in order."""
    return [_finding(problem, sources) for problem in in_order(diagnostics)]


def _finding(problem: Diagnostic, sources: Mapping[str, SourceText]) -> ReportFinding:
    region = region_of(problem, sources)
    return ReportFinding(
        problem.code,
        problem.severity,
        problem.message,
        tuple(f"{word}: {text}" for word, text in advice_lines(problem)),
        problem.span.path if problem.span else None,
        (*region.start, *region.end) if region else (),
    )


def as_github(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return annotations of GitHub."""
    return github_annotations(findings_of(diagnostics, sources))


def as_sarif(diagnostics: Diagnostics, sources: Mapping[str, SourceText], base: str = "") -> str:
    """Return a log of SARIF, with the pages of the codes that occur."""
    rules = {code: _rule(code) for code in sorted({problem.code for problem in diagnostics})}
    return sarif_log(findings_of(diagnostics, sources), rules, base)


def _rule(code: str) -> dict[str, object]:
    row, text = CODES[code], page(code)
    return {
        "id": code,
        "shortDescription": {"text": row.title},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": row.severity},
    }


def as_json(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return one JSON object, to which fields may be added but never removed.

    `start` and `end` are null for a whole file, `file` is null for no file.
    """
    problems = in_order(diagnostics)
    report = {
        "diagnostics": [_entry(problem, sources) for problem in problems],
        "errors": sum(problem.severity is Severity.ERROR for problem in problems),
        "warnings": sum(problem.severity is Severity.WARNING for problem in problems),
    }
    return json.dumps(report, indent=2) + "\n"


def _entry(problem: Diagnostic, sources: Mapping[str, SourceText]) -> dict[str, object]:
    region = region_of(problem, sources)
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "title": CODES[problem.code].title,
        "message": problem.message,
        "expected": problem.expected,
        "hint": problem.hint,
        "file": problem.span.path if problem.span else None,
        "start": dict(zip(("line", "column"), region.start, strict=True)) if region else None,
        "end": dict(zip(("line", "column"), region.end, strict=True)) if region else None,
    }
