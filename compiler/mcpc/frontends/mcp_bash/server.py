"""The server's description, and the settings of its runtime.

    server.d/server.meta.json        name, version, title, description, websiteUrl, icons
    server.d/server.instructions.md  instructions
    config/roots.json                {"roots": [{"path": "data", "name": "Data"}]}

A description is optional: the default name is the folder's, the default version the one of `VERSION` or `package.json`.

It is left out only if no file of the project can use it: no file contains a text that refers to it, and no tool runs in
a shell that has read it.  jq's language in Python is left out if no file reads arguments.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.reading import with_icons
from mcpc.frontends.mcp_bash.resources import project_providers
from mcpc.frontends.mcp_bash.tools import check_server_script, compact_json
from mcpc.model.definitions import ServerDefinition
from mcpc.reading import Source
from mcpc.reading.json_tree import fields_of, implied_member, member_at_value, object_node, text_of
from mcpc.reading.tree import template_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.frontends.mcp_bash.reading import Fields, ProjectReader
    from mcpc.model.ir.handlers import PlainData
    from mcpc.reading import Json

HOME = "server.d"
META = "server.d/server.meta.json"
INSTRUCTIONS = "server.d/server.instructions.md"
ROOTS = "config/roots.json"
SCRIPTS = {"policy": "server.d/policy.sh", "env": "server.d/env.sh", "health": "server.d/health-checks.sh"}
"""The scripts of a server, by their names in the runtime's settings."""
LISTED_FIELDS = ("name", "title", "version", "description", "websiteUrl", "icons")
BUNDLE_FIELDS = ("screenshots", "platform_overrides", "_meta", "localization")
"""Fields only for the bundles of desktop clients."""
TEXT_FIELDS = ("name", "version", "title", "description", "websiteUrl")
DEFAULT_NAME = "mcp-server"
DEFAULT_VERSION = "0.0.0"


def described_server(reader: ProjectReader) -> tuple[Fields, bool]:
    """Return the complete fields of the server, and whether the project describes it."""
    source = reader.tree.get(META)
    node = reader.read_object(META) if source is not None else None
    fields = fields_of(node)
    reader.report_unknown_fields(fields, (*LISTED_FIELDS, *BUNDLE_FIELDS))
    span = Span(META) if node is None else node.span
    name = text_of(fields, "name") or reader.tree.name or DEFAULT_NAME
    usual = {
        "name": name,
        "title": " ".join(word[:1].upper() + word[1:] for word in name.replace("-", " ").replace("_", " ").split()),
        "version": _version(reader),
    }
    missing = {key: value for key, value in usual.items() if key not in fields or fields[key].node.value == ""}
    added = {key: implied_member(key, value, span) for key, value in missing.items()}
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], HOME, reader)
    kept = {**fields, **added}
    return {key: kept[key] for key in LISTED_FIELDS if key in kept}, source is not None


def _version(reader: ProjectReader) -> str:
    said = reader.tree.get("VERSION")
    if said is not None and "".join(said.text.split()):
        return "".join(said.text.split())
    package = reader.tree.get("package.json")
    try:
        version = json.loads(package.data).get("version") if package is not None else ""
    except (ValueError, AttributeError, RecursionError):
        version = ""  # whose file that is says what is wrong with it
    return version if isinstance(version, str) and version else DEFAULT_VERSION


def server_definition(
    fields: Fields, reader: ProjectReader, *, implied: bool, offers: tuple[bool, bool]
) -> ServerDefinition:
    """Return the server's description; `offers`: whether it has tools, which log, and resources, which change."""
    members = fields.values()
    span = next(iter(members)).node.span
    has_tools, has_resources = offers
    capabilities: dict[str, Json] = {"logging": {}} if has_tools else {}
    capabilities.update({"resources": {"subscribe": True}} if has_resources else {})
    said = [
        member_at_value("serverInfo", object_node(members, span)),
        implied_member("capabilities", capabilities, span),
    ]
    instructions = _instructions(reader)
    if instructions:
        said.append(implied_member("instructions", instructions, Span(INSTRUCTIONS)))
    return ServerDefinition(object_node(said, span), implied=implied)


