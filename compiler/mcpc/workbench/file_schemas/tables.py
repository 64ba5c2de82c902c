"""The schema of what `pyproject.toml` says to mcpc: `[tool.mcpc]` and the tables in it."""

from __future__ import annotations

from typing import Any

from mcpc.frontends.project_metadata import REGISTRY_KEYS
from mcpc.lower.protocol_schema import SETTING
from mcpc.options import WAYS
from mcpc.release.comparison.rules import RULES
from mcpc.release.releasing import KNOWN
from mcpc.workbench.file_schemas.field_schemas import PATTERNS, SIZE, STRINGS, TEXT, TOOLSETS, schema_of_shape
from mcpc.workbench.file_schemas.working_files import diff_tables

JsonSchema = dict[str, Any]
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
        "scan": _closed("Settings of `mcpc scan`.", {"ignore": _ignored()}),
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


def _ignored() -> JsonSchema:
    text = 'Findings that are ignored: a code, and where: `"SCAN501 tool login"`.'
    return {"description": text, "type": "array", "items": {"type": "string", "pattern": "^ *SCAN[0-9]{3}"}}
