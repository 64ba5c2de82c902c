"""What is examined, and what was found, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Level(Enum):
    """How bad a finding is: a note needs no action, a problem stops something from working."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Symptom:
    """One finding.  `advice`: the next step; `quoted`: lines of output or of a log, without secrets."""

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
    """Return what is as it should be."""
    return Symptom(Level.OK, subject, text)


def note(subject: str, text: str, advice: str = "", quoted: tuple[str, ...] = ()) -> Symptom:
    """Return what is worth knowing."""
    return Symptom(Level.NOTE, subject, text, advice, quoted)


def problem(subject: str, text: str, advice: str, quoted: tuple[str, ...] = ()) -> Symptom:
    """Return what does not work."""
    return Symptom(Level.PROBLEM, subject, text, advice, quoted)
