"""Format of GitHub Actions: workflow commands, which are displayed beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.source_location import SourceText, advice_lines, region_of
from mcpc.diagnostics.formats.visible import visible
from mcpc.diagnostics.model import Severity, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_TEXT | str.maketrans({":": "%3A", ",": "%2C"})


def as_github(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return one command per line for each problem; empty if there are none."""
    return "".join(f"{_command(problem, sources)}\n" for problem in in_order(diagnostics))


def _command(problem: Diagnostic, sources: Mapping[str, SourceText]) -> str:
    properties = {**_place(problem, sources), "title": problem.code}
    written = ",".join(f"{name}={str(value).translate(IN_PROPERTY)}" for name, value in properties.items())
    lines = [problem.message, *(f"{word}: {text}" for word, text in advice_lines(problem))]
    message = "\n".join(visible(line) for line in lines)
    return f"::{COMMANDS[problem.severity]} {written}::{message.translate(IN_TEXT)}"


def _place(problem: Diagnostic, sources: Mapping[str, SourceText]) -> dict[str, str | int]:
    if problem.span is None:
        return {}
    file = visible(problem.span.path)
    region = region_of(problem, sources)
    if region is None:
        return {"file": file}
    (line, column), (end_line, end_column) = region.start, region.end
    if line == end_line:
        return {"file": file, "line": line, "col": column, "endColumn": end_column}
    # Columns are shown only where beginning and end share a line.
    return {"file": file, "line": line, "endLine": end_line}
