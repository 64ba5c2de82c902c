"""Formats of a scan's report: one row and one function for each; all have the same findings in the same order.

JSON is for programs: fields may be added but never removed.  Texts of servers are escaped, so that none has an effect.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from mcpc.diagnostics import Severity
from mcpc.diagnostics.formats.github import region_properties, workflow_command
from mcpc.diagnostics.formats.sarif import physical_location, sarif_log
from mcpc.diagnostics.formats.visible import visible, wrapped
from mcpc.release.scan.model import CODES, RISKS, Risk, explain_risk
from mcpc.release.scan.texts import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.release.scan.model import Finding, ScannedServer

INDENT = "  "
SEVERITIES = {Risk.HIGH: Severity.ERROR, Risk.MEDIUM: Severity.WARNING, Risk.LOW: Severity.NOTE}
SCORES = {Risk.HIGH: "8.0", Risk.MEDIUM: "5.0", Risk.LOW: "2.0"}
"""What code scanning services sort by (`security-severity`)."""


@dataclass(frozen=True, slots=True)
class ScanReport:
    """The servers of a scan and its findings in order.

    `ignored`: how many findings are left out; `base`: the URI of the working folder; `width`: columns of the text.
    """

    servers: Sequence[ScannedServer]
    findings: Sequence[Finding]
    ignored: int = 0
    base: str = ""
    width: int = 80

    def of(self, server: ScannedServer) -> list[Finding]:
        return [one for one in self.findings if (one.server, one.target) == (server.name, server.target)]

    def counts(self) -> dict[Risk, int]:
        """Return how many findings there are of each risk."""
        return {risk: sum(one.risk is risk for one in self.findings) for risk in RISKS}

    def summary(self) -> str:
        """Return the numbers of findings in words."""
        numbers = ", ".join(f"{count} {risk}" for risk, count in self.counts().items() if count) or "no findings"
        return f"{numbers}; {self.ignored} ignored" if self.ignored else numbers


def as_text(report: ScanReport) -> str:
    """Return the report for people; why a finding matters is said with the first one of a code."""
    lines: list[str] = []
    explained: set[str] = set()
    for server in report.servers:
        findings = report.of(server)
        title = f"{visible(server.name) or 'server'} ({visible(server.target)}): {_offers(server)}"
        lines += wrapped(title if findings else f"{title}, no findings", report.width, INDENT)
        for finding in findings:
            block = _block(finding, is_explained=finding.code in explained)
            lines += ["", *(line for text, indent in block for line in wrapped(text, report.width, indent))]
            explained.add(finding.code)
        lines += [""] if findings else []
    worst = min(report.findings, key=lambda one: RISKS.index(one.risk)).code if report.findings else ""
    return "\n".join([*lines, report.summary() + (f"; see `mcpc help {worst}`" if worst else "")]) + "\n"


def _offers(server: ScannedServer) -> str:
    """Return the numbers of a server's definitions in words; why there are none of one that was not asked."""
    if server.entry is not None and not server.lists:
        return server.unread
    lists = ((word, server.lists.get(key)) for key, word in KINDS.items())
    counts = [(word, len(items)) for word, items in lists if isinstance(items, list) and items]
    return ", ".join(f"{count} {word}{'s' * (count > 1)}" for word, count in counts) or "no definitions"


def _block(finding: Finding, *, is_explained: bool) -> Iterator[tuple[str, str]]:
    """Yield the lines of a finding, each with the indentation of its continuation."""
    row = CODES[finding.code]
    yield f"{finding.risk} {finding.code} {visible(finding.location)}", INDENT
    if finding.position:
        yield f"{INDENT}{visible(finding.position.path)}:{finding.position.line}:{finding.position.column}", INDENT
    yield f"{INDENT}{finding.message}", INDENT
    if finding.excerpt:
        yield f"{INDENT}| {finding.excerpt}", f"{INDENT}| "
    if not is_explained:
        yield f"{INDENT}{row.why}", INDENT
    yield f"{INDENT}= {row.advice}", f"{INDENT}  "


def as_json(report: ScanReport) -> str:
    """Return the report as JSON.

    `file` and the positions are null where a server is not a project, `unread` where nothing was left out.
    """
    servers = [
        {
            "name": server.name,
            "target": server.target,
            "client": server.entry.client if server.entry else None,
            "unread": server.unread or None,
        }
        for server in report.servers
    ]
    value = {
        "servers": servers,
        "findings": [_entry(finding) for finding in report.findings],
        "counts": {risk.value: count for risk, count in report.counts().items()},
        "ignored": report.ignored,
    }
    return json.dumps(value, indent=2) + "\n"


def _entry(finding: Finding) -> dict[str, object]:
    at, row = finding.position, CODES[finding.code]
    return {
        "code": finding.code,
        "risk": finding.risk.value,
        "title": row.title,
        "message": finding.message,
        "why": row.why,
        "advice": row.advice,
        "server": finding.server,
        "target": finding.target,
        "kind": finding.text.kind,
        "name": finding.text.item,
        "field": finding.text.field,
        "pointer": finding.text.pointer,
        "excerpt": finding.excerpt,
        "file": at.path if at else None,
        "start": {"line": at.line, "column": at.column} if at else None,
        "end": {"line": at.end_line, "column": at.end_column} if at else None,
    }


