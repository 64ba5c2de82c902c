"""The files that a server script names: the list of its tools, and the description of the server.

    MCP_TOOLS_LIST_FILE="$(dirname "${BASH_SOURCE[0]}")/assets/movies_tools.json"

They are found by the end of the written path.  A script that sets no variable has the files of the SDK's defaults.

Other members are the script's own, which reads the file when it runs; the SDK shows them to clients, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.bash_sdk.scripts import find_by_tail, paths_in
from mcpc.languages.bash.forkable import without_comments
from mcpc.languages.bash.lexer import scan_library
from mcpc.model.definitions import ServerDefinition, kind_mismatch
from mcpc.reading import Member
from mcpc.reading.json_tree import fields_of, implied_member, object_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.bash_sdk.scripts import ServerScript
    from mcpc.reading import Node, Source, SourceTree

TOOLS, CONFIG = "MCP_TOOLS_LIST_FILE", "MCP_CONFIG_FILE"
KINDS = {TOOLS: "the list of tools", CONFIG: "the description of the server"}
DEFAULTS = {TOOLS: ("assets/tools_list.json", "tools.json"), CONFIG: ("assets/mcpserverconfig.json", "config.json")}
"""The files of a script that names none, relative to the SDK's file or to the script."""
# A line that sets, exports or declares the variable, or that gives it a default: `: "${NAME:=…}"`.
ASSIGNED = r"^[ \t]*(?:export[ \t]+|readonly[ \t]+|declare[ \t]+-\w+[ \t]+|:[ \t]+\"\$\{{)?{0}:?=(?P<value>[^\n]*)"
JSON_PATH = re.compile(r"[\w.@+,-]+(?:/[\w.@+,-]+)*\.json\b")


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a script names, and the place where it does."""

    source: Source
    span: Span


def find_named(variable: str, script: ServerScript, tree: SourceTree) -> tuple[NamedFile | None, list[Diagnostic]]:
    """Return the file that a variable of the script names, and the problems of finding it."""
    written = [files for source in script.files for files in _assignments(variable, source)]
    if not written:
        return _default(variable, script, tree)
    files: dict[str, NamedFile] = {}
    problems = []
    for tail, span in written:
        candidates = find_by_tail(tail, script.source, tree) if tail else []
        if candidates:
            files.setdefault(candidates[0].path, NamedFile(candidates[0], span))
        elif tail:
            problems.append(_missing(variable, span, f"`{tail}`"))
        else:
            message = f"which file `{variable}` names is only known when the script runs"
            problems.append(diagnose("MCP293", span, message, "a path that ends with the name of a file"))
    if len(files) > 1:
        names = " and ".join(f"`{path}`" for path in files)
        last = list(files.values())[-1]
        hint = "write one script for each server, and choose with `--script`"
        problems.append(diagnose("MCP293", last.span, f"`{variable}` may name {names}", "one file", hint))
    return next(iter(files.values()), None), problems


def _assignments(variable: str, source: Source) -> Iterator[tuple[str, Span]]:
    """Yield the end of each path that a file assigns to a variable; empty if it is not written there."""
    text = without_comments(source.text, scan_library(source.text))
    for match in re.finditer(ASSIGNED.format(variable), text, re.MULTILINE):
        value = match["value"]
        if not value.strip("\"' \t"):
            continue
        paths = paths_in(value, JSON_PATH)
        if paths:
            start = match.start("value")
            yield paths[-1][0], Span(source.path, start + paths[-1].start(), start + paths[-1].end())
        else:
            yield "", Span(source.path, *match.span("value"))


def _default(variable: str, script: ServerScript, tree: SourceTree) -> tuple[NamedFile | None, list[Diagnostic]]:
    for tail in DEFAULTS[variable]:
        for near in (*script.cores, script.source):
            folder = near.path.rpartition("/")[0]
            source = tree.get(f"{folder}/{tail}".lstrip("/"))
            if source is not None:
                return NamedFile(source, Span(source.path)), []
    return None, [_missing(variable, script.main_call, f"`{DEFAULTS[variable][0]}`")]


def _missing(variable: str, span: Span, wanted: str) -> Diagnostic:
    message = f"{KINDS[variable]} is missing: no file of the project is {wanted}"
    return diagnose("MCP004", span, message, "", f"the script names it in `{variable}`; build the folder that has both")


FIELDS = ("serverInfo", "capabilities", "instructions", "_meta")
"""The revision (`protocolVersion`) is negotiated with each client; the SDK has one for all of them."""
UNNAMED = {"name": "BashMCPServer", "version": "0.0.0"}
"""The SDK's name for a server that has none."""
PROMISE = "listChanged"
"""A notification that the SDK never sends."""


def described_server(node: Node) -> tuple[ServerDefinition | None, Diagnostics]:
    """Return the server that a file describes; the script needs the file, and a `server.json` takes precedence."""
    if node.kind != "object":
        return None, (diagnose("MCP101", node.span, kind_mismatch(f"`{node.path}`", "object", node)),)
    fields = {key: member for key, member in fields_of(node).items() if key in FIELDS}
    if "capabilities" in fields:
        fields["capabilities"] = _without_promises(fields["capabilities"])
    fields.setdefault("serverInfo", implied_member("serverInfo", dict(UNNAMED), node.span))
    return ServerDefinition(object_node(fields.values(), node.span), implied=True), ()


def _without_promises(member: Member) -> Member:
    """Return the capabilities without notifications that are never sent."""
    node = member.node
    if node.kind != "object":
        return member
    kept = []
    for capability in node.members:
        value = capability.node
        if value.kind == "object":
            rest = [item for item in value.members if item.key != PROMISE]
            value = object_node(rest, value.span)
        kept.append(Member(capability.key, capability.key_start, capability.key_end, value))
    return Member(member.key, member.key_start, member.key_end, object_node(kept, node.span))
