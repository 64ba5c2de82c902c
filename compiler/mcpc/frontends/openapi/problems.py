"""What is wrong with a document, gathered while it is read: a note for a kind of repair, a warning for what is lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.openapi.documents import DocumentValue

LEFT_OUT, REPAIRED = "MCP171", "MCP172"
HIDDEN = "a text has characters that nobody sees: left out of it"
MAX_PLACES = 3
"""How many further places of one repair are named."""


class UnusableError(Exception):
    """A part without which its operation cannot be had: where, why, and what to do."""

    def __init__(self, place: DocumentValue, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.place, self.hint = place, hint


@dataclass(slots=True)
class Problems:
    """The problems of one API."""

    written: list[Diagnostic] = field(default_factory=list)
    _repairs: dict[str, dict[tuple[str, tuple[str | int, ...]], DocumentValue]] = field(default_factory=dict)

    def repair(self, place: DocumentValue, what: str) -> None:
        """Note a mistake that has one meaning; all of a kind are reported together."""
        self._repairs.setdefault(what, {}).setdefault(place.identity, place)

    def leave_out(self, name: str, wrong: UnusableError) -> None:
        """Report that an operation is left out, and why."""
        message = f"the operation `{name}` is left out: {wrong}"
        self.written.append(diagnose(LEFT_OUT, wrong.place.span, message, "", wrong.hint))

    def warn(self, place: DocumentValue, message: str, hint: str = "") -> None:
        """Report what has no effect."""
        self.written.append(diagnose(LEFT_OUT, place.span, message, "", hint))

    def all(self) -> Iterator[Diagnostic]:
        """Yield the problems: one note for each kind of repair, at its first place."""
        yield from self.written
        for what, places in self._repairs.items():
            first, *others = places.values()
            named = ", ".join(place.span.place_in([place.document.source]) for place in others[:MAX_PLACES])
            more = f", and {len(others) - MAX_PLACES} more" if len(others) > MAX_PLACES else ""
            yield diagnose(REPAIRED, first.span, what, "", f"also at {named}{more}" if others else "")
