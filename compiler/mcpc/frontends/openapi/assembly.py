"""Self-contained schemas: which definitions a tool needs, and which of them stand in the place where they are used.

What is used once, or is small, stands in its place; everything else is in `$defs`, and so is what leads to itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.frontends.openapi.keywords import ANNOTATING, DEEPEST, DEFINITIONS, parts_of
from mcpc.schema.graph import components, is_cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.openapi.keywords import Json
    from mcpc.frontends.openapi.schemas import Schemas

SMALL = 160
"""Bytes of a schema that stands in each place where it is used."""


def names_in(schema: Json) -> Iterator[str]:
    """Yield the name of each definition that a schema refers to, as often as it does."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(DEFINITIONS)
        waiting += parts_of(value)


def one_type_each(items: Json) -> Json:
    """Return a schema of what is in a list without a list of types, which some clients refuse there."""
    kinds = items.get("type") if isinstance(items, dict) else None
    if not isinstance(kinds, list):
        return items
    judged = {key: value for key, value in items.items() if key not in (*ANNOTATING, "type")}
    annotations = {key: value for key, value in items.items() if key in ANNOTATING}
    return {**annotations, "anyOf": [{"type": kind, **judged} for kind in kinds]}


class Assembly:
    """One self-contained schema: which definitions it needs, and which of them stand in their places."""

    def __init__(self, schemas: Schemas, root: dict[str, Json]) -> None:
        self._schemas = schemas
        self.root = root
        self.uses: dict[str, tuple[str, ...]] = {}
        self._times: dict[str, int] = {}
        self._collect(root)
        circular = {name for part in components(self.uses) if is_cycle(part, self.uses) for name in part}
        self._placed = {name for name in self.uses if name not in circular and self._stands_in_place(name)}

    def _collect(self, root: Json) -> None:
        waiting = list(names_in(root))
        self._times = {}
        while waiting:
            name = waiting.pop()
            self._times[name] = self._times.get(name, 0) + 1
            if name not in self.uses:
                wrong = self._schemas.failure(name)
                if wrong is not None:
                    # A definition that cannot be had costs the operations that need it, and no others.
                    raise wrong
                self.uses[name] = tuple(names_in(self._schemas.definitions[name]))
                waiting += self.uses[name]

    def _stands_in_place(self, name: str) -> bool:
        assembled = self._schemas.definitions[name]
        # Without references of its own, each use costs at most SMALL bytes: nothing multiplies along a chain.
        is_small = not self.uses[name] and len(json.dumps(assembled, ensure_ascii=False)) <= SMALL
        return self._times[name] == 1 or is_small

    def schema(self) -> dict[str, Json]:
        """Return the schema with the definitions that it still refers to."""
        assembled: dict[str, Json] = self._written(self.root, 0)
        kept: dict[str, Json] = {}
        waiting = list(names_in(assembled))
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept[name] = self._written(self._schemas.definitions[name], 0)
                waiting += names_in(kept[name])
        return {**assembled, "$defs": dict(sorted(kept.items()))} if kept else assembled

    def _written(self, value: Json, depth: int) -> Json:
        """Return a value with definitions in their places, as far as it does not become too deep."""
        if isinstance(value, list):
            return [self._written(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        name = value["$ref"].removeprefix(DEFINITIONS) if isinstance(value.get("$ref"), str) else ""
        if name not in self._placed or depth > DEEPEST:
            assembled = {key: self._written(each, depth + 1) for key, each in value.items()}
            return {**assembled, "items": one_type_each(assembled["items"])} if "items" in assembled else assembled
        beside = {key: self._written(each, depth + 1) for key, each in value.items() if key != "$ref"}
        placed = self._written(self._schemas.definitions[name], depth + 1)
        if ANNOTATING.issuperset(beside) and isinstance(placed, dict):
            return {**placed, **beside}
        return {**beside, "allOf": [placed, *beside.get("allOf", [])]}
