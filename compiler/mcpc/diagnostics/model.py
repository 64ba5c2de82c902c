"""What a problem is: a code, a place, what was found, what was expected, and what to do.

A span is a pair of offsets into the decoded text of one source file (code points, end exclusive); lines and
columns are worked out only when a problem is shown, so that keeping the place of every field costs two integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpc.diagnostics.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    """How much a problem matters: an error ends the build, a warning does under `--strict`."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one source file: `path` relative to the project, offsets in code points, end exclusive."""

    path: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem.  `message` says what is wrong; `expected` and `hint` may be empty.

    `size`: how many bytes of the built file it is about, if it is about any.
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
    """Return them without repetitions, sorted by file, place and code: the order of a report."""
    nowhere = Span("")
    return tuple(
        sorted(
            dict.fromkeys(diagnostics),
            key=lambda problem: (problem.span or nowhere, problem.code, problem.message),
        )
    )


def has_errors(diagnostics: Iterable[Diagnostic], *, strict: bool = False) -> bool:
    """Tell whether any of them ends the build; under `strict` warnings do too."""
    fatal = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return any(problem.severity in fatal for problem in diagnostics)
