"""Formats of a comparison: one row here and one module for each.  `failing`: verdicts that fail the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.comparison.formats.github import as_github
from mcpc.comparison.formats.json import as_json
from mcpc.comparison.formats.junit import as_junit
from mcpc.comparison.formats.markdown import as_markdown
from mcpc.comparison.formats.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.comparison.model import Comparison
    from mcpc.comparison.rules import Impact

__all__ = ["FORMATS"]

FORMATS: dict[str, Callable[[Comparison, frozenset[Impact]], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
    "markdown": as_markdown,
}
