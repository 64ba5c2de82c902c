"""Format of GitHub Actions: workflow commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Severity
from mcpc.diagnostics.formats.github import region_properties, workflow_command
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.codes import CODES
from mcpc.release.scan.model import Risk

if TYPE_CHECKING:
    from mcpc.release.scan.formats.report import ScanReport
    from mcpc.release.scan.model import Finding

SEVERITIES = {Risk.HIGH: Severity.ERROR, Risk.MEDIUM: Severity.WARNING, Risk.LOW: Severity.NOTE}


def scan_as_github(report: ScanReport) -> str:
    """Return one command per line for each finding; empty if there are none."""
    return "".join(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    properties: dict[str, str | int] = {"title": finding.code}
    if finding.position:
        path, *region = finding.position
        properties = {"file": visible(path), **region_properties(*region), **properties}
    lines = [f"{finding.server}, {finding.location}: {finding.message}", finding.excerpt, CODES[finding.code].advice]
    return workflow_command(SEVERITIES[finding.risk], properties, [line for line in lines if line])
