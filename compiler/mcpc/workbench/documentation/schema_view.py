"""Schemas for readers: a row for each value, with its type in words, its limits in words, and the rows below it.

Every keyword is shown: one without words of its own is shown as JSON.  A reference is shown by its name, and each
definition once, so that a view is linear in its schema and a recursive one ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_DEPTH = 24
"""How deep rows are nested; what is deeper is shown as JSON."""
MAX_VALUES = 100
"""How many values of an enumeration are listed."""
DEFINITIONS = ("$defs", "definitions")
LOCAL = tuple(f"#/{holder}/" for holder in DEFINITIONS)
WORDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matches {}",
    "format": "format {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} members",
    "maxProperties": "at most {} members",
    "contentEncoding": "encoded as {}",
    "contentMediaType": "content of type {}",
    "default": "default {}",
}
"""Keywords with one value, in words."""
CLOSED = "no other members"
SWITCHES = {
    ("uniqueItems", True): "no item twice",
    ("deprecated", True): "deprecated",
    ("readOnly", True): "read only",
    ("writeOnly", True): "write only",
    ("additionalProperties", False): CLOSED,
    ("unevaluatedProperties", False): CLOSED,
    ("items", False): "no other items",
    ("additionalItems", False): "no other items",
}
NOTHING = frozenset(
    (name, value)
    for value in (True, False)
    for name in ("uniqueItems", "deprecated", "readOnly", "writeOnly", "additionalProperties", "unevaluatedProperties")
)
"""Keywords that say nothing with such a value, if they are not in SWITCHES."""
COMBINED = {"oneOf": "one of", "anyOf": "any of", "allOf": "all of"}
SINGLE = {
    "additionalProperties": "any other member",
    "unevaluatedProperties": "any other member",
    "propertyNames": "each name",
    "items": "each item",
    "additionalItems": "each further item",
    "unevaluatedItems": "each further item",
    "contains": "some item",
    "contentSchema": "its content",
    "not": "not",
    "if": "if",
    "then": "then",
    "else": "else",
}
"""Keywords with one schema, and the names of their rows."""
NAMED = {"patternProperties": "members that match {}", "dependentSchemas": "with {}"}
OF_TYPES = frozenset({"type", "enum", "const", "$ref", "required", "properties", "prefixItems", "title", "description"})
UNSHOWN = OF_TYPES | {
    *DEFINITIONS,
    "$schema",
    "$comment",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$vocabulary",
    "examples",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One value.  `facts`: limits and others in words; `rows`: its members, items and alternatives."""

    name: str
    type: str
    description: str = ""
    required: bool = False
    facts: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether its type says all of it."""
        return not (self.description or self.facts or self.rows)


@dataclass(frozen=True, slots=True)
class SchemaView:
    """A schema: the row of its root, and those of its definitions."""

    root: Row
    definitions: tuple[Row, ...] = ()

    @property
    def is_short(self) -> bool:
        """Whether it is shown in one line."""
        return not (self.root.rows or self.definitions or {*self.root.facts} - {CLOSED})

    @property
    def line(self) -> str:
        return "none" if self.root.type == "object" else self.root.type


def schema_view(schema: object) -> SchemaView:
    given: Mapping[str, Any] = schema if isinstance(schema, dict) else {}
    definitions = [
        (str(name), inner)
        for holder in DEFINITIONS
        for name, inner in (given[holder].items() if isinstance(given.get(holder), dict) else ())
    ]
    return SchemaView(row("", schema), tuple(row(name, inner) for name, inner in definitions))


def row(name: str, schema: object, depth: int = 0, *, required: bool = False) -> Row:
    if not isinstance(schema, dict):
        return Row(name, "never" if schema is False else "any value", required=required)
    if depth >= MAX_DEPTH:
        return Row(name, "a value", required=required, facts=(text_of(schema),))
    below = (*members_of(schema, depth + 1), *items_of(schema, depth + 1), *others_of(schema, depth + 1))
    kind, shown = type_with(schema, below)
    return Row(name, kind, description_of(schema), required, tuple(facts_of(schema)), shown)


def description_of(schema: Mapping[str, Any]) -> str:
    texts = [schema[key] for key in ("title", "description") if isinstance(schema.get(key), str)]
    return ": ".join(text.strip() for text in dict.fromkeys(texts) if text.strip())


def type_with(schema: Mapping[str, Any], rows: tuple[Row, ...]) -> tuple[str, tuple[Row, ...]]:
    """Return the type in words, and the rows that it does not contain: plain alternatives and items are words."""
    kind = type_of(schema)
    items = next((each for each in rows if each.name == SINGLE["items"]), None)
    if items is not None and items.is_plain and kind.startswith("array"):
        kind = kind.replace("array", f"array of {items.type}", 1)
        rows = tuple(each for each in rows if each is not items)
    for key, words in COMBINED.items():
        group = next((each for each in rows if each.name == words), None)
        if key != "allOf" and group is not None and all(each.is_plain for each in group.rows) and kind == "any value":
            kind = " or ".join(dict.fromkeys(each.type for each in group.rows))
            rows = tuple(each for each in rows if each is not group)
    return kind, rows


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the type of a value in words, without alternatives."""
    if isinstance(schema.get("$ref"), str):
        return reference_name(schema["$ref"])
    if "const" in schema:
        return text_of(schema["const"])
    values = schema.get("enum")
    if isinstance(values, list):
        more = f" … ({len(values)} values)" if len(values) > MAX_VALUES else ""
        return " | ".join(map(text_of, values[:MAX_VALUES])) + more
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(map(str, kind)) or "never"
    implied = "object" if "properties" in schema else "array" if "prefixItems" in schema else "any value"
    return implied if kind is None else str(kind)


