"""What is examined, what was found, and the report: text that fits a terminal, and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.formats.visible import visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LEVEL_WIDTH = 9
INDENT = " " * LEVEL_WIDTH
ARROW, BAR = "-> ", "| "


class Level(Enum):
    """How bad a finding is: a note needs no action, a problem stops something from working."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


STYLES = {Level.OK: "32", Level.NOTE: "33", Level.PROBLEM: "31;1"}


@dataclass(frozen=True, slots=True)
class Symptom:
    """One finding.  `advice`: the next step; `quoted`: lines of output, without secrets."""

    level: Level
    subject: str
    text: str
    advice: str = ""
    quoted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Examination:
    """What is examined: a project's folder or a built file, and clients by name (none: all).

    `starts`: whether the servers of clients are started; `trusts_project`: also those in the project's own files, which
    may come from other people; `seconds`: how long each may take to answer.
    """

    target: Path
    clients: tuple[str, ...] = ()
    starts: bool = True
    trusts_project: bool = False
    seconds: float = 20.0

    @property
    def folder(self) -> Path:
        """The project's folder; that of a built file."""
        return self.target if self.target.is_dir() else self.target.parent


def fine(subject: str, text: str) -> Symptom:
    return Symptom(Level.OK, subject, text)


def note(subject: str, text: str, advice: str = "", quoted: tuple[str, ...] = ()) -> Symptom:
    return Symptom(Level.NOTE, subject, text, advice, quoted)


def problem(subject: str, text: str, advice: str, quoted: tuple[str, ...] = ()) -> Symptom:
    """Return what does not work."""
    return Symptom(Level.PROBLEM, subject, text, advice, quoted)


def text_lines(symptom: Symptom, width: int, *, has_colours: bool) -> Iterator[str]:
    level = f"{symptom.level.value:<{LEVEL_WIDTH}}"
    label = f"\x1b[{STYLES[symptom.level]}m{level}\x1b[0m" if has_colours else level
    room = width - LEVEL_WIDTH
    first, *rest = wrapped(visible(f"{symptom.subject}: {symptom.text}"), room, "")
    yield f"{label}{first}"
    yield from (f"{INDENT}{line}" for line in rest)
    for line in symptom.quoted:
        yield f"{INDENT}{BAR}{visible(line, max(1, room - len(BAR)))}"
    if symptom.advice:
        first, *rest = wrapped(visible(symptom.advice), room - len(ARROW), "")
        yield f"{INDENT}{ARROW}{first}"
        yield from (f"{INDENT}{' ' * len(ARROW)}{line}" for line in rest)


def summary(symptoms: Sequence[Symptom]) -> str:
    """Return the last line of a report."""
    numbers = {level: sum(symptom.level is level for symptom in symptoms) for level in (Level.PROBLEM, Level.NOTE)}
    counts = [f"{count} {level.value}{'s' * (count > 1)}" for level, count in numbers.items() if count]
    return ", ".join(counts) or "nothing is wrong"


def as_json(symptoms: Sequence[Symptom]) -> dict[str, Any]:
    rows = [
        {
            "level": symptom.level.value,
            "subject": symptom.subject,
            "text": symptom.text,
            **({"advice": symptom.advice} if symptom.advice else {}),
            **({"quoted": [*symptom.quoted]} if symptom.quoted else {}),
        }
        for symptom in symptoms
    ]
    return {"ok": all(symptom.level is not Level.PROBLEM for symptom in symptoms), "findings": rows}
