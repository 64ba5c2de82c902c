"""Formats of a scan's report: one row here and one module for each; all have the same findings in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.scan.formats.github import scan_as_github
from mcpc.release.scan.formats.json import scan_as_json
from mcpc.release.scan.formats.junit import scan_as_junit
from mcpc.release.scan.formats.markdown import scan_as_markdown
from mcpc.release.scan.formats.sarif import scan_as_sarif
from mcpc.release.scan.formats.text import scan_as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.release.scan.formats.report import ScanReport

SCAN_FORMATS: dict[str, Callable[[ScanReport], str]] = {
    "text": scan_as_text,
    "json": scan_as_json,
    "github": scan_as_github,
    "junit": scan_as_junit,
    "markdown": scan_as_markdown,
    "sarif": scan_as_sarif,
}
