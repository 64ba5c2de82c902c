"""Tools: programs in folders below `tools/`, in any language, each with what is written beside it or in it.

    tools/greet/tool.sh + tools/greet/tool.meta.json   {"name": "greet", "inputSchema": {…}, "timeoutSecs": 5}

What a tool finds of itself at run time (`MCP_TOOL_METADATA_JSON`) is the entry of mcp-bash's own registry; clients are
shown of it what the protocol knows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.definitions import ToolDefinition
from mcpc.definitions.handling import HANDLER
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.icons import with_icons
from mcpc.frontends.mcp_bash.interfaces import modern, shows_interface, with_interface
from mcpc.frontends.mcp_bash.nodes import given, made, named, text, whole
from mcpc.frontends.mcp_bash.reading import Found, base, folder_of, stem
from mcpc.frontends.mcp_bash.scripts import is_tool, judge_tool
from mcpc.ir import Foreign
from mcpc.languages.scripts import closure, forkable
from mcpc.languages.substitutions import without_substitutions

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Fields, Reading
    from mcpc.sources import Json, Member, Source

FOLDER = "tools"
CONTRACT = "mcp_bash"
NO_TOOL = "smoke.sh"
"""What is put beside a tool to try it."""
SHOWN = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta")
OURS = ("arguments", "path", "timeoutSecs", "timeoutHint", "progressExtendsTimeout", "maxTimeoutSecs")
KNOWN = (*SHOWN, *OURS)
HEADER = ("name", "title", "description", "arguments", "timeoutSecs", "outputSchema", "icons", "annotations")
SECONDS = 30
"""How long a tool may take that says nothing of it."""
LONGEST = 600
"""How long one may take whose progress gives it more time, if it does not say."""


def discovered(reading: Reading) -> list[Found]:
    """Return the tools that lie in the project, in mcp-bash's order: by name, then by path."""
    found = [_found(source, reading) for source in reading.files(FOLDER) if _is_in_place(source, reading)]
    return sorted(found, key=lambda one: (text(one.fields, "name"), one.path))


def _is_in_place(source: Source, reading: Reading) -> bool:
    if base(source.path) == NO_TOOL or not is_tool(source):
        return False
    if folder_of(source.path) != FOLDER:
        return True
    hint = f"move it into a folder of its own, like `{stem(source.path)}/{base(source.path)}`"
    reading.tell("MCP140", Span(source.path), f"`{source.path}` lies in `tools/` itself, and is no tool", "", hint)
    return False


def _found(source: Source, reading: Reading) -> Found:
    fields = reading.written(source, KNOWN)
    named_so = text(fields, "name") or text(fields, "description")
    schema = fields.get("inputSchema") or fields.get("arguments")
    if not named_so or (schema is not None and schema.node.value == {}):
        said = reading.header(source)
        _misplaced(said, reading)
        fields = {**fields, **said}
    if shows_interface(folder_of(source.path), reading):
        fields["_meta"] = with_interface(fields.get("_meta"), source, reading)
    return Found(source, _with_name(fields, source), Span(source.path), folder_of(source.path))


def _misplaced(said: Fields, reading: Reading) -> None:
    member = said.pop("inputSchema", None)
    if member is not None:
        reading.tell("MCP142", member.key_span, "a header has no `inputSchema`", "`arguments`", "it means the same")
    reading.strangers(said, HEADER)


def _with_name(fields: Fields, source: Source) -> Fields:
    """Return the fields with a name: that of the file, if nobody wrote one."""
    if "name" in fields and fields["name"].node.value != "":
        return fields
    return {**fields, "name": named("name", made(stem(base(source.path)), Span(source.path)))}


