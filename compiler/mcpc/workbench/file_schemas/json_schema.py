"""JSON Schemas of schemas in definitions, of the compiler's tables of fields, and of `[tool.mcpc]` in `pyproject.toml`.

A row of `mcpc.lower.protocol_schema` that is open, because several types are allowed, has its schema in `OPEN_VALUES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.frontends.project_metadata import REGISTRY_KEYS
from mcpc.lower.command_lines import FLAG
from mcpc.lower.handler_options import LOOP, MAX_REQUESTS, MAX_RESULT, MAX_SECONDS, NAME, POLICIES, PROGRAM
from mcpc.lower.handler_options import REQUEST_CHECKS as REQUESTS
from mcpc.lower.pipelines import MAX_ITEMS, MAX_STEPS
from mcpc.lower.protocol_schema import REQUEST, SETTING, STEP
from mcpc.lower.request_values import STYLES
from mcpc.lower.tools_and_prompts import VERSIONS
from mcpc.model.definitions import HANDLER_KEY, HANDLERS_KEY
from mcpc.model.definitions.field_descriptions import description_of
from mcpc.options import WAYS
from mcpc.passes.names import ILLEGAL, MAX_LENGTH
from mcpc.reading.selection import FILES, SETTINGS
from mcpc.release.comparison.rules import RULES
from mcpc.release.releasing import KNOWN
from mcpc.schema import keywords as shapes
from mcpc.schema.conditions import TESTS
from mcpc.schema.keywords import KEYWORDS
from mcpc.workbench.file_schemas.cases import diff_tables
from mcpc_runtime.artifact.start_options import MIN_RESULT
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.lower.protocol_schema import Field, ObjectShape
    from mcpc.schema.keywords import KeywordShape


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
TEXT: JsonSchema = {"type": "string"}
STRINGS: JsonSchema = {"type": "array", "items": TEXT}
PATTERNS: JsonSchema = {"type": "array", "items": {"type": "string", "pattern": "\\S"}}
TOOLSETS: JsonSchema = {"type": "object", "additionalProperties": {**PATTERNS, "minItems": 1}}
# ILLEGAL is the class of all characters but those that are allowed.
CALLED_NAME: JsonSchema = {"pattern": f"^{ILLEGAL.pattern.replace('[^', '[')}{{1,{MAX_LENGTH}}}$"}
INPUT: JsonSchema = {
    "allOf": [{"$ref": "#/definitions/schema"}],
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"const": "object"}},
}
WORD_SOURCE: JsonSchema = {
    "type": "object",
    "properties": {
        "argument": {**TEXT, "description": "The argument that is used."},
        "setting": {**TEXT, "description": "The setting that is used."},
    },
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}
PLACE: JsonSchema = {
    "type": "object",
    "properties": {
        **WORD_SOURCE["properties"],
        "flag": {
            "type": "string",
            "pattern": f"^{FLAG.pattern}$",
            "description": "`-x` or `--name`, before it.",
        },
        "joined": {"type": "boolean", "description": "The value is joined to the flag: `--name=value`, `-xvalue`."},
        "repeat": {"type": "boolean", "description": "Each item of an array is a word, with the flag before it."},
        "join": {"type": "string", "minLength": 1, "description": "Items of an array are one word, with this between."},
    },
    "oneOf": [{"required": ["argument"]}, {"required": ["setting"]}],
    "additionalProperties": False,
}
"""What `mcpc.lower.command_lines` reads."""
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
            # Editors match by ECMA-262, which does not know `(?P<name>`.
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
ALL_STYLES = [*dict.fromkeys(style for styles in STYLES.values() for style in styles)]
REQUEST_VALUE: JsonSchema = {
    "type": ["object", "array", "string", "number", "boolean", "null"],
    "properties": {
        "argument": {"description": "The argument of the tool that has the value.", **TEXT},
        "setting": {"description": "The setting of the server that has the value.", **TEXT},
        "constant": {"description": "The value itself."},
        "style": {
            "description": "How lists and objects are written.",
            "enum": ALL_STYLES,
        },
        "explode": {"description": "Write items and members separately.", "type": "boolean"},
        "allowReserved": {"description": "Leave reserved characters as they are.", "type": "boolean"},
        "bytes": {"description": "The part is a file: base64, or an object with `data` or `text`.", "type": "boolean"},
        "content": {"description": "The media type in which the value is written, in place of a style.", **TEXT},
        "type": {"description": "The media type of the part.", **TEXT},
    },
}
COMMAND_WORDS: JsonSchema = {
    "anyOf": [TEXT, {"type": "array", "minItems": 1, "items": {"anyOf": [TEXT, PLACE]}}],
}
REQUEST_PLAN: JsonSchema = {"allOf": [{"$ref": "#/definitions/request"}]}
POINTER: JsonSchema = {"type": "string", "pattern": "^/"}
A_STEP_VALUE: JsonSchema = {"$ref": "#/definitions/stepValue"}
STEP_VALUES: JsonSchema = {"type": "object", "additionalProperties": A_STEP_VALUE}
STEP_VALUE: JsonSchema = {
    "description": "A JSON Pointer (`/arguments/NAME`, `/STEP/…`, `/item/…`), a constant, or a value of values.",
    "type": ["string", "number", "boolean", "null", "object"],
    "pattern": "^/",
    "properties": {
        "argument": {"description": "The argument of this name.", **TEXT},
        "constant": {"description": "The value itself."},
        "members": {"description": "An object, by the names of its members.", **STEP_VALUES},
        "items": {"description": "A list.", "type": "array", "items": A_STEP_VALUE},
    },
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}
SOURCE: JsonSchema = {"allOf": [{"$ref": "#/definitions/requestValue"}]}
SOURCES: JsonSchema = {"type": "object", "additionalProperties": {"$ref": "#/definitions/requestValue"}}
BASE: JsonSchema = {
    "setting": {"description": "The setting that has the address.", **TEXT},
    "default": {"description": "The address if the setting is not set.", **TEXT},
}
OPEN_VALUES: Mapping[tuple[str, str], JsonSchema] = {
    **{(f"`{key}`", name): schema for key in (HANDLER_KEY, HANDLERS_KEY) for name, schema in RUNNING.items()},
    **{(f"`{key}`", MAX_RESULT): SIZE for key in (HANDLER_KEY, HANDLERS_KEY)},
    (f"`{HANDLER_KEY}`", "inline"): {"enum": [True, False, LOOP]},
    **dict.fromkeys(((f"`{HANDLER_KEY}`", "command"), ("step", "command")), COMMAND_WORDS),
    **dict.fromkeys(((f"`{HANDLER_KEY}`", "stdin"), ("step", "stdin")), WORD_SOURCE),
    (f"`{HANDLER_KEY}`", "result"): {"allOf": [A_STEP_VALUE]},
    **dict.fromkeys(((f"`{HANDLER_KEY}`", "http"), ("step", "http")), REQUEST_PLAN),
    (f"`{HANDLER_KEY}`", "pipeline"): {
        "type": "array",
        "items": {"$ref": "#/definitions/step"},
        "minItems": 1,
        "maxItems": MAX_STEPS,
    },
    ("step", "with"): STEP_VALUES,
    ("step", "maxItems"): {"type": "integer", "minimum": 1, "maximum": MAX_ITEMS},
    **dict.fromkeys((("step", "each"), ("`when`", "value")), POINTER),
    ("`when`", "exists"): {"type": "boolean"},
    (f"`{HANDLER_KEY}`", "asks"): {
        "type": "object",
        "maxProperties": MAX_REQUESTS,
        "additionalProperties": {
            "type": "object",
            "required": ["method"],
            "properties": {"method": {"enum": sorted(REQUESTS)}, "params": {"type": "object"}},
        },
    },
    ("`http`", "base"): {"type": ["string", "object"], "properties": BASE},
    **{("`http`", place): SOURCES for place in ("places", "query", "headers", "cookies")},
    **{("`body`", kind): SOURCES for kind in ("form", "multipart")},
    **dict.fromkeys((("`http`", "querystring"), ("`body`", "bytes"), ("`body`", "text")), SOURCE),
    ("`body`", "json"): {
        **SOURCE,
        "properties": {"members": {"description": "The members of an object, by name.", **SOURCES}},
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
IGNORED: JsonSchema = {
    "description": 'Findings that are ignored: a code, and where: `"SCAN501 tool login"`.',
    "type": "array",
    "items": {"type": "string", "pattern": "^ *SCAN[0-9]{3}"},
}
NOT_EMPTY: JsonSchema = {"type": "string", "pattern": "\\S"}
RELEASE = {
    "files": "What a release has; by default the built file, its SBOM and its provenance.",
    "self-contained": "Platforms of files that contain Python.",
    "options": "Options of `mcpc build`, as on its command line.",
}
REGISTRY = {
    "name": "The name in the registry, such as `io.github.me/weather`.",
    "mcpb": "Addresses of the bundle; `{version}` is the version.",
    "oci": "Names of the container image; `{version}` is the version.",
    "remotes": "Addresses where the server is served.",
}
OWN: dict[str, JsonSchema] = {
    "exclude": {"description": "Patterns, as in `.gitignore`, of files that are not packed.", **PATTERNS},
    "include": {"description": "Patterns of files that are packed although a `.gitignore` matches them.", **PATTERNS},
    "extract": {"description": "Packages that are carried whole, in a folder.", **STRINGS},
    "extras": {"description": "Extras whose requirements are included, as `--extra`.", **STRINGS},
    "groups": {"description": "Dependency groups that are included, as `--group`.", **STRINGS},
    "platforms": {"description": "Platforms whose machine code is included, as `--platform`.", **STRINGS},
    "allow-sdist": {"description": "Build packages that have no wheel; this runs their code.", "type": "boolean"},
    "exclude-newer": {"description": "Take all versions as they were on this day: `2026-06-30`."},
    "entry": {"description": "What makes the server of a program: `FILE:OBJECT`, as `--entry`.", **TEXT},
    "build-environment": {
        "description": "Variables that are set while Python code of the project is run during the build.",
        "type": "object",
        "additionalProperties": TEXT,
    },
    "framework": {"description": "What handles a program's calls, as `--framework`.", "enum": [*WAYS]},
    "max-result": {"description": "The longest text of a tool's result, such as `64K`.", **SIZE},
    "concurrent": {"description": "Whether calls run at once, or one after the other.", "type": "boolean"},
    "lists": {"description": "Whether lists are compiled, or made at run time.", "enum": ["static", "dynamic"]},
}


def schema_of_schemas() -> JsonSchema:
    """Return the schema of a JSON Schema; other keywords are allowed, as annotations."""
    properties = {name: _keyword(name) for name in KEYWORDS}
    # Any text is valid; editors propose those of the list.
    properties["format"] = {**properties["format"], "anyOf": [{"enum": sorted(FORMATS)}, {"type": "string"}]}
    return {"type": ["object", "boolean"], "properties": properties}


def _keyword(name: str) -> JsonSchema:
    value = EARLIER.get(name) or VALUES.get(KEYWORDS[name].shape, {})
    # Draft-07 ignores whatever is beside a `$ref`: the description would be lost.
    return {"description": MEANINGS[name], **({"allOf": [value]} if "$ref" in value else value)}


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
        # Of the names with the reserved prefix only the known ones are allowed; all others are free.
        known = "|".join(sorted(name.removeprefix(shape.reserved) for name in shape.fields))
        schema["patternProperties"] = {f"^{shape.reserved}(?!(?:{known})$)": False}
    return schema


def shared_parts() -> dict[str, JsonSchema]:
    """Return the parts that several schemas have, those that refer to others first."""
    return {
        "step": schema_of_shape(STEP),
        "request": schema_of_shape(REQUEST),
        "stepValue": STEP_VALUE,
        "requestValue": REQUEST_VALUE,
        "schema": schema_of_schemas(),
    }


def _any_case(text: str) -> str:
    """Return a pattern that matches a text in capital or small letters: draft-07 has no flags."""
    return "".join(f"[{each.lower()}{each.upper()}]" if each.isalpha() else each for each in text)


def project_tables() -> JsonSchema:
    """Return the schema of `pyproject.toml`, of which only `[tool.mcpc]` is described."""
    own: JsonSchema = {
        "description": "Settings of mcpc.",
        "type": "object",
        "properties": {**OWN, **_tables()},
        "additionalProperties": False,
    }
    return {"type": "object", "properties": {"tool": {"type": "object", "properties": {"mcpc": own}}}}


def _tables() -> dict[str, JsonSchema]:
    return {
        "settings": {
            "description": "Values that the person who installs the server sets.",
            "type": "array",
            "items": schema_of_shape(SETTING),
        },
        "toolsets": {"description": "Groups of tools, of which an operator can choose.", **TOOLSETS},
        "release": _closed("What `mcpc release` builds.", {key: _words(key) for key in KNOWN}),
        "registry": _closed("The entry in the MCP registry.", {key: _registered(key) for key in REGISTRY_KEYS}),
        "scan": _closed("Settings of `mcpc scan`.", {"ignore": IGNORED}),
        "diff": {"description": "Changes that `mcpc diff` accepts.", **diff_tables(RULES)},
    }


def _closed(text: str, properties: dict[str, JsonSchema]) -> JsonSchema:
    return {"description": text, "type": "object", "properties": properties, "additionalProperties": False}


def _words(key: str) -> JsonSchema:
    words = KNOWN[key]
    return {"description": RELEASE[key], "type": "array", "items": {"enum": [*words]} if words else TEXT}


def _registered(key: str) -> JsonSchema:
    value = NOT_EMPTY if key == "name" else {"anyOf": [NOT_EMPTY, {"type": "array", "items": NOT_EMPTY}]}
    return {"description": REGISTRY[key], **value}
