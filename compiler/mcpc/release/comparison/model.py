"""One change of a server, and all changes between two versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.rules import RULES, Impact

if TYPE_CHECKING:
    from mcpc.client import ServerLists

    Json = Any

ORDER = {verdict: number for number, verdict in enumerate(Impact)}
"""Verdicts in the order of a report."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    `kind` and `item`: what it is a change of (`tool`, its name); `pointer`: where in its definition.  `reason`:
    why it is undecided, or has no effect.  `hint`: the likely new name of what is gone.  `accepted`: the project has
    accepted it, with this reason.
    """

    rule: str
    kind: str
    item: str
    pointer: str = ""
    message: str = ""
    old: Json = None
    new: Json = None
    reason: str = ""
    hint: str = ""
    verdict: Impact = Impact.COSMETIC
    accepted: str | None = None

    @property
    def location(self) -> str:
        """The place by which a project accepts it: `tool:NAME/inputSchema/properties/city`."""
        return f"{self.kind}:{self.item}{self.pointer}"


def change(rule: str, kind: str, item: str, message: str, **details: Any) -> Change:
    """Return a change with the verdict of its rule."""
    return Change(rule, kind, item, message=message, **{"verdict": RULES[rule].verdict, **details})


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes between two versions, the most important first.  `unused`: acceptances of changes that are not there.

    `suggested`: the next version number; None if the old one has another form.  `fits`: whether the new version is at
    least that; None if this cannot be told.
    """

    old: ServerLists
    new: ServerLists
    changes: tuple[Change, ...]
    suggested: str | None = None
    level: str = ""
    fits: bool | None = None
    unused: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the number of changes by verdict."""
        return {str(verdict): sum(each.verdict is verdict for each in self.changes) for verdict in Impact}


def in_order(changes: list[Change]) -> tuple[Change, ...]:
    """Return changes by verdict; within one verdict in the order in which they were found."""
    return tuple(sorted(changes, key=lambda each: ORDER[each.verdict]))