def definition(found: Found, reading: Reading) -> ToolDefinition | None:
    """Return the tool."""
    if found.file is None:
        return None
    judge_tool(found.file, reading)
    fields = _normal(found, reading)
    limits = _limits(fields, reading)
    entry = _entry(found, fields, limits)
    facts = {
        **limits,
        "name": text(fields, "name"),
        "path": entry["path"],
        "metadata": compact(entry if found.entry is None else found.entry.value),
        "output": "outputSchema" in fields,
        "fork": forkable(found.file, reading.by_name),
    }
    read = closure(found.file, reading.by_name) if facts["fork"] else None
    compiled = without_substitutions(found.file, read) if read is not None else b""
    shows = _interface(fields)
    facts.update({"ui": shows} if shows else {})
    plain = (tuple(sorted(facts.items())),)
    handler = Foreign(found.path, Span(found.path), CONTRACT, plain, unpacks=True, compiled=compiled)
    handling = made({"timeout": _seconds(limits), "validate": False}, _place(fields, found))
    meta = [*given(fields["_meta"].node).values()] if "_meta" in fields else []
    fields["_meta"] = named("_meta", whole([*meta, named(HANDLER, handling)], found.span))
    besides = reading.shown_besides(entry, OURS, found.span)
    node = whole((*(fields[key] for key in SHOWN if key in fields), *besides), found.span)
    return ToolDefinition(node, handler=handler)


def _interface(fields: Fields) -> str:
    """Return the uri of the interface that shows the tool's results, nothing if none does."""
    told = given(fields["_meta"].node) if "_meta" in fields else {}
    return text(given(told["ui"].node), "resourceUri") if "ui" in told else ""


def _normal(found: Found, reading: Reading) -> Fields:
    """Return the fields with an input schema that describes an object, and icons that need no files."""
    fields = dict(found.fields)
    schema = fields.get("inputSchema") or fields.get("arguments")
    fields["inputSchema"] = _schema(schema, found)
    if "_meta" in fields:
        fields["_meta"] = modern(fields["_meta"])
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], found.home, reading)
    return fields


def _schema(written: Member | None, found: Found) -> Member:
    node = made({}, found.span) if written is None else written.node
    if node.kind != "object":
        return named("inputSchema", node)
    said = given(node)
    usual: dict[str, Json] = {"type": "object", "properties": {}}
    added = [named(key, made(value, node.span)) for key, value in usual.items() if not _says(said, key)]
    return named("inputSchema", whole([*node.members, *added], node.span) if added else node)


def _says(said: Fields, key: str) -> bool:
    return key in said and said[key].node.value not in ("", [])


def _limits(fields: Fields, reading: Reading) -> dict[str, Json]:
    hint, extends = fields.get("timeoutHint"), fields.get("progressExtendsTimeout")
    if hint is not None and hint.node.kind != "string":
        reading.tell("MCP155", hint.node.span, "`timeoutHint` is no text, and is passed over", "what to try instead")
    if extends is not None and extends.node.kind != "boolean" and extends.node.value not in ("true", "false", ""):
        span = extends.node.span
        reading.tell("MCP155", span, "`progressExtendsTimeout` says neither, and is passed over", "`true` or `false`")
    return {
        "timeoutSecs": reading.whole_seconds(fields, "timeoutSecs"),
        "timeoutHint": text(fields, "timeoutHint"),
        "progressExtendsTimeout": extends is not None and (extends.node.value is True or extends.node.value == "true"),
        "maxTimeoutSecs": reading.whole_seconds(fields, "maxTimeoutSecs"),
    }


def _seconds(limits: dict[str, Json]) -> Json:
    """Return how long a call may take at the very most."""
    if limits["progressExtendsTimeout"]:
        return limits["maxTimeoutSecs"] or LONGEST
    return limits["timeoutSecs"] or SECONDS


def _place(fields: Fields, found: Found) -> Span:
    limits = [fields[key].node.span for key in ("maxTimeoutSecs", "timeoutSecs") if key in fields]
    return limits[0] if limits else found.span


def _entry(found: Found, fields: Fields, limits: dict[str, Json]) -> dict[str, Json]:
    """Return the entry that mcp-bash's registry would have."""
    entry: dict[str, Json] = {
        "name": text(fields, "name"),
        "description": text(fields, "description"),
        "path": found.path.removeprefix(f"{FOLDER}/"),
        "inputSchema": fields["inputSchema"].node.value,
        "timeoutSecs": limits["timeoutSecs"],
    }
    for key in ("timeoutHint", "progressExtendsTimeout", "maxTimeoutSecs"):
        entry.update({key: limits[key]} if limits[key] else {})
    for key in ("outputSchema", "icons", "annotations", "_meta"):
        entry.update({key: fields[key].node.value} if key in fields else {})
    return entry


def compact(value: Json) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
