"""Changes of a tool's input or output schema.

A walk through both schemas names what has changed, and where; whether the new schema as a whole accepts what the old
one accepts decides.  If it does, no narrower keyword breaks a caller.

For outputs it is the reverse: what the new schema describes must be what the old one described.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.declared import closed
from mcpc.release.comparison.inclusion import Answer, accepts
from mcpc.release.comparison.keywords import COMBINED, Effect, annotation_changes, changed_groups, effect_of, with_type
from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.pointers import escaped, label, quoted_value, resolved
from mcpc.release.comparison.properties import Side, property_changes
from mcpc.release.comparison.rules import RULES, Impact

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Any
    Object = dict[str, Any]

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
    """Return the changes of a schema of a tool."""
    if old == new:
        return []
    walk = SchemaWalk(tool, side, old, new)
    walk.compare(f"/{side.member}", old, new)
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
            if not _is_paired(before.get(group), after.get(group))
        }
        if not groups:
            return
        before, after = (
            {name: each for row in rows for name, each in row.items()} for rows in zip(*groups.values(), strict=True)
        )
        context = {} if "type" in groups else old
        joint = self._effect(with_type(before, context), with_type(after, context))
        if self._is_worse(joint) is not False:
            rows = {
                name: [with_type(each, {} if name == "type" else old) for each in pair] for name, pair in groups.items()
            }
            found = [(name, self._effect(*pair)) for name, pair in rows.items() if name not in COMBINED]
            worse = [(group, effect) for group, effect in found if self._is_worse(effect)]
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
        return effect_of(old, new, self.old_root, self.new_root)

    def _compare_others(self, pointer: str, old: Object, new: Object) -> None:
        """Compare `additionalProperties`."""
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if before == after:
            return
        at = f"{pointer}/additionalProperties"
        if isinstance(before, dict) and isinstance(after, dict):
            self.compare(at, before, after)
            return
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
        """Compare the schemas of items."""
        if isinstance(old.get("items"), dict) and isinstance(new.get("items"), dict):
            self.compare(f"{pointer}/items", old["items"], new["items"])
        if _is_paired(old.get("prefixItems"), new.get("prefixItems")):
            for number, (one, other) in enumerate(zip(old["prefixItems"], new["prefixItems"], strict=True)):
                self.compare(f"{pointer}/prefixItems/{number}", one, other)
            return
        names = ("items", "prefixItems", "additionalItems")
        before, after = ({name: each[name] for name in names if name in each} for each in (old, new))
        if before != after and not (before.keys() == after.keys() == {"items"} and _are_objects(before, after)):
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
    """Return the change that an effect is."""
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
    return isinstance(one, list) and isinstance(other, list) and len(one) == len(other) and _are_schemas(one, other)


def _are_schemas(one: list[Json], other: list[Json]) -> bool:
    return all(isinstance(each, dict | bool) for each in (*one, *other))


def _are_objects(before: Object, after: Object) -> bool:
    return isinstance(before["items"], dict) and isinstance(after["items"], dict)


def _objects(schema: Object, name: str) -> Object:
    found = schema.get(name)
    return found if isinstance(found, dict) else {}
