"""Schemas as callers read them: a property that is not declared is not sent.

Nearly all tools leave `additionalProperties` out.  Taken literally, every new argument of theirs would break callers
that have sent something else by that name.  So an object with `properties` that says nothing about others is closed,
where it describes a value by itself: not below `allOf`, `not` or `if`, and not beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Any

OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")
BESIDE = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "$recursiveRef", "dependentSchemas", "$id")
ALTERNATIVES = ("anyOf", "oneOf", "prefixItems")
ANNOTATIONS = (
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "$comment",
    "$schema",
    "$defs",
    "definitions",
)
SUFFIX = "~closed"
PREFIXES = ("#/$defs/", "#/definitions/")


def closed(schema: Json) -> Json:
    """Return a schema whose objects have their declared properties only."""
    if not isinstance(schema, dict):
        return schema
    found = _closed(schema)
    for holder in ("$defs", "definitions"):
        definitions = schema.get(holder)
        if isinstance(definitions, dict):
            copies = {f"{name}{SUFFIX}": _closed(each) for name, each in definitions.items()}
            found[holder] = {**definitions, **copies}
    return found


def _closed(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(PREFIXES) and {*schema} <= {"$ref", *ANNOTATIONS}:
        return {**found, "$ref": reference + SUFFIX} if reference.count("/") == 2 else found
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {name: _closed(each) for name, each in schema["properties"].items()}
        if not any(name in schema for name in (*OPEN, *BESIDE)):
            found["additionalProperties"] = False
    found.update(_closed_items(schema))
    return found


def _closed_items(schema: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            found[name] = _closed(schema[name])
    for name in (*ALTERNATIVES, "items"):
        if isinstance(schema.get(name), list):
            found[name] = [*map(_closed, schema[name])]
    return found
