"""The keywords of one schema object in groups that are decided together, and what has become of each group.

A group is decided by itself: does what the old keywords of the group accept remain accepted, and the reverse.  So a
change is named where it is, whatever else has changed.  Annotations are texts for people and models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison import rules
from mcpc.release.comparison.inclusion import OWNERS, RULES, accepts
from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.pointers import escaped, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.comparison.properties import Side

    Json = Any
    Object = dict[str, Any]

APART = ("properties", "required", "items", "$ref")
"""Rules of keywords that are compared part by part."""
GROUPS = {name: keywords for name, (_, keywords, _) in RULES.items() if name not in APART}
GROUPS["patternProperties"] = ("patternProperties",)
COMBINED = ("allOf", "anyOf", "oneOf", "not", "condition", "dependencies", "unevaluated", "reference")
"""Groups whose effect depends on other keywords, so that only the whole schema decides whether they break callers."""
MEANINGFUL = {*OWNERS, "$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment"}
"""Keywords that are not annotations."""

TEXTS = {"title": "title", "description": "description", "default": "default", "examples": "examples"}
TEXTS |= {"example": "examples", "deprecated": "deprecated"}
"""Annotations that have a rule of their own."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What has become of what a schema accepts.

    `narrowed`: something is refused now; `widened`: something is accepted now; None: undecided.
    """

    narrowed: bool | None
    widened: bool | None
    reason: str = ""


def effect_of(old: Json, new: Json, old_root: Json, new_root: Json) -> Effect:
    """Return what has become of a schema."""
    forth, back = accepts(new, old, new_root, old_root), accepts(old, new, old_root, new_root)
    narrowed, widened = (None if each.holds is None else not each.holds for each in (forth, back))
    return Effect(narrowed, widened, forth.reason or back.reason)


def changed_groups(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, Json, Json]]:
    """Yield the groups that differ, with their keywords before and after."""
    for group, names in GROUPS.items():
        before, after = ({name: each[name] for name in names if name in each} for each in (old, new))
        if before != after:
            yield group, before, after


def with_type(keywords: Mapping[str, Json], schema: Mapping[str, Json]) -> Json:
    """Return keywords with the type beside them, on which it depends whether they mean anything."""
    return {**({"type": schema["type"]} if "type" in schema else {}), **keywords}


def annotation_changes(tool: str, side: Side, pointer: str, old: Object, new: Object) -> Iterator[Change]:
    """Yield the changes of annotations of one schema."""
    for name in sorted({*old, *new} - MEANINGFUL):
        if old.get(name) == new.get(name) and (name in old) == (name in new):
            continue
        rule = f"{side.name}-{TEXTS.get(name, 'annotation')}-changed"
        rule = rule if rule in rules.RULES else f"{side.name}-annotation-changed"
        message = f"{label(pointer)}: {name} is {_verb(name, old, new)}"
        details = {"pointer": f"{pointer}/{escaped(name)}", "old": old.get(name), "new": new.get(name)}
        yield change(rule, "tool", tool, message, **details)


def _verb(name: str, old: Object, new: Object) -> str:
    if name not in old:
        return "new"
    return "gone" if name not in new else "another"
