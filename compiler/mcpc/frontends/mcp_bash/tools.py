"""Tools: programs in folders below `tools/`, in any language, each described beside it or in it.

Packages that tools for Node import are reported, because `node_modules` is never part of a project. Only the tool's
file is read, and only imports at the beginning of a line; others fail when the tool is called.

    tools/greet/tool.sh + tools/greet/tool.meta.json   {"name": "greet", "inputSchema": {…}, "timeoutSecs": 5}

A tool's metadata at run time (`MCP_TOOL_METADATA_JSON`) is its entry in mcp-bash's registry; clients see the part of it
that the protocol defines.

The environment of the server may still allow tools, and a project's policy decides call by call, so that this is only a
note; it explains an empty list at the first start of such a server.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import quoted
from mcpc.frontends.mcp_bash.interfaces import has_interface, with_interface, with_modern_key
from mcpc.frontends.mcp_bash.reading import (
    GROUP_WRITABLE,
    WORLD_WRITABLE,
    ProjectItem,
    base_name,
    folder_of,
    name_of_file,
    with_icons,
    without_suffix,
)
from mcpc.languages.bash.forkable import is_forkable, script_closure
from mcpc.languages.bash.inline_sdk_calls import without_substitutions
from mcpc.languages.bash.library import script_problems
from mcpc.languages.executable import BYTE_ORDER_MARK, SHEBANG, how_to_fix, is_binary, not_runnable
from mcpc.model.definitions import HANDLER_KEY, ToolDefinition
from mcpc.model.ir import ExternalHandler
from mcpc.reading.json_tree import fields_of, implied_member, implied_node, member_at_value, object_node, text_of
from mcpc_runtime.protocol.tool_choice import matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.mcp_bash.reading import Fields, ProjectReader
    from mcpc.model.ir import Server
    from mcpc.model.ir.handlers import PlainData
    from mcpc.reading import Json, Member, Source


FOLDER = "tools"
CONTRACT = "mcp_bash"
SMOKE_TEST = "smoke.sh"
"""A script beside a tool that tests it."""
LISTED_FIELDS = (
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "icons",
    "execution",
    "_meta",
)
MCP_BASH_FIELDS = ("arguments", "path", "timeoutSecs", "timeoutHint", "progressExtendsTimeout", "maxTimeoutSecs")
KNOWN_FIELDS = (*LISTED_FIELDS, *MCP_BASH_FIELDS)
HEADER_FIELDS = ("name", "title", "description", "arguments", "timeoutSecs", "outputSchema", "icons", "annotations")
DEFAULT_SECONDS = 30
"""Default timeout of a tool."""
DEFAULT_MAX_SECONDS = 600
"""Default maximum time of a tool whose progress extends its timeout."""


def discover_tools(reader: ProjectReader) -> list[ProjectItem]:
    """Return the tools in the project's files, in mcp-bash's order: by name, then by path."""
    items = [_found(source, reader) for source in reader.item_files(FOLDER) if _is_in_place(source, reader)]
    return sorted(items, key=lambda item: (text_of(item.fields, "name"), item.path))


def _is_in_place(source: Source, reader: ProjectReader) -> bool:
    if base_name(source.path) == SMOKE_TEST or not is_tool(source):
        return False
    if folder_of(source.path) != FOLDER:
        return True
    hint = f"move it into a separate folder: `{without_suffix(source.path)}/{base_name(source.path)}`"
    reader.report("MCP140", Span(source.path), f"`{source.path}` is directly in `tools/` and is ignored", "", hint)
    return False


def _found(source: Source, reader: ProjectReader) -> ProjectItem:
    fields = reader.described_fields(source, KNOWN_FIELDS)
    named_so = text_of(fields, "name") or text_of(fields, "description")
    schema = fields.get("inputSchema") or fields.get("arguments")
    if not named_so or (schema is not None and schema.node.value == {}):
        said = reader.header_fields(source, (*HEADER_FIELDS, "inputSchema"))
        _check_header(said, reader)
        fields = {**fields, **said}
    if has_interface(folder_of(source.path), reader):
        fields["_meta"] = with_interface(fields.get("_meta"), source, reader)
    return ProjectItem(source, _with_name(fields, source), Span(source.path), folder_of(source.path))


def _check_header(said: Fields, reader: ProjectReader) -> None:
    member = said.pop("inputSchema", None)
    if member is not None:
        reader.report(
            "MCP142", member.key_span, "`inputSchema` is not allowed in a header", "`arguments`", "it means the same"
        )


def _with_name(fields: Fields, source: Source) -> Fields:
    """Return the fields with a name; its default is the file's."""
    if "name" in fields and fields["name"].node.value != "":
        return fields
    return {**fields, "name": name_of_file(source)}


