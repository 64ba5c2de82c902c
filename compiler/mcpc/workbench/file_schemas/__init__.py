"""JSON Schemas of the files that mcpc reads, for editors: draft-07, which every editor's JSON service knows.

A schema's `$id` is `urn:mcpc:schema:NAME`; it refers to nothing outside itself.

    fields of `lower.protocol_schema` ─json_schema─▶ schemas of definitions      `FILES`: a row for each kind of file

Fields, types and texts are those of the compiler's own checks. A schema refuses what the compiler reports of the form
of one file; what needs other files, such as a missing handler, only the compiler reports.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from mcpc.lower.protocol_schema import COMPLETION, PROMPT, RESOURCE, SERVER, TEMPLATE, TOOL
from mcpc.workbench.file_schemas.cases import case_file, diff_policy, pins, skill_frontmatter
from mcpc.workbench.file_schemas.json_schema import (
    project_tables,
    schema_of_field,
    shared_parts,
)
from mcpc.workbench.file_schemas.other_systems import (
    blueprint_features,
    blueprint_servers,
    mcp_bash_prompt,
    mcp_bash_register,
    mcp_bash_resource,
    mcp_bash_server,
    mcp_bash_tool,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.lower.protocol_schema import Field

__all__ = ["FILES", "FileKind", "kind_of", "schema_of", "schema_text"]

JsonSchema = dict[str, Any]
DRAFT = "http://json-schema.org/draft-07/schema#"


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file.  `globs`: its paths in a project; `language`: `json`, `toml` or `yaml`."""

    name: str
    title: str
    globs: tuple[str, ...]
    build: Callable[[], JsonSchema]
    language: str = "json"

    @property
    def identifier(self) -> str:
        return f"urn:mcpc:schema:{self.name}"


def server() -> JsonSchema:
    return schema_of_field(SERVER)


def collection(key: str, item: Field, also: tuple[str, Field] | None = None) -> Callable[[], JsonSchema]:
    """Return the function that makes the schema of a file with lists of definitions."""

    def build() -> JsonSchema:
        lists = {name: listed(field) for name, field in ((key, item), *((also,) if also else ()))}
        return {
            "type": "object",
            "properties": lists,
            "anyOf": [{"required": [name]} for name in lists],
            "additionalProperties": False,
        }

    return build


def in_folder(key: str, item: Field, also: tuple[str, Field] | None = None) -> Callable[[], JsonSchema]:
    """Return the function that makes the schema of a file in a folder, which may be a single definition."""

    def build() -> JsonSchema:
        fields = (item, *((also[1],) if also else ()))
        names = [key, *((also[0],) if also else ())]
        is_list = {"anyOf": [{"required": [name]} for name in names]}
        single = schema_of_field(fields[0])
        if len(fields) > 1:
            single = {"if": {"required": ["uriTemplate"]}, "then": schema_of_field(fields[1]), "else": single}
        whole = collection(key, item, also)()
        # Not `anyOf`, with which an editor would report what is wrong with both forms.
        return {"if": is_list, "then": whole, "else": single}

    return build


def listed(field: Field) -> JsonSchema:
    return {"type": "array", "items": schema_of_field(field)}


TEMPLATES = ("resourceTemplates", TEMPLATE)
FILES: tuple[FileKind, ...] = (
    FileKind("server", "The server: name, version, instructions, settings", ("server.json",), server),
    FileKind("tools", "Tools", ("tools.json",), collection("tools", TOOL)),
    FileKind("tools-folder", "A tool, or several", ("tools.d/*.json",), in_folder("tools", TOOL)),
    FileKind("prompts", "Prompts", ("prompts.json",), collection("prompts", PROMPT)),
    FileKind("prompts-folder", "A prompt, or several", ("prompts.d/*.json",), in_folder("prompts", PROMPT)),
    FileKind("resources", "Resources", ("resources.json",), collection("resources", RESOURCE, TEMPLATES)),
    FileKind(
        "resources-folder",
        "A resource, a resource template, or several",
        ("resources.d/*.json",),
        in_folder("resources", RESOURCE, TEMPLATES),
    ),
    FileKind("completions", "Completions of arguments", ("completions.json",), collection("completions", COMPLETION)),
    FileKind(
        "completions-folder",
        "A completion, or several",
        ("completions.d/*.json",),
        in_folder("completions", COMPLETION),
    ),
    FileKind("skill", "Frontmatter of a skill", ("skills/*/SKILL.md",), skill_frontmatter, "yaml"),
    FileKind("pyproject", "The tables of mcpc in pyproject.toml", ("pyproject.toml",), project_tables, "toml"),
    FileKind("cases", "Test cases (mcpc test)", ("tests/*.json", "tests/*.yaml", "tests/*.yml"), case_file),
    FileKind("diff-policy", "Changes that a project accepts (mcpc diff --ignore)", (), diff_policy, "toml"),
    FileKind("pins", "Pins of approved servers (mcpc scan --pins)", (), pins),
    FileKind("mcp-bash-server", "The server of an mcp-bash project", ("server.d/server.meta.json",), mcp_bash_server),
    FileKind("mcp-bash-tool", "A tool of mcp-bash", ("tools/*.meta.json", "tools/*/*.meta.json"), mcp_bash_tool),
    FileKind(
        "mcp-bash-prompt", "A prompt of mcp-bash", ("prompts/*.meta.json", "prompts/*/*.meta.json"), mcp_bash_prompt
    ),
    FileKind(
        "mcp-bash-resource",
        "A resource of mcp-bash",
        ("resources/*.meta.json", "resources/*/*.meta.json"),
        mcp_bash_resource,
    ),
    FileKind("mcp-bash-register", "The register of mcp-bash", ("server.d/register.json",), mcp_bash_register),
    FileKind(
        "blueprints-servers",
        "The servers of a knowledge base",
        ("servers.json", "dev/knowledge_base/servers.json"),
        blueprint_servers,
    ),
    FileKind("blueprints-features", "The features of a knowledge base", (), blueprint_features),
)
"""Every kind of file; a kind without paths is used where a path names it."""
BY_NAME = {kind.name: kind for kind in FILES}


def kind_of(path: str) -> FileKind | None:
    """Return the kind of a file of a project by its path; None for any other file."""
    return next((kind for kind in FILES if any(_matches(glob, path) for glob in kind.globs)), None)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile("[^/]*".join(map(re.escape, glob.split("*"))))


def _matches(glob: str, path: str) -> bool:
    return _pattern(glob).fullmatch(path) is not None


@cache
def schema_of(name: str) -> JsonSchema:
    kind = BY_NAME[name]
    body = kind.build()
    schema: JsonSchema = {"$schema": DRAFT, "$id": kind.identifier, "title": kind.title, **body}
    used: dict[str, JsonSchema] = {}
    for key, part in shared_parts().items():
        # A part comes after those that refer to it, so that one pass also finds what only parts need.
        if f'"#/definitions/{key}"' in json.dumps([body, used]):
            used[key] = part
    if used:
        schema["definitions"] = used
    return schema


def schema_text(name: str) -> str:
    return json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n"