def as_github(report: ScanReport) -> str:
    """Return a workflow command of GitHub Actions on a line for each finding; empty if there are none."""
    return "".join(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    properties: dict[str, str | int] = {}
    if finding.position:
        path, *region = finding.position
        properties = {"file": visible(path), **region_properties(*region)}
    first = f"{finding.server}, {finding.location}: {finding.message}"
    return workflow_command(SEVERITIES[finding.risk], {**properties, "title": finding.code}, _lines(finding, first))


def _lines(finding: Finding, first: str) -> list[str]:
    return [line for line in (first, finding.excerpt, CODES[finding.code].advice) if line]


def as_junit(report: ScanReport) -> str:
    """Return the report as JUnit XML: a suite a server, a case a finding, those of low risk skipped.

    A server without findings has one case.
    """
    suites = [line for server in report.servers for line in _suite(server, report.of(server))]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", *suites, "</testsuites>"]) + "\n"


def _suite(server: ScannedServer, findings: list[Finding]) -> Iterator[str]:
    owner = f"<testcase classname={_attribute(server.name)}"
    skipped = sum(finding.risk is Risk.LOW for finding in findings)
    counts = f'tests="{max(len(findings), 1)}" failures="{len(findings) - skipped}" skipped="{skipped}" errors="0"'
    yield f"  <testsuite name={_attribute(f'mcpc scan {server.name}')} {counts}>"
    if not findings:
        yield f'    {owner} name="no findings"/>'
    for finding in findings:
        yield f"    {owner} name={_attribute(f'{finding.code} {finding.location}')}>"
        yield f"      {_outcome(finding)}"
        yield "    </testcase>"
    yield "  </testsuite>"


def _outcome(finding: Finding) -> str:
    message = _attribute(finding.message)
    if finding.risk is Risk.LOW:
        return f"<skipped message={message}/>"
    at = finding.position
    lines = _lines(finding, visible(f"{at.path}:{at.line}:{at.column}") if at else "")
    body = escape("\n".join(lines))
    return f'<failure type="{finding.risk}" message={message}>{body}</failure>'


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def as_markdown(report: ScanReport) -> str:
    """Return the report as Markdown, for comments of pull requests: one table."""
    count = len(report.servers)
    lines = ["### mcpc scan", "", f"{count} server{'s' * (count != 1)}: {report.summary()}"]
    if report.findings:
        lines += ["", "| risk | code | server | place | found |", "|---|---|---|---|---|"]
        lines += [_row(finding) for finding in report.findings]
    return "\n".join(lines) + "\n"


def _row(finding: Finding) -> str:
    message = f"{finding.message.partition(':')[0]}{': ' + _code(finding.excerpt) if finding.excerpt else ''}"
    place = f" ({_code(f'{finding.position.path}:{finding.position.line}')})" if finding.position else ""
    return (
        f"| {finding.risk} | {finding.code} | {_code(finding.server)} | {_code(finding.location)}{place} | {message} |"
    )


def _code(text: str) -> str:
    """Return a text as code in a cell of a table: without backticks, which would end it, and bars."""
    safe = visible(text).replace("`", "'").replace("|", "\\|").replace("\n", " ")
    return f"`{safe}`" if safe.strip() else ""


def as_sarif(report: ScanReport) -> str:
    """Return the report as one SARIF 2.1.0 run, with the codes that occur as rules."""
    codes = sorted({finding.code for finding in report.findings})
    results = [_result(one, codes.index(one.code)) for one in report.findings]
    return sarif_log([_rule(code) for code in codes], results, report.base)


def _rule(code: str) -> dict[str, object]:
    row, page = CODES[code], explain_risk(code)
    return {
        "id": code,
        "shortDescription": {"text": row.title},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": SEVERITIES[row.risk].value},
        "properties": {"security-severity": SCORES[row.risk], "tags": ["security"]},
    }


def _result(finding: Finding, rule: int) -> dict[str, object]:
    name = {"fullyQualifiedName": visible(f"{finding.server}/{finding.location}"), "kind": "member"}
    location: dict[str, object] = {"logicalLocations": [name]}
    if finding.position:
        path, *region = finding.position
        location["physicalLocation"] = physical_location(path, tuple(region))
    elif finding.target and "://" not in finding.target:
        location["physicalLocation"] = physical_location(finding.target)
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": SEVERITIES[finding.risk].value,
        "message": {"text": "\n".join(_lines(finding, finding.message))},
        "locations": [location],
        "partialFingerprints": {"place/v1": visible(f"{finding.code} {finding.server} {finding.location}")},
    }


SCAN_FORMATS: dict[str, Callable[[ScanReport], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
    "markdown": as_markdown,
    "sarif": as_sarif,
}
