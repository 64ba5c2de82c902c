"""Tools in JavaScript and TypeScript: bundled, asked what they offer, and carried as modules of their own.

A module is loaded when its tool is called, so that one that fails takes no other with it.  What the project's own
handlers of prompts and resources say is asked as well: the prompts at the build, the resources when a client asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.bundling import Description, NodeError, bundle, describe
from mcpc.bundling.node import program
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.toolbox.faults import UNIMPORTED, left_out, not_imported, unlocked
from mcpc.frontends.toolbox.handled import CONTRACT, HANDLERS, existing, handled, probe
from mcpc.frontends.toolbox.naming import ENDINGS, schema_of, stem
from mcpc.frontends.toolbox.shaping import shaped
from mcpc.ir import Foreign
from mcpc.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from mcpc.bundling import Bundle
    from mcpc.definitions import PromptDefinition, TemplateDefinition, ToolDefinition
    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.toolbox.shaping import Making
    from mcpc.sources import Json, SourceTree

HOME = ".mcpc/toolbox/"
"""Where the modules lie in a server, beside the one that runs them."""
PROGRAMS = ("host.mjs", "surroundings.mjs")
RELOAD = "buildReload_tool"
"""The tool that builds and loads a project anew; a built server cannot, and says what does."""
RELOADS = "Build the server again and load it: `mcpc dev` does so."


@dataclass(frozen=True, slots=True)
class Scripts:
    """What was found in scripts, the files that were made of them, and those that were read."""

    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    templates: tuple[TemplateDefinition, ...] = ()
    made: tuple[Source, ...] = ()
    read: tuple[str, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    complete: bool = True


def script_tools(tree: SourceTree, files: Sequence[Source], making: Making) -> tuple[Scripts, Diagnostics]:
    """Return the tools of these files, with the prompts and resources beside them."""
    if not files:
        return Scripts(), ()
    handlers = {kind: path for kind, stemmed in HANDLERS.items() for path in [existing(tree, stemmed)] if path}
    entries = [source.path for source in files if stem(source.path) != RELOAD]
    try:
        bundled = bundle(tree, [*entries, *handlers.values()])
        offered = described(bundled, entries, handlers) if tree.imports else unimported([*entries, *handlers])
    except NodeError as problem:
        return Scripts(complete=False), (diagnose("MCP408", Span(files[0].path), str(problem)),)
    problems = [*unlocked(bundled, tree), *left_out(bundled, tree)]
    tools: list[ToolDefinition] = []
    for source in files:
        made, found = tool(source, offered.get(source.path), making, bundled.native.get(source.path, ()))
        tools += made
        problems += found
    kept = [one for one in entries if any(tool.node.path == one for tool in tools)]
    prompts, templates, found = handled(tree, handlers, offered)
    problems += found
    read = tuple(path for path in tree.files if path.startswith("src/") and path.endswith(ENDINGS))
    whole = Scripts(
        tools=tuple(tools),
        prompts=prompts,
        templates=templates,
        made=tuple(carried(bundled, kept, handlers, tools)),
        read=tuple(path for path in read if path not in entries),
        settings=tuple(("live", {"resources/list": probe(one)}) for one in templates[:1]),
    )
    return whole, tuple(problems)


def module_of(path: str) -> str:
    """Return what a file's bundle is called."""
    return f"{path.removeprefix('src/').rpartition('.')[0]}.mjs"


def unimported(names: Sequence[str]) -> dict[str, Description]:
    """Return what is known of modules that are not imported: nothing."""
    return {name: Description(failure=UNIMPORTED) for name in names}


def described(bundled: Bundle, entries: Sequence[str], handlers: Mapping[str, str]) -> dict[str, Description]:
    """Return what those of the modules offer that could be bundled, by their files; of handlers, by their kinds."""
    tools = {path: module_of(path) for path in entries if module_of(path) in bundled.modules}
    others = {kind: module_of(path) for kind, path in handlers.items() if module_of(path) in bundled.modules}
    return describe(bundled.modules, bundled.maps, tools, others)


def tool(
    source: Source, offered: Description | None, making: Making, native: tuple[str, ...]
) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the definitions of one tool; none, with the reason, if it cannot be imported or called."""
    name, span = stem(source.path), schema_of(source)
    if name == RELOAD:
        return reloading(source, making)
    if offered is None:
        return (), ()  # it was left out of the bundle, which was told
    if offered.failure:
        return (), (not_imported(source, offered, native),)
    if offered.handler != "function":
        message = f"`{source.path}` exports no function by default: it is left out"
        return (), (diagnose("MCP251", span, message, "export default async function (request) { … }"),)
    handler = Foreign(source.path, span, CONTRACT, ("tool", name), unpacks=True)
    made, problems = shaped(source, offered.schema, handler, making)
    if offered.unwritten:
        message = f"the schema of `{name}` cannot be written as JSON: {offered.unwritten}"
        problems = (diagnose("MCP252", span, message),)
    return made, problems


def reloading(source: Source, making: Making) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the tool that builds anew, which says in a built server what does so."""
    shown = {"name": RELOAD, "description": RELOADS, "type": "object", "properties": {}}
    handler = Foreign(source.path, schema_of(source), CONTRACT, ("tool", RELOAD), unpacks=True)
    hint = "`mcpc dev` serves a project while it is written, and answers this tool"
    message = f"a built server cannot build itself: `{RELOAD}` says so"
    return shaped(source, shown, handler, making)[0], (diagnose("MCP255", Span(source.path), message, "", hint),)


def carried(
    bundled: Bundle, kept: Sequence[str], handlers: Mapping[str, str], tools: Sequence[ToolDefinition]
) -> Iterator[Source]:
    """Yield the files that a server is to have: the modules, what runs them, and which tool each of them is."""
    others = {kind: module_of(path) for kind, path in handlers.items() if module_of(path) in bundled.modules}
    left = {module_of(path) for path in bundled.faults}
    listed = {stem(tool.node.path): module_of(tool.node.path) for tool in tools if tool.node.path in kept}
    names = {str(tool.node.value["name"]): stem(tool.node.path) for tool in tools}  # type: ignore[index,call-overload]
    said: dict[str, Json] = {
        "tools": dict(sorted(listed.items())),
        "handlers": dict(others),
        "aliases": {name: stemmed for name, stemmed in sorted(names.items()) if name != stemmed},
        "reload": RELOAD,
    }
    yield Source(f"{HOME}tools.json", json.dumps(said, ensure_ascii=False).encode())
    for name in PROGRAMS:
        yield Source(HOME + name, program(name))
    for path, data in bundled.modules.items():
        if path not in left:
            yield Source(HOME + path, data)
