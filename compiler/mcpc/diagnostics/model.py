"""The model of a diagnostic: code, severity, span, message, expectation and hint.

A span is a pair of offsets into the decoded text of one source file (code points, end exclusive); lines and columns are
computed only when a problem is displayed, so that the position of each field costs two integers.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from mcpc.diagnostics.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    """How much a problem matters: an error ends the build, a warning does under `--strict`."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class NamedText(Protocol):
    """A source file that spans point into."""

    @property
    def path(self) -> str:
        """The path relative to the project."""
        ...

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of `offset`, both from 1."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of one source file: `path` relative to the project, offsets in code points, end exclusive."""

    path: str
    start: int = 0
    end: int = 0

    def place_in(self, sources: Iterable[NamedText]) -> str:
        """Return `file:line:column` for a hint that names a second position; the file name alone if it is unknown."""
        for source in sources:
            if source.path == self.path:
                line, column = source.position(self.start)
                return f"{self.path}:{line}:{column}"
        return self.path


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem.  `message` describes it; `expected` and `hint` may be empty.

    `size`: how many bytes of the built file it concerns, 0 if none.
    """

    code: str
    severity: Severity
    span: Span | None
    message: str
    expected: str = ""
    hint: str = ""
    size: int = 0


Diagnostics = tuple[Diagnostic, ...]


def diagnose(code: str, span: Span | None, message: str, expected: str = "", hint: str = "") -> Diagnostic:
    """Return the problem `code` at `span`; its severity is the code's own (see `CODES`)."""
    return Diagnostic(code, Severity(CODES[code].severity), span, message, expected, hint)


def in_order(diagnostics: Iterable[Diagnostic]) -> Diagnostics:
    """Return the diagnostics, sorted by file, position and code, as in a report; of two with one message the first."""
    # What concerns no file comes before all files.
    nowhere = Span("")
    kept: dict[tuple[object, ...], Diagnostic] = {}
    for problem in diagnostics:
        kept.setdefault((problem.code, problem.span, problem.message, problem.expected), problem)
    return tuple(sorted(kept.values(), key=lambda problem: (problem.span or nowhere, problem.code, problem.message)))


def has_errors(diagnostics: Iterable[Diagnostic], *, strict: bool = False) -> bool:
    """Tell whether any diagnostic fails the build; under `strict` warnings do, too."""
    fatal = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return any(problem.severity in fatal for problem in diagnostics)


CUTOFF = 0.6
"""Minimum similarity of two names, from 0 to 1."""


def quoted(names: Iterable[object], separator: str = ", ") -> str:
    """Return names for a message, each in backquotes."""
    return separator.join(f"`{name}`" for name in names)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def nearest(name: str, known: Iterable[str], cutoff: float = CUTOFF) -> str:
    """Return the known name most similar to `name`, or an empty string."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), "")


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", cutoff: float = CUTOFF) -> str:
    """Return a hint with the known name most similar to `name`, or `otherwise`."""
    nearest_name = nearest(name, known, cutoff)
    return f"did you mean `{nearest_name}`?" if nearest_name else otherwise
