"""Table of the keywords of JSON Schema 2020-12: the shape of each one's value, and the type that it validates.

Every keyword of the standard is a row.  A compiled schema checks in this order: cheap checks first, and last those that
need the results of all others.  `emitters` has the code of each row; `dialects` the differences of other drafts.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcpc.schema.keyword_shapes import (
    ANCHOR,
    ANYTHING,
    BOOLEAN,
    CONSTANT,
    CONSTANTS,
    COUNT,
    DIALECT,
    IDENTIFIER,
    LIST,
    NAMES,
    NAMES_BY_NAME,
    NUMBER,
    PATTERN,
    POSITIVE,
    REFERENCE,
    SCHEMA,
    SCHEMAS,
    SCHEMAS_BY_NAME,
    SCHEMAS_BY_PATTERN,
    SCHEMAS_OR_NAMES,
    STRING,
    TYPES,
    VOCABULARIES,
    KeywordShape,
)


@dataclass(frozen=True, slots=True)
class Keyword:
    """One row.  `judges`: the JSON type it applies to, `any`, or empty for a keyword that validates nothing itself.

    `earlier`: a kind of value that an earlier draft allowed, and its replacement.
    """

    shape: KeywordShape
    judges: str = ""
    earlier: tuple[str, str] = ("", "")


KEYWORDS: dict[str, Keyword] = {
    "type": Keyword(TYPES),
    "const": Keyword(CONSTANT, "any"),
    "enum": Keyword(CONSTANTS, "any"),
    "minimum": Keyword(NUMBER, "number"),
    "maximum": Keyword(NUMBER, "number"),
    "exclusiveMinimum": Keyword(NUMBER, "number", earlier=("boolean", "give the bound itself: `exclusiveMinimum: 0`")),
    "exclusiveMaximum": Keyword(NUMBER, "number", earlier=("boolean", "give the bound itself: `exclusiveMaximum: 9`")),
    "multipleOf": Keyword(POSITIVE, "number"),
    "minLength": Keyword(COUNT, "string"),
    "maxLength": Keyword(COUNT, "string"),
    "pattern": Keyword(PATTERN, "string"),
    "format": Keyword(STRING, "string"),
    "required": Keyword(NAMES, "object"),
    "minProperties": Keyword(COUNT, "object"),
    "maxProperties": Keyword(COUNT, "object"),
    "dependentRequired": Keyword(NAMES_BY_NAME, "object"),
    "properties": Keyword(SCHEMAS_BY_NAME, "object"),
    "patternProperties": Keyword(SCHEMAS_BY_PATTERN, "object"),
    "additionalProperties": Keyword(SCHEMA, "object"),
    "propertyNames": Keyword(SCHEMA, "object"),
    "dependentSchemas": Keyword(SCHEMAS_BY_NAME, "object"),
    "dependencies": Keyword(SCHEMAS_OR_NAMES),
    "minItems": Keyword(COUNT, "array"),
    "maxItems": Keyword(COUNT, "array"),
    "prefixItems": Keyword(SCHEMAS, "array"),
    "items": Keyword(SCHEMA, "array", earlier=("array", "schemas by position are `prefixItems` since 2020-12")),
    "contains": Keyword(SCHEMA, "array"),
    "minContains": Keyword(COUNT),
    "maxContains": Keyword(COUNT),
    "uniqueItems": Keyword(BOOLEAN, "array"),
    "$ref": Keyword(REFERENCE, "any"),
    "$dynamicRef": Keyword(REFERENCE, "any"),
    "allOf": Keyword(SCHEMAS, "any"),
    "anyOf": Keyword(SCHEMAS, "any"),
    "oneOf": Keyword(SCHEMAS, "any"),
    "not": Keyword(SCHEMA, "any"),
    "if": Keyword(SCHEMA, "any"),
    "then": Keyword(SCHEMA),
    "else": Keyword(SCHEMA),
    "unevaluatedProperties": Keyword(SCHEMA, "object"),
    "unevaluatedItems": Keyword(SCHEMA, "array"),
    "$schema": Keyword(DIALECT),
    "$defs": Keyword(SCHEMAS_BY_NAME),
    "definitions": Keyword(SCHEMAS_BY_NAME),
    "title": Keyword(STRING),
    "description": Keyword(STRING),
    "default": Keyword(ANYTHING),
    "examples": Keyword(LIST),
    "deprecated": Keyword(BOOLEAN),
    "readOnly": Keyword(BOOLEAN),
    "writeOnly": Keyword(BOOLEAN),
    "$comment": Keyword(STRING),
    "contentEncoding": Keyword(STRING),
    "contentMediaType": Keyword(STRING),
    "contentSchema": Keyword(SCHEMA),
    "$id": Keyword(IDENTIFIER),
    "$anchor": Keyword(ANCHOR),
    "$dynamicAnchor": Keyword(ANCHOR),
    "$vocabulary": Keyword(VOCABULARIES),
}

ORDER = {name: place for place, name in enumerate(KEYWORDS)}
