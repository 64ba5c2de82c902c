"""Source positions of problems as lines and columns: all that a format uses of a file."""

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
    """A range of a file: line and column of its first code point and of the one after its last."""

    start: tuple[int, int]
    end: tuple[int, int]


def relocate_paths(
    diagnostics: Diagnostics, sources: Mapping[str, SourceText], folder: str
) -> tuple[Diagnostics, Mapping[str, SourceText]]:
    """Return problems and files with paths relative to another folder, in which the project is `folder`."""
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
    """Return the lines and columns of `problem`; None if it concerns a whole file, or no file that was read.

    An empty span at offset 0 means the whole file.
    """
    span = problem.span
    if span is None or span.path not in sources or span.start == span.end == 0:
        return None
    source = sources[span.path]
    # A span may name its beginning alone, and have the end 0.
    return Region(source.position(span.start), source.position(max(span.start, span.end)))


def advice_lines(problem: Diagnostic) -> tuple[tuple[str, str], ...]:
    """Return the advice that follows the message, each with its label."""
    return tuple(line for line in (("expected", problem.expected), ("help", problem.hint)) if line[1])
