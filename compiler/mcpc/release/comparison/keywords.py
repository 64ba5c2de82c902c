"""The keywords of one schema object in groups that are decided together, and what has become of each group.

A group is decided by itself: does what the old keywords of the group accept remain accepted, and the reverse.  So a
change is named where it is, whatever else has changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.subsumption import Answer, subsumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.subsumption import Decision

    Json = Any

GROUPS = {
    "type": ("type",),
    "enum": ("enum", "const"),
    "bounds": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "multipleOf": ("multipleOf",),
    "length": ("minLength", "maxLength"),
    "pattern": ("pattern",),
    "format": ("format",),
    "number of items": ("minItems", "maxItems"),
    "uniqueItems": ("uniqueItems",),
    "contains": ("contains", "minContains", "maxContains"),
    "number of properties": ("minProperties", "maxProperties"),
    "propertyNames": ("propertyNames",),
    "patternProperties": ("patternProperties",),
    "dependencies": ("dependentRequired", "dependentSchemas", "dependencies"),
    "allOf": ("allOf",),
    "anyOf": ("anyOf",),
    "oneOf": ("oneOf",),
    "not": ("not",),
    "condition": ("if", "then", "else"),
    "unevaluated": ("unevaluatedProperties", "unevaluatedItems"),
    "reference": ("$dynamicRef", "$recursiveRef"),
}
COMBINED = ("allOf", "anyOf", "oneOf", "not", "condition", "dependencies", "unevaluated", "reference")
"""Groups whose effect depends on other keywords, so that only the whole schema decides whether they break callers."""
STRUCTURE = ("properties", "required", "additionalProperties", "items", "prefixItems", "additionalItems", "$ref")
"""Keywords that are compared part by part."""
HOLDERS = ("$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment")


@dataclass(frozen=True, slots=True)
class Effect:
    """What has become of what a schema accepts.

    `narrowed`: something is refused now; `widened`: something is accepted now; None: undecided.
    """

    narrowed: bool | None
    widened: bool | None
    witness: tuple[Json, ...] = ()
    added: tuple[Json, ...] = ()
    reason: str = ""


def effect_of(old: Json, new: Json) -> Effect:
    """Return what has become of a schema."""
    forth, back = subsumes(old, new), subsumes(new, old)
    return Effect(_is_no(forth), _is_no(back), _witness(forth), _witness(back), forth.reason or back.reason)


def _is_no(decision: Decision) -> bool | None:
    return None if decision.answer is Answer.UNDECIDED else decision.answer is Answer.NO


def _witness(decision: Decision) -> tuple[Json, ...]:
    return (decision.witness,) if decision.answer is Answer.NO else ()


def changed_groups(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, Json, Json]]:
    """Yield the groups that differ, with their keywords before and after."""
    for group, names in GROUPS.items():
        before, after = ({name: each[name] for name in names if name in each} for each in (old, new))
        if before != after:
            yield group, before, after


def in_context(keywords: Mapping[str, Json], schema: Mapping[str, Json], root: Json, group: str) -> Json:
    """Return the keywords of a group as a whole schema: with the type beside them, and what references lead to."""
    found = dict(keywords)
    if group != "type" and "type" in schema:
        found["type"] = schema["type"]
    if isinstance(root, dict):
        found.update((name, root[name]) for name in ("$schema", "$defs", "definitions") if name in root)
    return found
