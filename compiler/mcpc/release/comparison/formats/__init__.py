"""Formats of a comparison: one row here and one module for each.  `failing`: verdicts that fail the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.comparison.formats.github import as_github
from mcpc.release.comparison.formats.json import as_json
from mcpc.release.comparison.formats.junit import as_junit
from mcpc.release.comparison.formats.markdown import as_markdown
from mcpc.release.comparison.formats.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.release.comparison.model import Comparison
    from mcpc.release.comparison.rules import Impact

__all__ = ["FORMATS"]

FORMATS: dict[str, Callable[[Comparison, frozenset[Impact]], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
    "markdown": as_markdown,
}
