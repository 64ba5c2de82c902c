"""The schema of JSON Schemas in definitions: each keyword of the compiler, its meaning and the form of its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.schema import keyword_shapes as shapes
from mcpc.schema.json_types import TESTS
from mcpc.schema.keywords import KEYWORDS
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.schema.keyword_shapes import KeywordShape

JsonSchema = dict[str, Any]
SELF: JsonSchema = {"$ref": "#/definitions/schema"}
TYPES = [*TESTS]
NAMES: JsonSchema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
BY_NAME: JsonSchema = {"type": "object", "additionalProperties": SELF}
VALUES: Mapping[KeywordShape, JsonSchema] = {
    shapes.STRING: {"type": "string"},
    shapes.BOOLEAN: {"type": "boolean"},
    shapes.NUMBER: {"type": "number"},
    shapes.LIST: {"type": "array"},
    shapes.CONSTANTS: {"type": "array"},
    shapes.POSITIVE: {"type": "number", "exclusiveMinimum": 0},
    shapes.COUNT: {"type": "integer", "minimum": 0},
    shapes.NAMES: NAMES,
    shapes.NAMES_BY_NAME: {"type": "object", "additionalProperties": NAMES},
    shapes.TYPES: {
        "anyOf": [{"enum": TYPES}, {"type": "array", "items": {"enum": TYPES}, "minItems": 1, "uniqueItems": True}]
    },
    shapes.PATTERN: {"type": "string"},
    shapes.REFERENCE: {"type": "string"},
    shapes.DIALECT: {"type": "string"},
    shapes.IDENTIFIER: {"type": "string"},
    shapes.ANCHOR: {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
    shapes.VOCABULARIES: {"type": "object", "additionalProperties": {"type": "boolean"}},
    shapes.SCHEMA: SELF,
    shapes.SCHEMAS: {"type": "array", "items": SELF, "minItems": 1},
    shapes.SCHEMAS_OR_NAMES: {"type": "object", "additionalProperties": {"anyOf": [SELF, NAMES]}},
    shapes.SCHEMAS_BY_NAME: BY_NAME,
    shapes.SCHEMAS_BY_PATTERN: BY_NAME,
}
"""The form of a value by the shape that the compiler's check has."""
EARLIER: Mapping[str, JsonSchema] = {"items": {"anyOf": [SELF, {"type": "array", "items": SELF}]}}
"""Forms that an earlier draft allows, which `$schema` may name."""
MEANINGS = {
    "type": "The type of the value, or a list of types.",
    "const": "The only valid value.",
    "enum": "All valid values.",
    "minimum": "The smallest valid number.",
    "maximum": "The largest valid number.",
    "exclusiveMinimum": "A valid number is larger than this.",
    "exclusiveMaximum": "A valid number is smaller than this.",
    "multipleOf": "A valid number is a multiple of this.",
    "minLength": "The smallest number of characters.",
    "maxLength": "The largest number of characters.",
    "pattern": "A regular expression (ECMA-262) that the text contains; write `^…$` for the whole text.",
    "format": "The kind of text; an annotation, unless the build has `--assert-formats`.",
    "required": "The names of properties that must be there.",
    "minProperties": "The smallest number of properties.",
    "maxProperties": "The largest number of properties.",
    "dependentRequired": "Properties that must be there if another one is.",
    "properties": "The schema of each property, by name.",
    "patternProperties": "The schema of properties whose names match a pattern.",
    "additionalProperties": "The schema of all other properties; `false` allows none.",
    "propertyNames": "The schema of the names of properties.",
    "dependentSchemas": "Schemas of the object that apply if a property is there.",
    "dependencies": "The form of `dependentRequired` and `dependentSchemas` before draft 2019-09.",
    "minItems": "The smallest number of items.",
    "maxItems": "The largest number of items.",
    "prefixItems": "The schemas of the first items, by position.",
    "items": "The schema of all items, or of those after `prefixItems`.",
    "contains": "A schema that at least one item matches.",
    "minContains": "The smallest number of items that match `contains`.",
    "maxContains": "The largest number of items that match `contains`.",
    "uniqueItems": "No two items are equal.",
    "$ref": "Another schema that applies here: `#/$defs/NAME`, or another JSON file of the project.",
    "$dynamicRef": "A schema that a schema around this one may replace.",
    "allOf": "The value matches all of these schemas.",
    "anyOf": "The value matches at least one of these schemas.",
    "oneOf": "The value matches exactly one of these schemas.",
    "not": "The value does not match this schema.",
    "if": "A condition: if the value matches it, `then` applies, else `else`.",
    "then": "Applies if the value matches `if`.",
    "else": "Applies if the value does not match `if`.",
    "unevaluatedProperties": "The schema of properties that no other keyword has judged.",
    "unevaluatedItems": "The schema of items that no other keyword has judged.",
    "$schema": "The draft of JSON Schema; 2020-12 if it is missing.",
    "$defs": "Schemas for `$ref`, by name.",
    "definitions": "The name of `$defs` before draft 2019-09.",
    "title": "A short name for people.",
    "description": "What the value is; models read it.",
    "default": "The value if none is given; it is filled in before the handler runs.",
    "examples": "Examples of valid values.",
    "deprecated": "The value should not be used any more.",
    "readOnly": "The value is only read.",
    "writeOnly": "The value is only written.",
    "$comment": "A remark for maintainers.",
    "contentEncoding": "How bytes are written in the text, such as `base64`.",
    "contentMediaType": "The media type of the text's content.",
    "contentSchema": "The schema of the text's content.",
    "$id": "The identifier of the schema, to which references are relative.",
    "$anchor": "A name for references to this schema.",
    "$dynamicAnchor": "A name for dynamic references to this schema.",
    "$vocabulary": "The vocabularies of a metaschema.",
}


def schema_of_schemas() -> JsonSchema:
    """Return the schema of a JSON Schema; other keywords are allowed, as annotations."""
    properties = {name: _keyword(name) for name in KEYWORDS}
    properties["format"] = {**properties["format"], "anyOf": [{"enum": sorted(FORMATS)}, {"type": "string"}]}
    return {"type": ["object", "boolean"], "properties": properties}


def _keyword(name: str) -> JsonSchema:
    value = EARLIER.get(name) or VALUES.get(KEYWORDS[name].shape, {})
    return {"description": MEANINGS[name], **({"allOf": [value]} if "$ref" in value else value)}
