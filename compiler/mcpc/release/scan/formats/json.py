"""Format for programs: one JSON object, to which fields may be added but never removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.release.scan.codes import CODES

if TYPE_CHECKING:
    from mcpc.release.scan.formats.report import ScanReport
    from mcpc.release.scan.model import Finding, ScannedServer


def scan_as_json(report: ScanReport) -> str:
    """Return the report as JSON.

    `file` and the positions are null where a server is not a project, `unread` where nothing was left out.
    """
    value = {
        "servers": [_server(server) for server in report.servers],
        "findings": [_entry(finding) for finding in report.findings],
        "counts": {risk.value: count for risk, count in report.counts().items()},
        "ignored": report.ignored,
    }
    return json.dumps(value, indent=2) + "\n"


def _server(server: ScannedServer) -> dict[str, object]:
    return {
        "name": server.name,
        "target": server.target,
        "client": server.entry.client if server.entry else None,
        "unread": server.unread or None,
    }


def _entry(finding: Finding) -> dict[str, object]:
    at = finding.position
    return {
        "code": finding.code,
        "risk": finding.risk.value,
        "title": CODES[finding.code].title,
        "message": finding.message,
        "why": CODES[finding.code].why,
        "advice": CODES[finding.code].advice,
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
