"""bx-mcp's projects: functions with its marks, beside the settings of its server in `boxlang.json`.

The marks are Python's (`@mcp_tool`, `@mcp_resource`, `@mcp_prompt`), in files at the top of the project and in
`tools/`; code in BoxLang is reported with what it would be in Python.  The settings never go along as a file: they have
secrets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.definitions import Definition, Library, ServerDefinition
from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.bx.boxlang import is_boxlang, untranslated
from mcpc.frontends.bx.settings import FILE, read_settings
from mcpc.frontends.decorated import HOMES, VERSION, Family, decorated, marks_something, node_of
from mcpc.introspection import STATED, find
from mcpc_runtime.protocol.globs import allows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.definitions import ToolDefinition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.bx.settings import Settings
    from mcpc.options import Options
    from mcpc.sources import Json, SourceTree

LOOKS_FOR = (
    "functions marked `@mcp_tool`, `@mcp_resource` or `@mcp_prompt` in Python files at the top or in `tools/`; or "
    "`boxlang.json` with `modules.bxmcp`"
)
FORMAT = "bx-mcp"
FOLDER = "tools/"
MENTION = re.compile(rb"\bmcp_(?:tool|resource|prompt)\b")
MODULE = re.compile(rb'"bx-?mcp"\s*:', re.IGNORECASE)
ELSEWHERE = f"define it in a file at the top of the project, or in `{FOLDER}`"
NOTHING = "settings alone serve nothing"


def recognises(tree: SourceTree) -> bool:
    """Say whether somebody wrote settings or functions for bx-mcp here."""
    source = tree.get(FILE)
    if source is not None and MODULE.search(source.data):
        return True
    return any(is_boxlang(one) for one in tree.files.values()) or bool(homes(tree))


def homes(tree: SourceTree) -> tuple[str, ...]:
    """Return the files with marks of bx-mcp, in the order of their definitions."""
    return tuple(path for path in tree.files if is_home(path) and marked(tree, path))


def is_home(path: str) -> bool:
    """Tell whether a file is at a place where marks define something."""
    return path.endswith(".py") and "/" not in path.removeprefix(FOLDER)


def marked(tree: SourceTree, path: str) -> bool:
    """Tell whether a file has a mark of bx-mcp, or tries to."""
    source = tree.files[path]
    if not MENTION.search(source.data):
        return False
    found = find(source, {}, STATED)
    return found is not None and bool(found.marks or found.seen or not found.runs)


def parse(tree: SourceTree, _: Options) -> tuple[Definition | None, Diagnostics]:
    """Read the settings, and every marked function that they do not leave out."""
    settings, problems = read_settings(tree)
    places = homes(tree)
    described = tree.get("server.json") is not None
    found, about = decorated(tree, described=described, family=Family(STATED, places, ELSEWHERE, HOMES))
    native = any(map(marks_something, tree.files.values()))
    problems += (*untranslated(tree), *about)
    tools, left_out = chosen(found.tools, settings)
    problems += (*left_out, *patterns_without_tools(found.tools, settings))
    if not (found.offers or has_errors(problems) or native or described):
        where = Span(FILE) if tree.get(FILE) else None
        problems += (diagnose("MCP004", where, "no function is marked `@mcp_tool`", LOOKS_FOR, NOTHING),)
    kept = {FILE, *places, *(path for path, one in tree.files.items() if is_boxlang(one))}
    said: Json = {"serverInfo": {"name": tree.name or FORMAT, "version": VERSION}}
    definition = Definition(
        format=FORMAT,
        server=found.server or ServerDefinition(node_of(said, Span(next(iter(places), FILE)), (), {}), implied=True),
        tools=tools,
        prompts=found.prompts,
        resources=found.resources,
        templates=found.templates,
        libraries=tuple(Library(tree.files[path], "python", ()) for path in places),
        beside=tuple(source for path, source in tree.files.items() if path not in kept),
        sources=tuple(source for path, source in tree.files.items() if path in kept),
        complete=not has_errors(problems),
        settings=(("bx", settings.at_run_time()),),
    )
    return definition, problems


def chosen(tools: tuple[ToolDefinition, ...], settings: Settings) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the tools that the settings let in, and a note of each that they do not."""
    kept = tuple(tool for tool in tools if allows(settings.included, settings.excluded, name_of(tool)))
    gone = [tool for tool in tools if tool not in kept]
    hint = f"`includedTools` and `excludedTools` in `{FILE}` decide"
    return kept, tuple(
        diagnose("MCP264", tool.node.span, f"the tool `{name_of(tool)}` is not in the server", "", hint)
        for tool in gone
    )


def patterns_without_tools(tools: tuple[ToolDefinition, ...], settings: Settings) -> Iterator[Diagnostic]:
    """Yield the patterns that name no tool of the project: one with a slip would let in, or keep out, nothing."""
    names = [name_of(tool) for tool in tools]
    for pattern, span in settings.patterns if names else ():
        if not any(allows((pattern,), (), name) for name in names):
            hint = "`*` stands for any characters, `?` for one; upper and lower case differ"
            yield diagnose("MCP265", span, f"no tool matches `{pattern}`", "", hint)


def name_of(tool: ToolDefinition) -> str:
    """Return the name of a tool, nothing if it has none that could be one."""
    name = tool.node.get("name")
    return str(name.value) if name is not None else ""
