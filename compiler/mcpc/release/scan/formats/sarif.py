"""SARIF 2.1.0: findings with their place in a file, and by name in the server's lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.sarif import physical_location, sarif_log
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.codes import CODES, explain_risk
from mcpc.release.scan.formats.github import SEVERITIES
from mcpc.release.scan.model import Risk

if TYPE_CHECKING:
    from mcpc.release.scan.formats.report import ScanReport
    from mcpc.release.scan.model import Finding

SCORES = {Risk.HIGH: "8.0", Risk.MEDIUM: "5.0", Risk.LOW: "2.0"}
"""What code scanning services sort by (`security-severity`)."""


def scan_as_sarif(report: ScanReport) -> str:
    """Return the report as one SARIF run, with the codes that occur as rules."""
    codes = sorted({finding.code for finding in report.findings})
    return sarif_log(
        [_rule(code) for code in codes], [_result(one, codes.index(one.code)) for one in report.findings], report.base
    )


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
    lines = [finding.message, finding.excerpt, CODES[finding.code].advice]
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
        "message": {"text": "\n".join(line for line in lines if line)},
        "locations": [location],
        "partialFingerprints": {"place/v1": visible(f"{finding.code} {finding.server} {finding.location}")},
    }
