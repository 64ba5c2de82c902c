"""Markdown, for comments of pull requests: one table.  Texts of servers are code, so that none has an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.formats.report import summary_of_counts

if TYPE_CHECKING:
    from mcpc.release.scan.formats.report import ScanReport
    from mcpc.release.scan.model import Finding


def scan_as_markdown(report: ScanReport) -> str:
    """Return the report as Markdown."""
    lines = [
        "### mcpc scan",
        "",
        f"{len(report.servers)} server{'s' * (len(report.servers) != 1)}: {summary_of_counts(report)}",
    ]
    if report.findings:
        lines += ["", "| risk | code | server | place | found |", "|---|---|---|---|---|"]
        lines += [_row(finding) for finding in report.findings]
    return "\n".join(lines) + "\n"


def _row(finding: Finding) -> str:
    shown = f"{finding.message.partition(':')[0]}{': ' + _code(finding.excerpt) if finding.excerpt else ''}"
    place = f" ({_code(f'{finding.position.path}:{finding.position.line}')})" if finding.position else ""
    return f"| {finding.risk} | {finding.code} | {_code(finding.server)} | {_code(finding.location)}{place} | {shown} |"


def _code(text: str) -> str:
    """Return a text as code in a cell of a table: without backticks, which would end it, and bars."""
    safe = visible(text).replace("`", "'").replace("|", "\\|").replace("\n", " ")
    return f"`{safe}`" if safe.strip() else ""
