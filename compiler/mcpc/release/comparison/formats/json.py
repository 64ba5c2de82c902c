"""Format for programs: one JSON object, to which fields may be added but never removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.formats.visible import visible_json
from mcpc.release.comparison.formats.lines import fails

if TYPE_CHECKING:
    from mcpc.release.comparison.model import Change, Comparison
    from mcpc.release.comparison.rules import Impact


def as_json(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the comparison as JSON; `reason` is there where it is known."""
    version = {"level": comparison.level, "suggested": comparison.suggested, "fits": comparison.fits}
    report = {
        "old": {"name": comparison.old.name, "version": comparison.old.version},
        "new": {"name": comparison.new.name, "version": comparison.new.version},
        "changes": [_entry(each, failing) for each in comparison.changes],
        "summary": comparison.counts(),
        "version": version,
        "unused": [*comparison.unused],
        "failed": any(fails(each, failing) for each in comparison.changes),
    }
    return visible_json(report) + "\n"


def _entry(change: Change, failing: frozenset[Impact]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rule": change.rule,
        "verdict": str(change.verdict),
        "kind": change.kind,
        "item": change.item,
        "pointer": change.pointer,
        "place": change.location,
        "message": change.message,
        "old": change.old,
        "new": change.new,
        "fails": fails(change, failing),
    }
    if change.hint:
        found["renamed"] = change.hint
    if change.reason:
        found["reason"] = change.reason
    if change.accepted is not None:
        found["accepted"] = change.accepted
    return found
