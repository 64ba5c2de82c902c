"""Markdown as generated pages need it: tables, and text that means nothing to Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CODE = re.compile(r"(`[^`\n]*`)")
SPECIAL = re.compile(r"([<>*_\[\]\\])")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already.  A bar in code is no border, so it needs no escape."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(one_cell, line))} |\n" for line in lines)


def one_cell(text: str) -> str:
    """Return a cell in which bars are text."""
    parts = CODE.split(text)
    parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
    return "".join(parts)


def plain(text: str) -> str:
    """Return text in which only code between backticks is formatted."""
    parts = CODE.split(text)
    parts[::2] = [SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def code(text: str) -> str:
    """Return text as code on one line."""
    return f"`{text}`"


def block(text: str, language: str = "text") -> str:
    """Return text as a fenced block."""
    return f"```{language}\n{text.rstrip()}\n```\n"
