"""Where a problem is, in lines and columns: all that a format needs to know of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics


class SourceText(Protocol):
    """A file that problems point into."""

    @property
    def text(self) -> str:
        """The file as text."""
        ...

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of `offset`, both from 1."""
        ...


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a file: line and column of its first code point and of the one after its last."""

    start: tuple[int, int]
    end: tuple[int, int]


def located(
    diagnostics: Diagnostics, sources: Mapping[str, SourceText], folder: str
) -> tuple[Diagnostics, Mapping[str, SourceText]]:
    """Return problems and files with the names that they have from another folder, in which the project is `folder`."""
    if folder in ("", "."):
        return diagnostics, sources
    named = {f"{folder}/{path}": source for path, source in sources.items()}
    moved = (
        replace(
            problem, span=replace(problem.span, path=f"{folder}/{problem.span.path}" if problem.span.path else folder)
        )
        if problem.span
        else problem
        for problem in diagnostics
    )
    return tuple(moved), named


def region_of(problem: Diagnostic, sources: Mapping[str, SourceText]) -> Region | None:
    """Return the lines and columns of `problem`; None if it is about a whole file, or about none that was read.

    A span that is empty and at the beginning is how a problem of a whole file is written.
    """
    span = problem.span
    if span is None or span.path not in sources or span.start == span.end == 0:
        return None
    source = sources[span.path]
    return Region(source.position(span.start), source.position(max(span.start, span.end)))


def advice_of(problem: Diagnostic) -> tuple[tuple[str, str], ...]:
    """Return what a report says after the message, each with the word before it."""
    return tuple(line for line in (("expected", problem.expected), ("help", problem.hint)) if line[1])
