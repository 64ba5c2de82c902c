"""Formats of a scan's report: one row and one function for each; all have the same findings in the same order.

JSON is for programs: fields may be added but never removed.  Texts of servers are escaped, so that none has an effect.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Severity
from mcpc.diagnostics.formats.findings import JunitCase, ReportFinding, github_annotations, junit_report, sarif_log
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
    counts = Counter(word for word, items in lists for _ in (items if isinstance(items, list) else ()))
    return ", ".join(f"{count} {word}{'s' * (count > 1)}" for word, count in counts.items()) or "no definitions"


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
    return github_annotations(
        replace(shared_finding(one), message=f"{one.server}, {one.location}: {one.message}") for one in report.findings
    )


def shared_finding(finding: Finding) -> ReportFinding:
    """Return a finding in the form that the formats of all commands share."""
    at = finding.position
    return ReportFinding(
        finding.code,
        SEVERITIES[finding.risk],
        finding.message,
        tuple(line for line in (finding.excerpt, CODES[finding.code].advice) if line),
        at.path if at else None,
        (at.line, at.column, at.end_line, at.end_column) if at else (),
        (finding.server, finding.location),
    )


def as_junit(report: ScanReport) -> str:
    """Return a suite of JUnit for each server, with a case for each finding, those of low risk skipped.

    A server without findings has one case.
    """
    suites = []
    for server in report.servers:
        cases = [_junit_case(finding) for finding in report.of(server)]
        suites.append((f"mcpc scan {server.name}", cases or [JunitCase(server.name, "no findings")]))
    return junit_report("mcpc scan", suites)


def _junit_case(finding: Finding) -> JunitCase:
    is_low, at = finding.risk is Risk.LOW, finding.position
    place = f"{at.path}:{at.line}:{at.column}" if at else ""
    text = "" if is_low else "\n".join(line for line in (place, *shared_finding(finding).details) if line)
    failure = str(finding.risk), finding.message
    return JunitCase(finding.server, f"{finding.code} {finding.location}", failure, text, is_skipped=is_low)


def as_markdown(report: ScanReport) -> str:
    """Return the report as Markdown, for comments of pull requests: one table."""
    count = len(report.servers)
    lines = ["### mcpc scan", "", f"{count} server{'s' * (count != 1)}: {report.summary()}"]
    if report.findings:
        lines += ["", "| risk | code | server | place | found |", "|---|---|---|---|---|"]
        lines += [_row(finding) for finding in report.findings]
    return "\n".join(lines) + "\n"


def _row(finding: Finding) -> str:
    # Behind the colon are words of the server, which may be markup; the excerpt shows them as code.
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
    rules = {code: _rule(code) for code in sorted({finding.code for finding in report.findings})}
    results = [
        # Without a position the file that was named is the place; an address is none.
        replace(shared, path=one.target) if not one.position and one.target and "://" not in one.target else shared
        for shared, one in ((shared_finding(one), one) for one in report.findings)
    ]
    return sarif_log(results, rules, report.base)


def _rule(code: str) -> dict[str, object]:
    row, page = CODES[code], explain_risk(code)
    return {
        "id": code,
        "shortDescription": {"text": row.title},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": SEVERITIES[row.risk].value},
        "properties": {"security-severity": SCORES[row.risk], "tags": ["security"]},
    }


SCAN_FORMATS: dict[str, Callable[[ScanReport], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
    "markdown": as_markdown,
    "sarif": as_sarif,
}
