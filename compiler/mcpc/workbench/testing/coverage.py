"""What of a server's definitions has a case: tools, prompts, resources, completions, and branches of input schemas.

Branches are a property that is given, an optional one that is left out, a member of an enumeration, and an alternative
of `oneOf` or `anyOf`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpc.workbench.testing.expectations import at_pointer, compact, same
from mcpc.workbench.testing.model import Absent, CompletedArgument
from mcpc.workbench.testing.running import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.workbench.testing.model import Case

    Json = Any

MAX_DEPTH = 6
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Item:
    """A definition or a branch: its name, and whether a case uses it."""

    name: str
    is_used: bool


def coverage(facts: Mapping[str, Json], cases: Sequence[Case]) -> list[Item]:
    """Return all definitions and branches of a server; `facts`: of the built file."""
    covered: list[Item] = []
    for kind, list_name, key in (
        ("tool", "tools", "name"),
        ("prompt", "prompts", "name"),
        ("resource", "resources", "uri"),
    ):
        items = facts.get(list_name)
        for item in items if isinstance(items, list) else ():
            own = [case for case in cases if case.kind == kind and case.target == item[key]]
            covered.append(Item(f"{kind} {item[key]}", bool(own)))
            if own and kind == "tool":
                schema = item.get("inputSchema") or {}
                covered += Branches(f"tool {item[key]}", schema).of(
                    schema, [dict(case.arguments) for case in own], "", 0
                )
    # Without what was typed, as the completions of the file are.
    used = {replace(case.completed, value="") for case in cases if case.completed}
    covered += [Item(f"completion {each.name}", each in used) for each in completed_arguments(facts)]
    return covered


def completed_arguments(facts: Mapping[str, Json]) -> list[CompletedArgument]:
    """Return the arguments for which a built file has completions."""
    completions = facts.get("completions")
    return [
        _completed(each["ref"], each["argument"]) for each in (completions if isinstance(completions, list) else ())
    ]


def _completed(ref: Mapping[str, str], argument: str) -> CompletedArgument:
    kind, member = ("prompt", "name") if "name" in ref else ("resource", "uri")
    return CompletedArgument(kind, ref[member], argument)


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of one tool's input schema.  `head`: its name in reports."""

    head: str
    root: Json

    def of(self, schema: Json, values: Sequence[Json], pointer: str, depth: int) -> Iterator[Item]:
        """Yield the branches of a part of the schema, which the values at `pointer` of all cases use or do not use."""
        schema = self._resolved(schema)
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return
        yield from self._members(schema, values, pointer)
        yield from self._alternatives(schema, values, pointer)
        objects = [value for value in values if isinstance(value, dict)]
        for name, part in (schema.get("properties") or {}).items():
            place = f"{pointer}/{name}"
            given = [value[name] for value in objects if name in value]
            yield self._item(place, "is given", bool(given))
            if name not in schema.get("required", ()):
                yield self._item(place, "is left out", len(given) < len(objects))
            yield from self.of(part, given, place, depth + 1)
        items = [item for value in values if isinstance(value, list) for item in value]
        yield from self.of(schema.get("items"), items, f"{pointer}/-", depth + 1)

    def _members(self, schema: Mapping[str, Json], values: Sequence[Json], pointer: str) -> Iterator[Item]:
        for member in schema.get("enum") or ():
            yield self._item(pointer, f"is {compact(member)}", any(same(value, member) for value in values))

    def _alternatives(self, schema: Mapping[str, Json], values: Sequence[Json], pointer: str) -> Iterator[Item]:
        for keyword in ("oneOf", "anyOf"):
            for number, part in enumerate(schema.get(keyword) or ()):
                definitions = {key: self.root[key] for key in ("$defs", "definitions") if key in self.root}
                validator = compiled({**definitions, **part} if isinstance(part, dict) else part)
                # What cannot be compiled cannot be told, and is not held against the cases.
                is_used = validator is None or any(map(validator.accepts, values))
                yield self._item(pointer, f"is alternative {number + 1} of {keyword}", is_used)

    def _resolved(self, schema: Json) -> Json:
        # References may lead in a circle.
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, dict) or "$ref" not in schema:
                return schema
            target = at_pointer(self.root, str(schema["$ref"]).removeprefix("#"))
            schema = None if isinstance(target, Absent) else target
        return None

    def _item(self, pointer: str, what: str, is_used: bool) -> Item:
        return Item(f"{self.head}: {pointer or '(all)'} {what}", is_used)


def percentage(items: Sequence[Item]) -> float:
    """Return how much is used, in percent; 100 if there is nothing."""
    return 100 * sum(item.is_used for item in items) / len(items) if items else 100.0


def coverage_lines(items: Sequence[Item]) -> list[str]:
    """Return the percentage, and what no case uses."""
    unused = [item.name for item in items if not item.is_used]
    used = len(items) - len(unused)
    head = f"coverage: {used} of {len(items)} definitions and branches ({percentage(items):.0f} %)"
    more = [f"  … and {len(unused) - SHOWN} more"] if len(unused) > SHOWN else []
    return [head, *(f"  no case: {name}" for name in unused[:SHOWN]), *more]
