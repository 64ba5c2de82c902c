"""Examples of a tool's arguments: those of its schema, those made of its members', and those of test cases.

A made example has every required member, or there is none.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_EXAMPLES = 3
"""How many examples of one tool are shown."""
MISSING = object()
CONDITIONS = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas"}
    | {"dependencies", "minProperties", "maxProperties", "propertyNames", "patternProperties", "enum", "const"}
)
"""Keywords by which an object of valid members may be invalid."""

Cases = dict[str, list[tuple[str, Any]]]
"""Names and arguments of test cases, by tool."""


def examples_of(schema: object, cases: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return titles and JSON of examples; one without arguments, or that is shown already, is left out."""
    found: dict[str, str] = {}
    for title, value in [*cases, *schema_examples(schema)]:
        if value == {}:
            continue
        found.setdefault(json.dumps(value, ensure_ascii=False, indent=2), title)
    return [(title, text) for text, title in found.items()][:MAX_EXAMPLES]


def schema_examples(schema: object) -> Iterator[tuple[str, Any]]:
    """Yield the examples of a schema, or one made of its members."""
    if not isinstance(schema, dict):
        return
    own = schema.get("examples")
    if isinstance(own, list) and own:
        yield from (("", value) for value in own)
        return
    made = made_example(schema)
    if made:
        yield "", made


def made_example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of the members' examples; empty if a required member has none."""
    if not CONDITIONS.isdisjoint(schema):
        return {}
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    values = {name: example_value(inner) for name, inner in known.items()}
    if any(values.get(name, MISSING) is MISSING for name in (required if isinstance(required, list) else ())):
        return {}
    return {name: value for name, value in values.items() if value is not MISSING}


def example_value(schema: object) -> Any:
    """Return an example of a member, MISSING if its schema has none."""
    if not isinstance(schema, dict):
        return MISSING
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    return schema.get("const", schema.get("default", MISSING))
