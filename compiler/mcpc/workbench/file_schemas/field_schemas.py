"""JSON Schemas of the compiler's tables of fields (`mcpc.lower.protocol_schema`).

A row that the table leaves open, because several types are allowed, has its schema in `OPEN_VALUES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.lower.handler_options import LOOP, MAX_REQUESTS, MAX_RESULT, MAX_SECONDS, NAME, POLICIES, PROGRAM
from mcpc.lower.handler_options import REQUEST_CHECKS as REQUESTS
from mcpc.lower.tools_and_prompts import VERSIONS
from mcpc.model.definitions import HANDLER_KEY, HANDLERS_KEY
from mcpc.model.definitions.field_descriptions import description_of
from mcpc.passes.names import ILLEGAL, MAX_LENGTH
from mcpc.reading.selection import FILES, SETTINGS
from mcpc_runtime.artifact.start_options import MIN_RESULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.lower.protocol_schema import Field, ObjectShape

JsonSchema = dict[str, Any]
TEXT: JsonSchema = {"type": "string"}
STRINGS: JsonSchema = {"type": "array", "items": TEXT}
PATTERNS: JsonSchema = {"type": "array", "items": {"type": "string", "pattern": "\\S"}}
TOOLSETS: JsonSchema = {"type": "object", "additionalProperties": {**PATTERNS, "minItems": 1}}
CALLED_NAME: JsonSchema = {"pattern": f"^{ILLEGAL.pattern.replace('[^', '[')}{{1,{MAX_LENGTH}}}$"}
INPUT: JsonSchema = {
    "allOf": [{"$ref": "#/definitions/schema"}],
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"const": "object"}},
}
RUNNING: Mapping[str, JsonSchema] = {
    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SECONDS},
    "environment": {
        "anyOf": [
            {"enum": [*POLICIES]},
            {"type": "array", "items": {"type": "string", "pattern": f"^{NAME.pattern}$"}},
        ]
    },
    "requires": {
        "type": "array",
        "items": {
            "type": "string",
            "pattern": f"^ *{PROGRAM.pattern.replace('?P<command>', '').replace('?P<version>', '')} *$",
        },
    },
}
SIZE: JsonSchema = {
    "anyOf": [
        {"type": "integer", "const": 0},
        {"type": "integer", "minimum": MIN_RESULT},
        {"type": "string", "pattern": "^[0-9]{1,15}[KMGkmg]?$"},
    ]
}
OPEN_VALUES: Mapping[tuple[str, str], JsonSchema] = {
    **{(f"`{key}`", name): schema for key in (HANDLER_KEY, HANDLERS_KEY) for name, schema in RUNNING.items()},
    **{(f"`{key}`", MAX_RESULT): SIZE for key in (HANDLER_KEY, HANDLERS_KEY)},
    (f"`{HANDLER_KEY}`", "inline"): {"enum": [True, False, LOOP]},
    (f"`{HANDLER_KEY}`", "command"): {"anyOf": [TEXT, {**STRINGS, "minItems": 1}]},
    (f"`{HANDLER_KEY}`", "asks"): {
        "type": "object",
        "maxProperties": MAX_REQUESTS,
        "additionalProperties": {
            "type": "object",
            "required": ["method"],
            "properties": {"method": {"enum": sorted(REQUESTS)}, "params": {"type": "object"}},
        },
    },
    **{(f"`{FILES}`", name): PATTERNS for name in SETTINGS},
    ("tool", "name"): {"type": "string", **CALLED_NAME},
    ("prompt", "name"): {"type": "string", **CALLED_NAME},
    ("tool", "inputSchema"): INPUT,
    ("tool", "outputSchema"): {"allOf": [{"$ref": "#/definitions/schema"}], "type": "object"},
    ("server description", "protocolVersion"): {"type": "string", "enum": [*VERSIONS]},
    ("server description", "toolsets"): TOOLSETS,
    ("setting", "default"): {"type": ["string", "number", "boolean"]},
    ("setting", "choices"): {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
}
"""What values of a field are valid, where the table of fields says less, by the label of the object and the field."""


def schema_of_field(field: Field, label: str = "", name: str = "") -> JsonSchema:
    """Return the schema of the value of a field; `label` and `name`: the object that has it, and its key."""
    schema = dict(OPEN_VALUES.get((label, name), {}))
    if not schema:
        if field.kind:
            schema["type"] = field.kind
        if field.one_of:
            schema["enum"] = [*field.one_of]
        if field.begins:
            schema["pattern"] = "^(?:" + "|".join(_any_case(start) for start in field.begins) + ")"
        if field.items:
            schema["items"] = schema_of_field(field.items)
        if field.shape:
            schema.update(schema_of_shape(field.shape))
    text = description_of(label, name)
    return {"description": text, **schema} if text else schema


def schema_of_shape(shape: ObjectShape) -> JsonSchema:
    """Return the schema of an object."""
    required = [name for name, field in shape.fields.items() if field.required]
    schema: JsonSchema = {
        "type": "object",
        "properties": {name: schema_of_field(field, shape.label, name) for name, field in shape.fields.items()},
    }
    if required:
        schema["required"] = required
    if not shape.others:
        schema["additionalProperties"] = False
    elif shape.reserved:
        known = "|".join(sorted(name.removeprefix(shape.reserved) for name in shape.fields))
        schema["patternProperties"] = {f"^{shape.reserved}(?!(?:{known})$)": False}
    return schema


def _any_case(text: str) -> str:
    """Return a pattern that matches a text in capital or small letters: draft-07 has no flags."""
    return "".join(f"[{each.lower()}{each.upper()}]" if each.isalpha() else each for each in text)
