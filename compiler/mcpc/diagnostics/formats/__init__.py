"""How problems are reported: a row here, and a file that makes text of them.

A format knows no more of a file than `SourceText` says, because the floor that reads files lies above this one.
Every format reports in one order (file, place, code) and says the same of the same problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.github import as_github
from mcpc.diagnostics.formats.json import as_json
from mcpc.diagnostics.formats.place import SourceText, located
from mcpc.diagnostics.formats.sarif import as_sarif
from mcpc.diagnostics.formats.text import as_text, render_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "SourceText", "located", "render_text"]

FORMATS: dict[str, Callable[..., str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