def tool_definition(item: ProjectItem, reader: ProjectReader) -> ToolDefinition | None:
    """Return the tool of an item."""
    if item.file is None:
        return None
    check_tool(item.file, reader)
    fields = _normalised_fields(item, reader)
    limits = _limits(fields, reader)
    entry = _registry_entry(item, fields, limits)
    forks = is_forkable(item.file, reader.by_name)
    facts: dict[str, Json] = {
        **limits,
        "name": text_of(fields, "name"),
        "path": entry["path"],
        "metadata": compact_json(entry if item.entry is None else item.entry.value),
        "output": "outputSchema" in fields,
        "fork": forks,
    }
    read = script_closure(item.file, reader.by_name) if forks else None
    compiled = without_substitutions(item.file, read) if read is not None else b""
    told = fields_of(fields["_meta"].node) if "_meta" in fields else {}
    shows = text_of(fields_of(told["ui"].node), "resourceUri") if "ui" in told else ""
    facts.update({"ui": shows} if shows else {})
    plain = (tuple(sorted(facts.items())),)
    handler = ExternalHandler(item.path, Span(item.path), CONTRACT, plain, unpacks=True, compiled=compiled, forks=forks)
    handling = implied_node({"timeout": _max_seconds(limits), "validate": False}, _limit_span(fields, limits, item))
    meta = [*fields_of(fields["_meta"].node).values()] if "_meta" in fields else []
    fields["_meta"] = member_at_value("_meta", object_node([*meta, member_at_value(HANDLER_KEY, handling)], item.span))
    besides = reader.dialect_members(entry, MCP_BASH_FIELDS, item.span)
    node = object_node((*(fields[key] for key in LISTED_FIELDS if key in fields), *besides), item.span)
    return ToolDefinition(node, handler=handler)


def _normalised_fields(item: ProjectItem, reader: ProjectReader) -> Fields:
    """Return the fields with an input schema that describes an object, and icons that need no files."""
    fields = dict(item.fields)
    schema = fields.get("inputSchema") or fields.get("arguments")
    fields["inputSchema"] = _schema(schema, item)
    if "_meta" in fields:
        fields["_meta"] = with_modern_key(fields["_meta"])
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], item.home, reader)
    return fields


def _schema(written: Member | None, item: ProjectItem) -> Member:
    node = implied_node({}, item.span) if written is None else written.node
    if node.kind != "object":
        return member_at_value("inputSchema", node)
    said = fields_of(node)
    usual: dict[str, Json] = {"type": "object", "properties": {}}
    missing = {key: value for key, value in usual.items() if key not in said or said[key].node.value in ("", [])}
    added = [implied_member(key, value, node.span) for key, value in missing.items()]
    return member_at_value("inputSchema", object_node([*node.members, *added], node.span) if added else node)


def _limits(fields: Fields, reader: ProjectReader) -> dict[str, Json]:
    hint, extends = fields.get("timeoutHint"), fields.get("progressExtendsTimeout")
    if hint is not None and hint.node.kind != "string":
        reader.report("MCP155", hint.node.span, "`timeoutHint` is not a string and is ignored", "what to try instead")
    if extends is not None and extends.node.kind != "boolean" and extends.node.value not in ("true", "false", ""):
        span = extends.node.span
        reader.report("MCP155", span, "`progressExtendsTimeout` is not a boolean and is ignored", "`true` or `false`")
    return {
        "timeoutSecs": reader.whole_seconds(fields, "timeoutSecs"),
        "timeoutHint": text_of(fields, "timeoutHint"),
        "progressExtendsTimeout": extends is not None and (extends.node.value is True or extends.node.value == "true"),
        "maxTimeoutSecs": reader.whole_seconds(fields, "maxTimeoutSecs"),
    }


def _max_seconds(limits: dict[str, Json]) -> Json:
    """Return the maximum time of a call."""
    if limits["progressExtendsTimeout"]:
        return limits["maxTimeoutSecs"] or DEFAULT_MAX_SECONDS
    return limits["timeoutSecs"] or DEFAULT_SECONDS


def _limit_span(fields: Fields, limits: dict[str, Json], item: ProjectItem) -> Span:
    """Return the place of the field that decides the maximum time of a call."""
    key = "maxTimeoutSecs" if limits["progressExtendsTimeout"] else "timeoutSecs"
    return fields[key].node.span if key in fields else item.span


def _registry_entry(item: ProjectItem, fields: Fields, limits: dict[str, Json]) -> dict[str, Json]:
    """Return its entry in mcp-bash's registry."""
    entry: dict[str, Json] = {
        "name": text_of(fields, "name"),
        "description": text_of(fields, "description"),
        "path": item.path.removeprefix(f"{FOLDER}/"),
        "inputSchema": fields["inputSchema"].node.value,
        "timeoutSecs": limits["timeoutSecs"],
    }
    for key in ("timeoutHint", "progressExtendsTimeout", "maxTimeoutSecs"):
        entry.update({key: limits[key]} if limits[key] else {})
    for key in ("outputSchema", "icons", "annotations", "_meta"):
        entry.update({key: fields[key].node.value} if key in fields else {})
    return entry


def compact_json(value: Json) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


EVERYTHING = ("*", "all")


