"""Syntax that a newer Python accepts: a file that this one cannot read may be right."""

from __future__ import annotations

import re
import sys

NEWER: tuple[tuple[str, str, tuple[int, int], str, str], ...] = (
    (
        r"^\s*(?:async\s+)?(?:def|class|type)\s+\w+\s*\[[^\]()]*=",
        "",
        (3, 13),
        "defaults of type parameters",
        "leave out the default",
    ),
    (r"^\s*type\s+\w+\s*(?:\[[^\]]*\]\s*)?=", "", (3, 12), "`type` statements", "write it without `type`: `Name = …`"),
    (
        r"^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[",
        "",
        (3, 12),
        "type parameters",
        'write `T = TypeVar("T")` before it, and `Generic[T]` as a base of a class',
    ),
    (
        r"\b[fF][rR]?[\"']|\b[rR][fF][\"']",
        r"^f-string|unterminated string|invalid syntax|was never closed|unmatched",
        (3, 12),
        "f-strings with the same quotes, a backslash or a comment in braces",
        "use other quotes in the braces, or compute the value before",
    ),
    (
        r"^\s*except\*?\s+[\w.]+(?:\s*,\s*[\w.]+)+\s*:",
        "",
        (3, 14),
        "several exceptions without parentheses",
        "write `except (A, B):`",
    ),
    (r"\b[tT][rR]?[\"']|\b[rR][tT][\"']", "", (3, 14), "t-strings", "use an f-string"),
)
"""What the line looks like, and the message; the first Python that reads it, what it is, and how others write it."""


def newer_syntax_hint(line: str, message: str, running: tuple[int, int] = sys.version_info[:2]) -> str:
    """Return which Python reads a line that this one does not, and how to write it for all; empty if none does."""
    for pattern, said, needed, what, otherwise in NEWER:
        if running < needed and re.search(pattern, line) and re.search(said, message):
            newer, this = (".".join(map(str, version)) for version in (needed, running))
            return (
                f"{what} need Python {newer}, and this is Python {this}: build it with `mcpc` of Python {newer} or "
                f"newer, or {otherwise}"
            )
    return ""
