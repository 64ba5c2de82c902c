"""Properties of an object that are gone or new, and whether they are required."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.pointers import escaped, label
from mcpc.release.comparison.renames import likely_property

if TYPE_CHECKING:
    from collections.abc import Iterator

    Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """Which schema of a tool it is; `worse`: what must not happen to what it accepts, `better`: what may."""

    name: str
    member: str
    worse: str
    better: str


REQUIRED = {
    ("input", True): ("input-property-required", "is required now"),
    ("input", False): ("input-property-optional", "is no longer required"),
    ("output", True): ("output-property-required", "is always there now"),
    ("output", False): ("output-property-optional", "may be missing now"),
}
"""By the side, and whether a property is required now: the rule, and its words."""


def property_changes(tool: str, side: Side, pointer: str, old: Object, new: Object) -> Iterator[Change]:
    """Yield the changes of which properties an object has."""
    before, after = _properties(old), _properties(new)
    gone, fresh = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    was_required, is_required = _required(old), _required(new)
    for name in gone:
        at = f"{pointer}/properties/{escaped(name)}"
        hint = likely_property(name, before[name], {each: after[each] for each in fresh})
        details = {"pointer": at, "old": before[name], "hint": hint}
        yield change(f"{side.name}-property-removed", "tool", tool, f"{label(at)} is gone", **details)
    for name in fresh:
        at = f"{pointer}/properties/{escaped(name)}"
        if name in is_required and side.name == "input":
            message = f"{label(at)} is new, and required"
            yield change("input-property-required", "tool", tool, message, pointer=at, new=after[name])
        else:
            message = f"{label(at)} is new"
            yield change(f"{side.name}-property-added", "tool", tool, message, pointer=at, new=after[name])
    for name in sorted((was_required ^ is_required) - {*gone, *fresh}):
        rule, words = REQUIRED[side.name, name in is_required]
        at = f"{pointer}/properties/{escaped(name)}"
        details = {"pointer": at, "old": name in was_required, "new": name in is_required}
        yield change(rule, "tool", tool, f"{label(at)} {words}", **details)


def _properties(schema: Object) -> Object:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _required(schema: Object) -> set[str]:
    found = schema.get("required")
    return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()
