"""Notes: what a project says that means nothing, or something else, in a built server."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from inspect import unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OWN = __name__.partition(".")[0]
MOST = 1000
"""How many notes are kept: at run time nobody takes them."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note, and the place in the project that it is about; `kind`: `duplicate` for what the framework warns of."""

    text: str
    file: str = ""
    line: int = 0
    kind: str = ""


_notes: dict[Note, None] = {}


def note(text: str, function: Callable[..., Any] | None = None, kind: str = "") -> None:
    """Take a note about a function, or about the line of the project that is running; the same one only once."""
    if len(_notes) < MOST:
        _notes[Note(text, *(running_place() if function is None else place_of(function)), kind)] = None


def taken_notes() -> tuple[Note, ...]:
    """Return the notes taken so far, in their order."""
    return tuple(_notes)


notes = taken_notes


def place_of(function: Callable[..., Any]) -> tuple[str, int]:
    """Return the file and line of a function."""
    code = getattr(unwrap(getattr(function, "__func__", function)), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def running_place() -> tuple[str, int]:
    """Return the file and line of the innermost code that is not of the stand-ins, and not of Python's imports."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (OWN, "importlib"):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
