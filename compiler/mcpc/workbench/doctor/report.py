"""What was found, as text that fits a terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.formats.visible import visible, wrapped
from mcpc.workbench.doctor.model import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.workbench.doctor.model import Symptom

LEVEL_WIDTH = 9
INDENT = " " * LEVEL_WIDTH
STYLES = {Level.OK: "32", Level.NOTE: "33", Level.PROBLEM: "31;1"}
ARROW, BAR = "-> ", "| "


def text_lines(symptom: Symptom, width: int, *, has_colours: bool) -> Iterator[str]:
    """Yield the lines of one finding."""
    level = f"{symptom.level.value:<{LEVEL_WIDTH}}"
    shown = f"\x1b[{STYLES[symptom.level]}m{level}\x1b[0m" if has_colours else level
    room = width - LEVEL_WIDTH
    first, *rest = wrapped(visible(f"{symptom.subject}: {symptom.text}"), room, "")
    yield f"{shown}{first}"
    yield from (f"{INDENT}{line}" for line in rest)
    for line in symptom.quoted:
        yield f"{INDENT}{BAR}{visible(line, max(1, room - len(BAR)))}"
    if symptom.advice:
        first, *rest = wrapped(visible(symptom.advice), room - len(ARROW), "")
        yield f"{INDENT}{ARROW}{first}"
        yield from (f"{INDENT}{' ' * len(ARROW)}{line}" for line in rest)


def summary(symptoms: Sequence[Symptom]) -> str:
    """Return the last line of a report."""
    problems = sum(symptom.level is Level.PROBLEM for symptom in symptoms)
    notes = sum(symptom.level is Level.NOTE for symptom in symptoms)
    counts = [
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((problems, "problem"), (notes, "note"))
        if count
    ]
    return ", ".join(counts) or "nothing is wrong"


def as_json(symptoms: Sequence[Symptom]) -> dict[str, Any]:
    """Return a report as JSON."""
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
