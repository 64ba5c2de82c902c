"""Format of GitHub Actions: workflow commands, which are displayed beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.source_location import SourceText, advice_lines, region_of
from mcpc.diagnostics.formats.visible import visible
from mcpc.diagnostics.model import Severity, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.diagnostics.model import Diagnostic, Diagnostics

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_TEXT | str.maketrans({":": "%3A", ",": "%2C"})


def as_github(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return one command per line for each problem; empty if there are none."""
    return "".join(f"{_command(problem, sources)}\n" for problem in in_order(diagnostics))


def _command(problem: Diagnostic, sources: Mapping[str, SourceText]) -> str:
    properties = {**_place(problem, sources), "title": problem.code}
    lines = [problem.message, *(f"{word}: {text}" for word, text in advice_lines(problem))]
    return workflow_command(problem.severity, properties, lines)


def workflow_command(severity: Severity, properties: Mapping[str, str | int], lines: Sequence[str]) -> str:
    """Return the workflow command that displays lines of text at a place."""
    written = ",".join(f"{name}={str(value).translate(IN_PROPERTY)}" for name, value in properties.items())
    message = "\n".join(visible(line) for line in lines)
    return f"::{COMMANDS[severity]} {written}::{message.translate(IN_TEXT)}"


def _place(problem: Diagnostic, sources: Mapping[str, SourceText]) -> dict[str, str | int]:
    if problem.span is None:
        return {}
    file = visible(problem.span.path)
    region = region_of(problem, sources)
    if region is None:
        return {"file": file}
    return {"file": file, **region_properties(*region.start, *region.end)}


def region_properties(line: int, column: int, end_line: int, end_column: int) -> dict[str, str | int]:
    """Return the properties of a range; columns are shown only where beginning and end share a line."""
    if line == end_line:
        return {"line": line, "col": column, "endColumn": end_column}
    return {"line": line, "endLine": end_line}
