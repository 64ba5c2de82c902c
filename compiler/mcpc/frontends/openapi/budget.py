"""What clients see of a large input schema: all arguments, and of each as much of its depth as the budget allows.

Calls are checked by the whole schema; what is not shown is described by the API, and a refused call names the part.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.frontends.openapi.keywords import ANNOTATING, DEFINITIONS
from mcpc.frontends.openapi.texts import shortened

if TYPE_CHECKING:
    from mcpc.frontends.openapi.keywords import Json

DEPTHS = (6, 5, 4, 3, 2, 1)
SHORT = 100
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")
LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
PARTS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


class OverBudgetError(Exception):
    """More values than the budget has room for."""


def size_of(schema: Json) -> int:
    """Return the bytes of a schema in a list."""
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())


def shown_schema(schema: dict[str, Json], budget: int) -> dict[str, Json]:
    """Return the schema itself if it fits, else the deepest part of it that does, else its arguments alone."""
    if size_of(schema) <= budget:
        return schema
    for depth in DEPTHS:
        try:
            smaller: dict[str, Json] = _Shown(schema.get("$defs", {}), budget).schema(schema, depth + 1)
        except OverBudgetError:
            continue
        if size_of(smaller) <= budget:
            return smaller
    shallow = _Shown(schema.get("$defs", {}), 1 << 62)
    short = {name: shallow.outline(part, SHORT) for name, part in schema["properties"].items()}
    smaller = {**schema, "properties": short}
    smaller.pop("$defs", None)
    if size_of(smaller) > budget:
        smaller["properties"] = {name: shallow.outline(part, 0) for name, part in schema["properties"].items()}
    return smaller


def without_texts(schema: Json) -> Json:
    """Return a schema that judges the same and describes nothing: what clients see is another one."""
    if not isinstance(schema, dict):
        return schema
    smaller: dict[str, Json] = {}
    for key, value in schema.items():
        if key in NAMED:
            smaller[key] = {name: without_texts(part) for name, part in value.items()}
        elif key in LISTED:
            smaller[key] = [without_texts(part) for part in value]
        elif key not in ANNOTATING:
            smaller[key] = without_texts(value) if key in PARTS else value
    return smaller


class _Shown:
    """Writes a schema to a depth, with what it refers to in its place."""

    def __init__(self, definitions: dict[str, Json], budget: int) -> None:
        self._definitions = definitions
        # Nearly every part takes eight bytes or more: a schema of more parts than this would be too large.
        self._left = budget // 8

    def schema(self, schema: Json, depth: int) -> Json:
        """Return a schema whose parts are shown to a depth."""
        self._left -= 1
        if self._left < 0:
            raise OverBudgetError
        if not isinstance(schema, dict):
            return schema
        schema = self._resolved(schema)
        if depth <= 0:
            return self.outline(schema, SHORT)
        smaller = {key: value for key, value in schema.items() if key != "$defs"}
        for key, value in smaller.items():
            if key in NAMED:
                smaller[key] = {name: self.schema(part, depth - 1) for name, part in value.items()}
            elif key in PARTS:
                smaller[key] = self.schema(value, depth - 1)
            elif key in LISTED:
                smaller[key] = [self.schema(part, depth - 1) for part in value]
        return smaller

    def outline(self, schema: Json, longest: int) -> Json:
        """Return only what kind of value a schema describes."""
        if not isinstance(schema, dict):
            return schema
        schema = self._resolved(schema)
        if not any(key in schema for key in ("properties", *PARTS, "anyOf", "oneOf", "allOf")):
            short = {key: value for key, value in schema.items() if key != "enum" or len(value) <= 20}
        else:
            kind = schema.get("type", "object" if "properties" in schema else None)
            short = {key: value for key, value in (("type", kind), ("description", schema.get("description"))) if value}
            short |= {"items": {}} if kind == "array" else {}
        text = shortened(short.pop("description", ""), longest) if longest else short.pop("description", "") and ""
        return {**short, "description": text} if text else short

    def _resolved(self, schema: dict[str, Json]) -> dict[str, Json]:
        # A definition may be nothing but a reference, also to itself.
        for _ in range(20):
            name = schema.get("$ref")
            if not isinstance(name, str):
                break
            target = self._definitions.get(name.removeprefix(DEFINITIONS), {})
            target = target if isinstance(target, dict) else {}
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
        return {key: value for key, value in schema.items() if key != "$ref"}
