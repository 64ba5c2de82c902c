"""JUnit XML, which continuous integration displays: a suite a server, a case a finding.

Characters that XML does not allow do not occur: a finding has escapes in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.codes import CODES
from mcpc.release.scan.model import Risk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.formats.report import ScanReport
    from mcpc.release.scan.model import Finding, ScannedServer


def scan_as_junit(report: ScanReport) -> str:
    """Return the report as XML; findings of low risk are skipped cases, and a server without findings one case."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for server in report.servers:
        lines += _suite(server, report.of(server))
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(server: ScannedServer, found: list[Finding]) -> Iterator[str]:
    name = _attribute(f"mcpc scan {server.name}")
    skipped = sum(finding.risk is Risk.LOW for finding in found)
    counts = f'tests="{max(len(found), 1)}" failures="{len(found) - skipped}" skipped="{skipped}" errors="0"'
    yield f"  <testsuite name={name} {counts}>"
    if not found:
        yield f'    <testcase classname={_attribute(server.name)} name="no findings"/>'
    for finding in found:
        case = _attribute(f"{finding.code} {finding.location}")
        yield f"    <testcase classname={_attribute(server.name)} name={case}>"
        yield f"      {_outcome(finding)}"
        yield "    </testcase>"
    yield "  </testsuite>"


def _outcome(finding: Finding) -> str:
    message = _attribute(finding.message)
    if finding.risk is Risk.LOW:
        return f"<skipped message={message}/>"
    at = finding.position
    lines = [visible(f"{at.path}:{at.line}:{at.column}") if at else "", finding.excerpt, CODES[finding.code].advice]
    body = escape("\n".join(line for line in lines if line))
    return f'<failure type="{finding.risk}" message={message}>{body}</failure>'


def _attribute(text: str) -> str:
    return quoteattr(visible(text))
