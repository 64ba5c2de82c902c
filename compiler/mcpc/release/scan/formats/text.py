"""Format for people: each finding with its place, what was found with hidden characters escaped, and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible, wrapped
from mcpc.release.scan.codes import CODES
from mcpc.release.scan.formats.report import offers_of, summary_of_counts
from mcpc.release.scan.model import RISKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.formats.report import ScanReport
    from mcpc.release.scan.model import Finding

INDENT = "  "


def scan_as_text(report: ScanReport) -> str:
    """Return the report as text."""
    lines: list[str] = []
    explained: set[str] = set()
    for server in report.servers:
        found = report.of(server)
        title = f"{visible(server.name) or 'server'} ({visible(server.target)}): {offers_of(server)}"
        lines += [*wrapped(title if found else f"{title}, no findings", report.width, INDENT)]
        for finding in found:
            lines += ["", *_block(finding, report.width, is_explained=finding.code in explained)]
            explained.add(finding.code)
        lines += [""] if found else []
    worst = min(report.findings, key=lambda one: RISKS.index(one.risk)).code if report.findings else ""
    summary = summary_of_counts(report) + (f"; see `mcpc explain {worst}`" if worst else "")
    return "\n".join([*lines, summary]) + "\n"


def _block(finding: Finding, width: int, *, is_explained: bool) -> Iterator[str]:
    """Yield the lines of a finding; why it matters is said with the first one of a code."""
    yield from wrapped(f"{finding.risk} {finding.code} {visible(finding.location)}", width, INDENT)
    if finding.position:
        yield from wrapped(
            f"{INDENT}{visible(finding.position.path)}:{finding.position.line}:{finding.position.column}", width, INDENT
        )
    yield from wrapped(f"{INDENT}{finding.message}", width, INDENT)
    if finding.excerpt:
        yield from wrapped(f"{INDENT}| {finding.excerpt}", width, f"{INDENT}| ")
    if not is_explained:
        yield from wrapped(f"{INDENT}{CODES[finding.code].why}", width, INDENT)
    yield from wrapped(f"{INDENT}= {CODES[finding.code].advice}", width, f"{INDENT}  ")
