"""Formats of a report: a row for each, and what the reports of all commands share (`findings.py`).

A format uses only `SourceText` of a file, because the layer that reads files is above this one. All formats report the
same content in the same order (file, position, code).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.machine import as_github, as_json, as_sarif
from mcpc.diagnostics.formats.source_location import SourceText, relocate_paths
from mcpc.diagnostics.formats.text import as_text, render_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "SourceText", "relocate_paths", "render_text"]

FORMATS: dict[str, Callable[..., str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
