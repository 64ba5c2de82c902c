"""SARIF 2.1.0 format, which code scanning services and editors read."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcpc import __version__
from mcpc.diagnostics.codes import CODES, page
from mcpc.diagnostics.formats.source_location import SourceText, advice_lines, region_of
from mcpc.diagnostics.model import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

BASE = "WORKINGDIRECTORY"
"""The base of relative file names."""


def as_sarif(diagnostics: Diagnostics, sources: Mapping[str, SourceText], base: str = "") -> str:
    """Return the problems as one SARIF run, with the pages of the codes that occur.

    `base`: the URI of the folder that file names are relative to, with a final slash.
    """
    problems = in_order(diagnostics)
    codes = sorted({problem.code for problem in problems})
    return sarif_log(
        [_rule(code) for code in codes],
        [_result(problem, codes.index(problem.code), sources) for problem in problems],
        base,
    )


def sarif_log(rules: list[dict[str, object]], results: list[dict[str, object]], base: str) -> str:
    """Return a log of one run; paths of its results are relative to `base`."""
    driver = {"name": "mcpc", "version": __version__, "rules": rules}
    # Columns are counted in code points; SARIF would assume UTF-16 units.
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {BASE: {"uri": base} if base else {"description": {"text": "Where mcpc was run."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    row = CODES[code]
    text = page(code)
    return {
        "id": code,
        "shortDescription": {"text": row.title},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": row.severity},
    }


def _result(problem: Diagnostic, rule: int, sources: Mapping[str, SourceText]) -> dict[str, object]:
    lines = [problem.message, *(f"{word}: {text}" for word, text in advice_lines(problem))]
    return {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity.value,
        "message": {"text": "\n".join(lines)},
        "locations": _locations(problem, sources),
    }


def _locations(problem: Diagnostic, sources: Mapping[str, SourceText]) -> list[dict[str, object]]:
    if problem.span is None:
        return []
    region = region_of(problem, sources)
    return [{"physicalLocation": physical_location(problem.span.path, (*region.start, *region.end) if region else ())}]


def physical_location(path: str, region: tuple[int, ...] = ()) -> dict[str, object]:
    """Return a location in a file; `region`: line and column of the first character and of the one after the last."""
    if PurePath(path).is_absolute():
        place = {"uri": PurePath(path).as_uri()}
    else:
        place = {"uri": quote(path, errors="surrogateescape"), "uriBaseId": BASE}
    location: dict[str, object] = {"artifactLocation": place}
    if region:
        names = ("startLine", "startColumn", "endLine", "endColumn")
        location["region"] = dict(zip(names, region, strict=True))
    return location
