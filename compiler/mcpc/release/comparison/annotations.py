"""Changes of what a schema says to people and models: it accepts the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.keywords import GROUPS, HOLDERS, STRUCTURE
from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.pointers import escaped, label
from mcpc.release.comparison.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.comparison.properties import Side

    Object = dict[str, Any]

TEXTS = {"title": "title", "description": "description", "default": "default", "examples": "examples"}
TEXTS |= {"example": "examples", "deprecated": "deprecated"}
MEANINGFUL = {name for names in GROUPS.values() for name in names}.union(STRUCTURE, HOLDERS)


def annotation_changes(tool: str, side: Side, pointer: str, old: Object, new: Object) -> Iterator[Change]:
    """Yield the changes of annotations of one schema."""
    for name in sorted({*old, *new} - MEANINGFUL):
        if old.get(name) == new.get(name) and (name in old) == (name in new):
            continue
        rule = f"{side.name}-{TEXTS.get(name, 'annotation')}-changed"
        rule = rule if rule in RULES else f"{side.name}-annotation-changed"
        message = f"{label(pointer)}: {name} is {_verb(name, old, new)}"
        details = {"pointer": f"{pointer}/{escaped(name)}", "old": old.get(name), "new": new.get(name)}
        yield change(rule, "tool", tool, message, **details)


def _verb(name: str, old: Object, new: Object) -> str:
    if name not in old:
        return "new"
    return "gone" if name not in new else "another"