def _instructions(reader: ProjectReader) -> str:
    source = reader.tree.get(INSTRUCTIONS)
    return "" if source is None else (reader.read_text(source) or "").rstrip("\n")


def runtime_settings(fields: Fields, reader: ProjectReader) -> dict[str, PlainData]:
    """Return the runtime settings of the server."""
    known = {key: text_of(fields, key) for key in TEXT_FIELDS}
    icons = compact_json(fields["icons"].node.value) if "icons" in fields else ""
    hooks = {name: reader.tree.get(path) for name, path in SCRIPTS.items()}
    for source in hooks.values():
        if source is not None:
            check_server_script(source, reader)
    return {
        "server": {**known, "icons": icons, "instructions": _instructions(reader)},
        "roots": _roots(reader),
        **{name: source is not None for name, source in hooks.items()},
        "allow": [*reader.options.allow],
        "providers": [*project_providers(reader)],
        "project": reader.tree.name,
        "dialect": reader.options.dialect,
    }


def _roots(reader: ProjectReader) -> list[list[str]]:
    """Return the folders that tools may use unless a client sends others: each with its path and name."""
    node = reader.read_object(ROOTS) if ROOTS in reader.tree.files else None
    listed = node.get("roots") if node is not None else None
    if node is not None and (listed is None or listed.kind != "array"):
        span = node.span if listed is None else listed.span
        reader.report(
            "MCP155", span, f"`{ROOTS}` does not list any roots", '`{"roots": [{"path": "data", "name": "Data"}]}`'
        )
    roots = []
    for item in listed.items if listed is not None else ():
        said = fields_of(item)
        if text_of(said, "path"):
            roots.append([text_of(said, "path"), text_of(said, "name")])
        else:
            reader.report("MCP155", item.span, "a root without a `path` is ignored", '`{"path": "data"}`')
    return roots


SDK_FOLDER = ".mcpc/mcp-bash"
"""Project folders that begin with a dot are never read, so that this folder is free."""
EXECUTABLE, PLAIN = 0o755, 0o644
SDK_REFERENCE = re.compile(rb"MCP_SDK|(?:tool|ui)-sdk|MCPBASH_HOME|mcp-bash/(?:sdk|lib|providers)\b")
FILTER_FILES = tuple(f"lib/python/{name}.py" for name in ("json_filter", "json_filters", "json_functions"))
"""jq's language in Python: for arguments where Bash is not sufficient and there is no jq."""
# Functions for raw texts need no filter, and `mcp_` before anything but a letter may become any name.
ARGUMENT_FILTER = re.compile(rb"args_(?!raw\b)|meta_(?!raw\b)|require_path|mcp_[^a-z]")
"""Texts of a script that reads arguments by a filter, or composes function names."""
ALWAYS_INCLUDED = ("lib/health.sh", "lib/tool-policy.sh", "providers/")
"""Files that the server itself runs."""


def sdk_files(project: Iterable[Source], *, forks: bool) -> tuple[Source, ...]:
    """Return the library's files that are included with a project, ordered by path."""
    files = tuple(project)
    is_meant = forks or any(SDK_REFERENCE.search(source.data) for source in files)
    asks = is_meant and any(ARGUMENT_FILTER.search(source.data) for source in files)
    always = tuple(f"{SDK_FOLDER}/{place}" for place in ALWAYS_INCLUDED)
    left_out = () if asks else tuple(f"{SDK_FOLDER}/{place}" for place in FILTER_FILES)
    sources = [
        file for file in _library_files() if (is_meant and file.path not in left_out) or file.path.startswith(always)
    ]
    return tuple(sorted(sources, key=lambda source: source.path))


def _library_files() -> Iterator[Source]:
    folder = template_folder() / "mcp_bash"
    # In any order: the caller sorts them.
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            data = file.read_bytes()
            path = f"{SDK_FOLDER}/{file.relative_to(folder).as_posix()}"
            yield Source(path, data, EXECUTABLE if data.startswith(b"#!") else PLAIN)
