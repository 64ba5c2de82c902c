"""What an editor may insert at a cursor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proposal:
    """One text that can take the place of what is from `start` to `end`.

    `kind`: `field`, `value`, `variable` or `function`; `about`: what it is, in words.
    """

    label: str
    new: str
    start: int
    end: int
    kind: str
    about: str = ""
