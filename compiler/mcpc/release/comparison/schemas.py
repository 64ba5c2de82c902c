"""Changes of a tool's input or output schema.

A walk through both schemas names what has changed, and where; the subsumption of the whole schemas decides.  If all
that the old input schema accepts is still accepted, no narrower keyword breaks a caller; if not, there is a witness.

For outputs it is the reverse: what the new schema describes must be what the old one described.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.annotations import annotation_changes
from mcpc.release.comparison.declared import closed
from mcpc.release.comparison.keywords import COMBINED, Effect, changed_groups, effect_of, in_context
from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.pointers import escaped, label, quoted_value, resolved
from mcpc.release.comparison.properties import Side, property_changes
from mcpc.release.comparison.rules import RULES, Impact
from mcpc.release.subsumption import Answer, Decision, subsumes
from mcpc.release.subsumption.branches import KINDS

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
    is_input = side is INPUT
    return settled(walk, subsumes(closed(old), new, ("object",)) if is_input else subsumes(closed(new), old, KINDS))


def settled(walk: SchemaWalk, decision: Decision) -> list[Change]:
    """Return the changes of a walk, with the verdicts that the whole schemas demand."""
    side = walk.side
    if decision.answer is Answer.YES:
        return [_without_effect(each, side) for each in walk.changes]
    if decision.answer is Answer.UNDECIDED:
        changes = [_in_doubt(each, side, decision) if each in walk.combined else each for each in walk.changes]
        if any(each.verdict in (Impact.BREAKING, Impact.UNDECIDED) for each in changes):
            return changes
        message = "it cannot be decided what this changes for clients"
        rule = f"{side.name}-schema-undecided"
        return [*changes, change(rule, "tool", walk.tool, message, pointer=f"/{side.member}", reason=decision.reason)]
    if any(each.verdict is Impact.BREAKING for each in walk.changes):
        return walk.changes
    verb = "is refused now" if side is INPUT else "is possible now, and was not"
    message = f"{quoted_value(decision.witness)} {verb}"
    details = {"pointer": f"/{side.member}", "witness": (decision.witness,)}
    return [*walk.changes, change(f"{side.name}-schema-{side.worse}", "tool", walk.tool, message, **details)]


def _without_effect(each: Change, side: Side) -> Change:
    if each.verdict not in (Impact.BREAKING, Impact.UNDECIDED) or each.rule in BY_RULE:
        return each
    rule = f"{side.name}-schema-rewritten"
    return replace(each, rule=rule, verdict=RULES[rule].verdict, witness=(), reason=STILL[side.name])


def _in_doubt(each: Change, side: Side, decision: Decision) -> Change:
    if each.verdict is not Impact.BREAKING:
        return each
    rule = f"{side.name}-schema-undecided"
    return replace(each, rule=rule, verdict=RULES[rule].verdict, reason=decision.reason)


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
            effect = effect_of(self._whole(old, self.old_root), self._whole(new, self.new_root))
            self._add(pointer, "the schema", (old, new), effect)
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
        joint = self._effect(old, new, [*groups])
        if self._is_worse(joint) is not False:
            found = [(group, self._effect(old, new, [group])) for group in groups if group not in COMBINED]
            worse = [(group, effect) for group, effect in found if self._is_worse(effect)]
            for group, effect in worse:
                self._add(f"{pointer}/{_keyword(group, *groups[group])}", f"`{group}`", groups[group], effect)
            if worse:
                return
        names = ", ".join(f"`{group}`" for group in groups)
        before = {name: each for one, _ in groups.values() for name, each in one.items()}
        after = {name: each for _, other in groups.values() for name, each in other.items()}
        count = len(self.changes)
        at = f"{pointer}/{_keyword(next(iter(groups)), before, after)}" if len(groups) == 1 else pointer
        self._add(at, names, (before, after), joint)
        if any(group in COMBINED for group in groups):
            self.combined += self.changes[count:]

    def _effect(self, old: Object, new: Object, groups: list[str]) -> Effect:
        chosen = {group: (before, after) for group, before, after in changed_groups(old, new) if group in groups}
        before = {name: each for one, _ in chosen.values() for name, each in one.items()}
        after = {name: each for _, other in chosen.values() for name, each in other.items()}
        group = "type" if "type" in groups else groups[0]
        return effect_of(in_context(before, old, self.old_root, group), in_context(after, old, self.new_root, group))

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
        pair = zip(rows, (self.old_root, self.new_root), strict=True)
        effect = effect_of(*(in_context(each, {}, root, "type") for each, root in pair))
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
            effect = effect_of(
                in_context(before, {"type": "array"}, self.old_root, "items"),
                in_context(after, {"type": "array"}, self.new_root, "items"),
            )
            self._add(f"{pointer}/items", "`items`", (before, after), effect)

    def _whole(self, schema: Json, root: Json) -> Json:
        return in_context(schema, {}, root, "type") if isinstance(schema, dict) else schema

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
    worse, better = effect.witness, effect.added
    if side.worse == "widened":
        is_worse, is_better, worse, better = is_better, is_worse, better, worse
    details = {"pointer": pointer, "old": values[0], "new": values[1]}
    place = f"{label(pointer)}: {what}"
    if is_worse:
        verb = "is refused now" if side.worse == "narrowed" else "is possible now"
        message = f"{place}: {quoted_value(worse[0])} {verb}"
        return change(f"{side.name}-schema-{side.worse}", "tool", walk.tool, message, witness=worse, **details)
    if is_worse is None:
        rule = f"{side.name}-schema-undecided"
        return change(rule, "tool", walk.tool, f"{place} cannot be compared", reason=effect.reason, **details)
    if is_better is False:
        rule = f"{side.name}-schema-rewritten"
        return change(rule, "tool", walk.tool, f"{place} is written differently, and means the same", **details)
    verb = "accepts more" if side.worse == "narrowed" else "is more exact"
    return change(f"{side.name}-schema-{side.better}", "tool", walk.tool, f"{place} {verb}", witness=better, **details)


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
