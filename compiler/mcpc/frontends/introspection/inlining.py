"""Inlining of definitions, in place of the references to them, in schemas that are derived from type hints.

    {"properties": {"unit": {"$ref": "#/$defs/Unit"}}, "$defs": {"Unit": {"enum": ["C", "F"]}}}
    {"properties": {"unit": {"enum": ["C", "F"]}}}

Several clients cannot read a `$ref`.  The rule: a recursive definition is not inlined.  One that is used once is
inlined.  One that is used several times is inlined if the schema then has at most `MAX_INLINED_BYTES` bytes or
`MAX_GROWTH` times its size, the cheapest first.  Both schemas accept the same values.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpc.schema.graph import components, is_cycle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Schema = dict[str, Any]

MAX_INLINED_BYTES, MAX_GROWTH = 4096, 2
"""The maximum size of a schema with inlined definitions, in bytes of JSON, or as a multiple of its original size."""
MAX_DEPTH, MAX_INLINED = 60, 100
"""A schema that would be nested more deeply is not changed; so many definitions that are used several times go."""
PREFIX = "#/$defs/"
SCHEMA_KEYWORDS = frozenset(
    {
        *("additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"),
        *("unevaluatedItems", "unevaluatedProperties"),
    }
)
"""Keywords whose value is a schema."""
SCHEMA_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
SCHEMA_MAP_KEYWORDS = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is an object of schemas."""
ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
"""Keywords that do not validate: beside a `$ref` they replace those of the definition."""
PLACE_DEPENDENT = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$schema", "definitions"}
)
"""Keywords whose meaning depends on their place; a schema with one of them is not changed."""


def inline_definitions(schema: Schema) -> Schema:
    """Return a schema that accepts the same values with as few references as the rule allows."""
    if not isinstance(schema.get("$defs"), dict) or not _is_inlinable(schema):
        return schema
    try:
        made = _inline(schema, _used_once(schema))
        bound = max(MAX_INLINED_BYTES, MAX_GROWTH * _size(schema))
        for _ in range(MAX_INLINED):
            cheapest = _cheapest(made, bound)
            if not cheapest:
                break
            made = _inline(made, {cheapest})
    except RecursionError:
        return schema
    return schema if _is_deep(made) else made


def _size(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False))


def _is_deep(schema: Schema) -> bool:
    level: list[Any] = [schema]
    for _ in range(MAX_DEPTH):
        holders = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [part for holder in holders for part in holder]
    return bool(level)


def _is_inlinable(schema: Schema) -> bool:
    """Tell whether every reference leads to one of the schema's definitions, and no subschema has an anchor."""
    known = {f"{PREFIX}{name}" for name in schema["$defs"]}
    for part in _subschemas(schema):
        if not PLACE_DEPENDENT.isdisjoint(part) or ("$defs" in part and part is not schema):
            return False
        if "$ref" in part and str(part["$ref"]) not in known:
            return False
    return True


def _subschemas(schema: Any) -> Iterator[Schema]:
    """Yield a schema and all its subschemas; `true` and `false` have none."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            for key, value in part.items():
                waiting += _children(key, value)


def _children(key: str, value: Any) -> list[Any]:
    if key in SCHEMA_KEYWORDS:
        return [value]
    if key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
        return value
    return list(value.values()) if key in SCHEMA_MAP_KEYWORDS and isinstance(value, dict) else []


def _uses(schema: Any) -> dict[str, int]:
    """Return how often each definition is referred to."""
    found: dict[str, int] = {}
    for part in _subschemas(schema):
        if "$ref" in part:
            name = part["$ref"].removeprefix(PREFIX)
            found[name] = found.get(name, 0) + 1
    return found


def _non_recursive(definitions: Mapping[str, Schema]) -> set[str]:
    """Return the definitions that are not recursive."""
    edges = {name: tuple(_uses(definition)) for name, definition in definitions.items()}
    return {name for group in components(edges) if not is_cycle(group, edges) for name in group}


def _used_once(schema: Schema) -> set[str]:
    """Return the definitions that are used once, or not at all."""
    uses = _uses(schema)
    return {name for name in _non_recursive(schema["$defs"]) if uses.get(name, 0) <= 1}


def _cheapest(schema: Schema, bound: int) -> str:
    """Return the definition whose inlining costs least, if the schema stays within its bound, or an empty string."""
    definitions = schema.get("$defs", {})
    uses = _uses(schema)
    costs = sorted(((uses.get(name, 0) - 1) * _size(definitions[name]), name) for name in _non_recursive(definitions))
    return costs[0][1] if costs and _size(schema) + costs[0][0] <= bound else ""


def _inline(schema: Schema, names: set[str]) -> Schema:
    """Return a schema in which some definitions replace their references."""
    definitions = schema["$defs"]
    targets = {name: definitions[name] for name in names}
    kept = {name: definition for name, definition in definitions.items() if name not in names}
    made: Schema = _replaced({**schema, "$defs": kept}, targets)
    return made if kept else {key: value for key, value in made.items() if key != "$defs"}


def _replaced(schema: Any, targets: Mapping[str, Schema]) -> Any:
    """Return a schema with each of the targets in the place of every reference to it."""
    if not isinstance(schema, dict):
        return schema
    made = {key: _mapped(key, value, lambda part: _replaced(part, targets)) for key, value in schema.items()}
    made = _without_mapping(made, targets)
    name = made["$ref"].removeprefix(PREFIX) if "$ref" in made else ""
    return merge_reference(made, _replaced(targets[name], targets)) if name in targets else made


def _mapped(key: str, value: Any, change: Callable[[Any], Any]) -> Any:
    if key in SCHEMA_KEYWORDS:
        return change(value)
    if key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
        return [change(part) for part in value]
    if key in SCHEMA_MAP_KEYWORDS and isinstance(value, dict):
        return {name: change(part) for name, part in value.items()}
    return value


def _without_mapping(schema: Schema, targets: Mapping[str, Schema]) -> Schema:
    """Return a schema without an OpenAPI `discriminator` that maps to an inlined definition."""
    said = schema.get("discriminator")
    mapping = said.get("mapping") if isinstance(said, dict) else None
    gone = {f"{PREFIX}{name}" for name in targets}
    if not isinstance(mapping, dict) or gone.isdisjoint(map(str, mapping.values())):
        return schema
    return {key: value for key, value in schema.items() if key != "discriminator"}


def merge_reference(referring: Schema, target: Any) -> Any:
    """Return the meaning of a schema with a `$ref`: the definition, and the keywords beside it.

    Annotations beside it replace the definition's; anything else is asserted beside it (`allOf`).
    """
    beside = {key: value for key, value in referring.items() if key != "$ref"}
    if isinstance(target, dict) and beside.keys() <= ANNOTATIONS:
        return {**target, **beside}
    return {**beside, "allOf": [target, *beside.get("allOf", ())]}
