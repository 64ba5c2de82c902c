"""Changes of a tool's input or output schema.

A walk through both schemas names what has changed, and where; whether the new schema as a whole accepts what the old
one accepts decides.  If it does, no narrower keyword breaks a caller.  For outputs it is the reverse: what the new
schema describes must be what the old one described.

Keywords are compared in groups: does what the old keywords of a group accept remain accepted, and the reverse.  So a
change is named where it is, whatever else has changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.inclusion import KEYWORD_RULES, OWNERS, Answer, accepts
from mcpc.release.comparison.placed_schemas import closed, escaped, label, quoted_value, resolved
from mcpc.release.comparison.rules import RULES, Change, Impact, change, likely_property

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Object = dict[str, Any]
    Json = Any


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
    before, after = _objects(old, "properties"), _objects(new, "properties")
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


def _required(schema: Object) -> set[str]:
    names = schema.get("required")
    return {each for each in names if isinstance(each, str)} if isinstance(names, list) else set()


APART = ("properties", "required", "items", "$ref")
"""Rules of keywords that are compared part by part."""
GROUPS = {name: keywords for name, (_, keywords, _) in KEYWORD_RULES.items() if name not in APART}
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
    for name in sorted({*old, *new} - MEANINGFUL):
        # A keyword whose value is null differs from one that is not there.
        if old.get(name) == new.get(name) and (name in old) == (name in new):
            continue
        rule = f"{side.name}-{TEXTS.get(name, 'annotation')}-changed"
        # Results have no rules for defaults, examples and deprecation.
        rule = rule if rule in RULES else f"{side.name}-annotation-changed"
        verb = "new" if name not in old else "gone" if name not in new else "another"
        message = f"{label(pointer)}: {name} is {verb}"
        details = {"pointer": f"{pointer}/{escaped(name)}", "old": old.get(name), "new": new.get(name)}
        yield change(rule, "tool", tool, message, **details)


INPUT = Side("input", "inputSchema", "narrowed", "widened")
OUTPUT = Side("output", "outputSchema", "widened", "narrowed")
MAX_DEPTH = 40
BY_RULE = ("input-property-removed", "output-property-removed", "input-additional-refused")
"""Breaking whatever the schemas accept, because callers mean something by it."""
STILL = {
    "input": "all arguments that were accepted still are",
    "output": "all results are still as they were described",
}


def schema_changes(tool: str, side: Side, old: Json, new: Json) -> list[Change]:
    if old == new:
        return []
    walk = SchemaWalk(tool, side, old, new)
    walk.compare(f"/{side.member}", old, new)
    # Closed is the side that makes values: callers by the old input schema, the server by its new output schema.
    return settled(walk, accepts(new, closed(old), kind="object") if side is INPUT else accepts(old, closed(new)))


def settled(walk: SchemaWalk, answer: Answer) -> list[Change]:
    """Return the changes of a walk, with the verdicts that the whole schemas demand."""
    side = walk.side
    if answer.holds:
        return [_without_effect(each, side) for each in walk.changes]
    if answer.holds is None:
        changes = [_in_doubt(each, side, answer) if each in walk.combined else each for each in walk.changes]
        if any(each.verdict in (Impact.BREAKING, Impact.UNDECIDED) for each in changes):
            return changes
        message = "it cannot be decided what this changes for clients"
        rule = f"{side.name}-schema-undecided"
        return [*changes, change(rule, "tool", walk.tool, message, pointer=f"/{side.member}", reason=answer.reason)]
    if any(each.verdict is Impact.BREAKING for each in walk.changes):
        return walk.changes
    # The whole is worse, although no place in it looks so.
    rule = f"{side.name}-schema-{side.worse}"
    return [*walk.changes, change(rule, "tool", walk.tool, RULES[rule].title, pointer=f"/{side.member}")]


def _without_effect(each: Change, side: Side) -> Change:
    if each.verdict not in (Impact.BREAKING, Impact.UNDECIDED) or each.rule in BY_RULE:
        return each
    rule = f"{side.name}-schema-rewritten"
    return replace(each, rule=rule, verdict=RULES[rule].verdict, reason=STILL[side.name])


def _in_doubt(each: Change, side: Side, answer: Answer) -> Change:
    if each.verdict is not Impact.BREAKING:
        return each
    rule = f"{side.name}-schema-undecided"
    return replace(each, rule=rule, verdict=RULES[rule].verdict, reason=answer.reason)


@dataclass(slots=True)
class SchemaWalk:
    """A walk through both schemas of a tool; `combined`: changes in or below `allOf`, `anyOf`, `not` and the like."""

    tool: str
    side: Side
    old_root: Json
    new_root: Json
    changes: list[Change] = field(default_factory=list)
    combined: list[Change] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _depth: int = 0

    def compare(self, pointer: str, old: Json, new: Json) -> None:
        """Compare two schemas that are at the same place."""
        old, new = resolved(old, self.old_root), resolved(new, self.new_root)
        key = json.dumps([old, new], sort_keys=True)
        if old == new or key in self._seen or self._depth > MAX_DEPTH:
            return
        self._seen.add(key)
        self._depth += 1
        if isinstance(old, dict) and isinstance(new, dict):
            self._compare_objects(pointer, old, new)
        else:
            self._add(pointer, "the schema", (old, new), self._effect(old, new))
        self._depth -= 1

    def _compare_objects(self, pointer: str, old: Object, new: Object) -> None:
        self.changes += annotation_changes(self.tool, self.side, pointer, old, new)
        self._compare_groups(pointer, old, new)
        self.changes += property_changes(self.tool, self.side, pointer, old, new)
        for name in sorted(_objects(old, "properties").keys() & _objects(new, "properties").keys()):
            self.compare(f"{pointer}/properties/{escaped(name)}", old["properties"][name], new["properties"][name])
        self._compare_others(pointer, old, new)
        self._compare_items(pointer, old, new)
        for each in ("anyOf", "oneOf", "allOf"):
            if _is_paired(old.get(each), new.get(each)):
                before = len(self.changes)
                for number, (one, other) in enumerate(zip(old[each], new[each], strict=True)):
                    self.compare(f"{pointer}/{each}/{number}", one, other)
                self.combined += self.changes[before:]

    def _compare_groups(self, pointer: str, old: Object, new: Object) -> None:
        """Compare the keywords that describe this value itself."""
        groups = {
            group: (before, after)
            for group, before, after in changed_groups(old, new)
            # These are compared one by one in `_compare_objects`.
            if not _is_paired(before.get(group), after.get(group))
        }
        if not groups:
            return
        before, after = (
            {name: each for row in rows for name, each in row.items()} for rows in zip(*groups.values(), strict=True)
        )
        # A type that has changed is a group itself, and would be overwritten by the old one.
        context = {} if "type" in groups else old
        joint = self._effect(with_type(before, context), with_type(after, context))
        # Groups that together are no worse are one change: a narrower one among them is outweighed by another.
        if self._is_worse(joint) is not False:
            rows = {
                name: [with_type(each, {} if name == "type" else old) for each in pair] for name, pair in groups.items()
            }
            effects = [(name, self._effect(*pair)) for name, pair in rows.items() if name not in COMBINED]
            worse = [(group, effect) for group, effect in effects if self._is_worse(effect)]
            for group, effect in worse:
                self._add(f"{pointer}/{_keyword(group, *groups[group])}", f"`{group}`", groups[group], effect)
            if worse:
                return
        names = ", ".join(f"`{group}`" for group in groups)
        count = len(self.changes)
        at = f"{pointer}/{_keyword(next(iter(groups)), before, after)}" if len(groups) == 1 else pointer
        self._add(at, names, (before, after), joint)
        if any(group in COMBINED for group in groups):
            self.combined += self.changes[count:]

    def _effect(self, old: Json, new: Json) -> Effect:
        forth = accepts(new, old, self.new_root, self.old_root)
        back = accepts(old, new, self.old_root, self.new_root)
        narrowed, widened = (None if each.holds is None else not each.holds for each in (forth, back))
        return Effect(narrowed, widened, forth.reason or back.reason)

    def _compare_others(self, pointer: str, old: Object, new: Object) -> None:
        """Compare `additionalProperties`."""
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if before == after:
            return
        at = f"{pointer}/additionalProperties"
        if isinstance(before, dict) and isinstance(after, dict):
            self.compare(at, before, after)
            return
        # Declared properties accept everything here, because they are compared by themselves.
        names = dict.fromkeys((*_objects(old, "properties"), *_objects(new, "properties")), True)
        rows = [{"type": "object", "properties": names, "additionalProperties": each} for each in (before, after)]
        effect = self._effect(*rows)
        if self.side.name == "input" and effect.narrowed:
            message = f"{label(pointer)}: properties that are not declared are refused now"
            self.changes.append(self._change("input-additional-refused", at, message, old=before, new=after))
        elif self.side.name == "input" and effect.widened:
            message = f"{label(pointer)}: properties that are not declared are accepted now"
            self.changes.append(self._change("input-additional-accepted", at, message, old=before, new=after))
        else:
            self._add(at, "`additionalProperties`", (before, after), effect)

    def _compare_items(self, pointer: str, old: Object, new: Object) -> None:
        if isinstance(old.get("items"), dict) and isinstance(new.get("items"), dict):
            self.compare(f"{pointer}/items", old["items"], new["items"])
        if _is_paired(old.get("prefixItems"), new.get("prefixItems")):
            for number, (one, other) in enumerate(zip(old["prefixItems"], new["prefixItems"], strict=True)):
                self.compare(f"{pointer}/prefixItems/{number}", one, other)
            return
        names = ("items", "prefixItems", "additionalItems")
        before, after = ({name: each[name] for name in names if name in each} for each in (old, new))
        are_compared = before.keys() == after.keys() == {"items"} and all(
            isinstance(each["items"], dict) for each in (before, after)
        )
        if before != after and not are_compared:
            effect = self._effect({"type": "array", **before}, {"type": "array", **after})
            self._add(f"{pointer}/items", "`items`", (before, after), effect)

    def _is_worse(self, effect: Effect) -> bool | None:
        return effect.narrowed if self.side.worse == "narrowed" else effect.widened

    def _add(self, pointer: str, what: str, values: tuple[Json, Json], effect: Effect) -> None:
        """Add the change of a part that the walk goes no deeper into."""
        self.changes.append(effect_change(self, pointer, what, values, effect))

    def _change(self, rule: str, pointer: str, message: str, **details: Any) -> Change:
        return change(rule, "tool", self.tool, message, pointer=pointer, **details)


def effect_change(walk: SchemaWalk, pointer: str, what: str, values: tuple[Json, Json], effect: Effect) -> Change:
    side = walk.side
    is_worse, is_better = effect.narrowed, effect.widened
    if side.worse == "widened":
        is_worse, is_better = is_better, is_worse
    details = {"pointer": pointer, "old": values[0], "new": values[1]}
    place, became = f"{label(pointer)}: {what}", f"{quoted_value(values[0])} became {quoted_value(values[1])}"
    if is_worse:
        verb = "accepts less" if side.worse == "narrowed" else "allows more"
        return change(f"{side.name}-schema-{side.worse}", "tool", walk.tool, f"{place} {verb}: {became}", **details)
    if is_worse is None:
        rule = f"{side.name}-schema-undecided"
        message = f"{place} cannot be compared: {became}"
        return change(rule, "tool", walk.tool, message, reason=effect.reason, **details)
    if is_better is False:
        rule = f"{side.name}-schema-rewritten"
        return change(rule, "tool", walk.tool, f"{place} is written differently, and means the same", **details)
    verb = "accepts more" if side.worse == "narrowed" else "is more exact"
    return change(f"{side.name}-schema-{side.better}", "tool", walk.tool, f"{place} {verb}: {became}", **details)


def _keyword(group: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    """Return the keyword that a change of a group is placed at."""
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return changed[0] if changed else group


def _is_paired(one: Json, other: Json) -> bool:
    """Tell whether two lists of schemas are compared one by one."""
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return False
    return all(isinstance(each, dict | bool) for each in (*one, *other))


def _objects(schema: Object, name: str) -> Object:
    members = schema.get(name)
    return members if isinstance(members, dict) else {}
