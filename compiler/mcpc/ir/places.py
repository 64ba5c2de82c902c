"""Say in words where something is, for the hint that names a second place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Span
    from mcpc.sources import Source


def place(span: Span, sources: Iterable[Source]) -> str:
    """Return `file:line:column`, or the file alone if its text is not among `sources`."""
    for source in sources:
        if source.path == span.path:
            line, column = source.position(span.start)
            return f"{span.path}:{line}:{column}"
    return span.path