def allowed_tools(server: Server) -> Diagnostics:
    """Report that no tool is allowed yet, and patterns that allow no tool."""
    settings = dict(server.runtime_settings).get(CONTRACT)
    patterns = _patterns(settings.get("allow")) if settings is not None else ()
    names = [
        tool.name
        for tool in server.tools
        if isinstance(tool.handler, ExternalHandler) and tool.handler.contract == CONTRACT
    ]
    if settings is None or not names:
        return ()
    if not patterns and not settings["policy"]:
        message = f"clients will not see the tools of mcp-bash ({_first_names(names)}): they are not allowed yet"
        hint = "build with `--allow '*'` or `--allow NAME`, or start the server with MCPBASH_TOOL_ALLOWLIST set"
        return (diagnose("MCP712", None, message, "", hint),)
    return tuple(
        diagnose("MCP265", None, f"`--allow {pattern}` allows no tool", f"a pattern for some of {_first_names(names)}")
        for pattern in patterns
        if pattern not in EVERYTHING and not any(matches(pattern, name) for name in names)
    )


def _patterns(allowed: PlainData) -> tuple[str, ...]:
    return tuple(map(str, allowed)) if isinstance(allowed, list | tuple) else ()


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return quoted(names[:3]) + more


SCRIPT_ENDINGS = (".sh", ".bash")
EXECUTABLE = 0o111
SHELLS = (b"bash", b"sh")


def is_tool(source: Source) -> bool:
    """Tell whether mcp-bash would run a file: by its mode, its name, or its first line."""
    return bool(source.mode & EXECUTABLE) or source.path.endswith(SCRIPT_ENDINGS) or source.data.startswith(SHEBANG)


def is_bash(source: Source) -> bool:
    """Tell whether a file is a Bash script: by its first line, else by its suffix."""
    if source.data.removeprefix(BYTE_ORDER_MARK).startswith(SHEBANG):
        # The shell is a word of its own in `#!/bin/bash`, and in `#!/usr/bin/env bash`.
        words = source.data.split(b"\n", 1)[0].replace(b"/", b" ").split()
        return any(word in SHELLS for word in words)
    return source.path.endswith(SCRIPT_ENDINGS)


def check_tool(source: Source, reader: ProjectReader) -> None:
    """Report why a tool cannot be run."""
    check_request_script(source, reader)
    report_packages(source, reader)
    if not source.mode & EXECUTABLE:
        hint = f"the server runs it anyway; to fix: `chmod +x {shlex.quote(source.path)}`"
        reader.report("MCP150", Span(source.path), f"`{source.path}` is not executable", "", hint)


def check_request_script(source: Source, reader: ProjectReader) -> None:
    """Report problems of a file that runs for requests; its group may change it."""
    if not reader.report_writable(source, WORLD_WRITABLE) and source.mode & GROUP_WRITABLE:
        reader.shared.append(source)
    _check_script(source, reader)


def check_server_script(source: Source, reader: ProjectReader) -> None:
    """Report problems of a file that the server itself runs; only its owner may change it."""
    reader.report_writable(source)
    _check_script(source, reader)


def _check_script(source: Source, reader: ProjectReader) -> None:
    begun = source.data.startswith((SHEBANG, BYTE_ORDER_MARK + SHEBANG))
    problem = not_runnable(source) if begun else ""
    if problem:
        reader.report("MCP244", Span(source.path), f"`{source.path}` cannot be run: {problem}", "", how_to_fix(problem))
    if is_binary(source):
        message = f"`{source.path}` runs on one platform only"
        reader.report("MCP246", Span(source.path), message, "", "the tool works only on machines of this platform")
    if is_bash(source):
        reader.problems += script_problems(source)


JAVASCRIPT_ENDINGS = (".js", ".mjs", ".cjs")
# `import … "name"` or `const x = require("name")`, where the name is no path and no `#internal` one.
# The repetitions are limited, so that a minified file of one line is searched in linear time.
IMPORT = re.compile(
    r"^[ \t]{0,80}(?:import\b[^\"'\n]{0,500}|(?:const|let|var)[ \t][^=\n]{0,500}= ?require\()"
    r"[\"'](?P<name>[^\"'.#/\n][^\"'\n]*)",
    re.MULTILINE,
)
NAMES = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
    fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
NODE_MODULES = frozenset(NAMES.split())
"""Built-in modules of Node, which may be imported without `node:`."""
HOW_TO_BUNDLE = "copy the needed files of the package beside the tool, or bundle the tool into one file"


def report_packages(source: Source, reader: ProjectReader) -> None:
    """Report packages that a tool imports and that will not be available."""
    if not source.path.endswith(JAVASCRIPT_ENDINGS) and b"node" not in source.data.split(b"\n", 1)[0]:
        return
    for match in IMPORT.finditer(source.text):
        name = match["name"]
        if name.partition(":")[0] != "node" and name.partition("/")[0] not in NODE_MODULES:
            span = Span(source.path, match.start("name"), match.end("name"))
            reader.report(
                "MCP234",
                span,
                f"the package `{name}` will not be available: `node_modules` is left out",
                "",
                HOW_TO_BUNDLE,
            )
