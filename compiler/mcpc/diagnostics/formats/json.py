"""Format for programs: one JSON object, to which fields may be added but never removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics.codes import CODES
from mcpc.diagnostics.formats.source_location import SourceText, region_of
from mcpc.diagnostics.model import Severity, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics


def as_json(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return the problems as JSON; `start` and `end` are null for a whole file, `file` is null for no file."""
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
        "start": _point(region.start) if region else None,
        "end": _point(region.end) if region else None,
    }


def _point(position: tuple[int, int]) -> dict[str, int]:
    return {"line": position[0], "column": position[1]}