def reference_name(reference: str) -> str:
    name = next((reference.removeprefix(start) for start in LOCAL if reference.startswith(start)), "")
    if name and "/" not in name:
        return name.replace("~1", "/").replace("~0", "~")
    return "the whole value again" if reference == "#" else f"as {reference}"


def text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def facts_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield limits and other keywords in words; a keyword that is not known is shown as JSON."""
    for name in required_names(schema):
        if name not in properties_of(schema):
            yield f"requires {name}"
    for key, value in schema.items():
        # Only booleans are looked up: 1 equals True, and lists cannot be keys.
        switch = (key, value) if isinstance(value, bool) else ("", None)
        if key in WORDS:
            # A default is shown as JSON, in which the text "5" is not the number 5.
            is_bare = isinstance(value, str) and key != "default"
            yield WORDS[key].format(value if is_bare else text_of(value))
        elif switch in SWITCHES:
            yield SWITCHES[switch]
        elif key in UNSHOWN or switch in NOTHING or is_shown_below(key, value):
            continue
        else:
            yield f"{key}: {text_of(value)}"


def is_shown_below(key: str, value: object) -> bool:
    """Tell whether a keyword has rows."""
    return (
        (key in SINGLE and isinstance(value, dict | bool))
        or (key in NAMED and isinstance(value, dict))
        or (key in COMBINED and isinstance(value, list))
    )


def members_of(schema: Mapping[str, Any], depth: int) -> Iterator[Row]:
    needed = required_names(schema)
    for name, inner in properties_of(schema).items():
        yield row(str(name), inner, depth, required=name in needed)


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def required_names(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def items_of(schema: Mapping[str, Any], depth: int) -> Iterator[Row]:
    for key in ("prefixItems", "items"):
        first = schema.get(key)
        for number, inner in enumerate(first if isinstance(first, list) else (), 1):
            yield row(f"item {number}", inner, depth)


def others_of(schema: Mapping[str, Any], depth: int) -> Iterator[Row]:
    for key, name in SINGLE.items():
        if isinstance(schema.get(key), dict) and schema[key]:
            yield row(name, schema[key], depth)
    for key, words in NAMED.items():
        for name, inner in schema[key].items() if isinstance(schema.get(key), dict) else ():
            yield row(words.format(name), inner, depth)
    for key, words in COMBINED.items():
        if isinstance(schema.get(key), list):
            inner_rows = (row(f"option {at}", inner, depth + 1) for at, inner in enumerate(schema[key], 1))
            yield Row(words, "", rows=tuple(inner_rows))
