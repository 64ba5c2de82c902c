"""Schemas of the JSON files of other systems: mcp-bash, and the knowledge bases of MCP Dev Blueprints.

The names of fields are those of the front ends' tables. A field of mcp-bash may be null, and keys with `$` are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.frontends.blueprints.features import LISTED_FIELDS, LISTED_RESOURCE_FIELDS, LISTS, SERVER_FIELDS
from mcpc.frontends.mcp_bash import prompts, register, resources, server, tools
from mcpc.lower.protocol_schema import ANNOTATIONS, AUDIENCE, ICONS, Field
from mcpc.model.definitions.field_descriptions import DESCRIPTIONS
from mcpc.workbench.file_schemas.json_schema import STRINGS, TEXT, schema_of_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

JsonSchema = dict[str, Any]
OBJECT: JsonSchema = {"type": "object"}
SECONDS: JsonSchema = {"type": ["number", "string"]}
VALUES: Mapping[str, JsonSchema] = {
    "icons": schema_of_field(ICONS),
    "inputSchema": {"$ref": "#/definitions/schema"},
    "outputSchema": {"$ref": "#/definitions/schema"},
    "arguments": {"type": ["array", "object"]},
    "annotations": OBJECT,
    "execution": OBJECT,
    "_meta": OBJECT,
    "metadata": {},
    "screenshots": {},
    "platform_overrides": {},
    "localization": {},
    **dict.fromkeys(("timeoutSecs", "maxTimeoutSecs"), SECONDS),
    "progressExtendsTimeout": {"type": ["boolean", "string"]},
}
"""The forms of fields that are not texts."""
MEANINGS = {
    "arguments": "The arguments: a JSON Schema of a tool, a list for a prompt.",
    "path": "The file of the item, below the folder of its kind.",
    "provider": "What reads the resource: `file`, `git`, `https`, `ui`, or a program of `providers/`.",
    "role": "Who says the prompt's text: `user` or `assistant`.",
    "metadata": "Further data of the prompt.",
    "timeoutSecs": "Seconds after which a call is ended.",
    "timeoutHint": "What a caller should do after a timeout.",
    "progressExtendsTimeout": "Progress begins the time anew.",
    "maxTimeoutSecs": "The longest time that progress can extend a call to.",
    "screenshots": "Pictures for bundles of desktop clients.",
    "platform_overrides": "Differences of platforms, for bundles of desktop clients.",
    "localization": "Translations, for bundles of desktop clients.",
    "uriTemplate": DESCRIPTIONS["resource template"]["uriTemplate"],
}


def described(names: Iterable[str], label: str, values: Mapping[str, JsonSchema] = VALUES) -> JsonSchema:
    """Return the schema of an object with these fields, each of which may be null."""
    known = {**MEANINGS, **DESCRIPTIONS.get(label, {})}
    known |= {"arguments": MEANINGS["arguments"]} if label == "tool" else {}
    properties = {
        name: {
            "description": known.get(name, f"`{name}` of mcp-bash."),
            "anyOf": [values.get(name, TEXT), {"type": "null"}],
        }
        for name in names
    }
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {"^\\$": {}},
        "additionalProperties": False,
    }


def mcp_bash_server() -> JsonSchema:
    return described((*server.LISTED_FIELDS, *server.BUNDLE_FIELDS), "`serverInfo`")


def mcp_bash_tool() -> JsonSchema:
    hints = schema_of_field(Field("object", shape=ANNOTATIONS))
    return described(tools.KNOWN_FIELDS, "tool", {**VALUES, "annotations": hints})


def mcp_bash_prompt() -> JsonSchema:
    return described(prompts.KNOWN_FIELDS, "prompt")


def mcp_bash_resource() -> JsonSchema:
    hints = schema_of_field(Field("object", shape=AUDIENCE))
    return described(resources.KNOWN_FIELDS, "resource", {**VALUES, "annotations": hints})


def mcp_bash_register() -> JsonSchema:
    lists = {kind.key: _registered(kind) for kind in register.KINDS}
    return {
        "type": "object",
        "required": ["version"],
        "properties": {
            "version": {"description": "The version of the register's form.", "const": register.VERSION},
            **lists,
            "_meta": {"description": "Further data.", "type": ["object", "null"]},
        },
        "additionalProperties": False,
    }


def _registered(kind: register.RegisteredKind) -> JsonSchema:
    entry = described(kind.known, kind.noun.removeprefix("a "))
    needed = {name: {"type": "string", "pattern": "\\S"} for name in kind.needs}
    item = {"allOf": [entry, {"properties": needed, "required": [*kind.needs]}]}
    text = f"The {kind.key} that the project registers; null for those found in its files."
    return {"description": text, "anyOf": [{"type": "array", "items": item}, {"type": "null"}]}


def blueprint_servers() -> JsonSchema:
    values: dict[str, JsonSchema] = {
        "name": {"description": "The name of the server.", **TEXT},
        "path": {"description": "The path of its endpoint over HTTP.", **TEXT},
        "features": {"description": "Its feature files.", **STRINGS},
    }
    item = {
        "type": "object",
        "properties": {name: values[name] for name in SERVER_FIELDS},
        "required": [*SERVER_FIELDS],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


def blueprint_features() -> JsonSchema:
    kinds = {
        "tools": (LISTED_FIELDS, "content"),
        "resources": (LISTED_RESOURCE_FIELDS, "content"),
        "prompts": (LISTED_FIELDS, "messages"),
    }
    lists = {key: {"type": "array", "items": _feature(fields, more)} for key, (fields, more) in kinds.items()}
    custom = {
        key: {"description": "Ids that Python functions implement.", **STRINGS} for key in LISTS if key not in kinds
    }
    return {"type": "object", "properties": {**lists, **custom}, "additionalProperties": False}


def _feature(fields: Mapping[str, str], more: str) -> JsonSchema:
    texts = {name: {"description": f"The definition's {shown}.", **TEXT} for name, shown in fields.items()}
    properties = {**texts, more: {"description": "What is returned.", "type": "array"}}
    return {"type": "object", "properties": properties, "required": ["id"], "additionalProperties": False}
