"""The formats a project may be written in; those that recognise a directory read it, each its own files."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends import blueprints, bx, mcp_bash, native, toolbox
from mcpc.frontends.frontend import Frontend
from mcpc.frontends.joining import joined
from mcpc.frontends.lending import lent
from mcpc.sources import SourceTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.sources import Source

__all__ = ["FRONTENDS", "Frontend", "decisive", "recognise", "understand"]


def called(tree: SourceTree) -> tuple[str, ...]:
    """Return what a server is called of which nobody says a name."""
    return (tree.name,)


FRONTENDS: tuple[Frontend, ...] = (
    Frontend("native", ("mcbox",), native.recognises, native.parse, native.LOOKS_FOR),
    Frontend("blueprints", ("mcp-dev-blueprints",), blueprints.recognises, blueprints.parse, blueprints.LOOKS_FOR),
    Frontend("bx-mcp", ("bx", "boxlang"), bx.recognises, bx.parse, bx.LOOKS_FOR, called),
    Frontend("mcp-bash", ("mcp_bash", "mcpbash"), mcp_bash.recognises, mcp_bash.parse, mcp_bash.LOOKS_FOR, called),
    Frontend("toolbox", (), toolbox.recognises, toolbox.parse, toolbox.LOOKS_FOR, toolbox.decisive),
)
"""In the order in which their definitions stand in a server."""
SHOWN = 3
"""How many projects below a folder that is none are named."""


def understand(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Return what the project at `tree` defines, in whatever formats, and what is wrong with it."""
    tree = replace(tree, imports=options.imports)
    found, problems = recognise(tree, options)
    parsed = [frontend.parse(tree, options) for frontend in found]
    problems += tuple(problem for _, wrong in parsed for problem in wrong)
    definitions = [definition for definition, _ in parsed if definition is not None]
    if not definitions:
        return None, problems
    problems = tuple(problem for problem in problems if not excused(problem, definitions))
    definitions, borrowed = lent(definitions)
    problems += borrowed
    definition, more = joined(definitions)
    if not definition.described:
        more = (*more, native.undescribed())
    return definition, (*problems, *more)


def excused(problem: Diagnostic, definitions: Sequence[Definition]) -> bool:
    """Tell whether what one format misses is there in another: something to offer, or a file whose marks are read."""
    if problem.message == native.NOTHING:
        return any(map(offers, definitions))
    elsewhere = {library.source.path for one in definitions if one.format != "native" for library in one.libraries}
    return problem.code == "MCP224" and problem.span is not None and problem.span.path in elsewhere


def offers(definition: Definition) -> bool:
    """Tell whether clients are offered anything."""
    found = (definition.tools, definition.prompts, definition.resources, definition.templates, definition.skills)
    return any(found)


def decisive(tree: SourceTree) -> list[tuple[str, ...]]:
    """Return what decides a build beside the project's files, the options and the machine."""
    return [frontend.decisive(tree) for frontend in FRONTENDS if frontend.recognises(tree)]


IMPORTING = re.compile(rb"^[ \t]*(?:from|import)\s+(?:fastmcp|mcp|mcpc)\b", re.MULTILINE)
MARKING = re.compile(rb"^[ \t]*@\w+(?:\.\w+)?\.(?:tool|prompt|resource)\b", re.MULTILINE)
NAMES = "`server.py`, `tools.py`, `prompts.py`, `resources.py` and `completions.py` of a project's folder"
FOLDER = "name the folder that it lies in"


def recognise(tree: SourceTree, options: Options) -> tuple[tuple[Frontend, ...], Diagnostics]:
    """Return the front ends that read `tree`: the one the options name, else those that recognise something."""
    if options.format or options.kb:
        return _named(options.format or "blueprints")
    found = tuple(frontend for frontend in FRONTENDS if frontend.recognises(tree))
    if found:
        return found, ()
    marked = _marked_elsewhere(tree)
    if marked:
        message = f"no project was recognised here: `{marked}` marks functions, and marks are read in {NAMES}"
        change = "let it import `from mcpc import Server as FastMCP, Context, ToolError`"
        return (), (diagnose("MCP009", Span(marked), message, "", f"rename it to `server.py`, {change}, and {FOLDER}"),)
    wanted = "\n- ".join(("one of", *(f"{frontend.name}: {frontend.looks_for}" for frontend in FRONTENDS)))
    below = _projects_below(tree)
    begin = "`mcpc new` makes a project to begin with"
    hint = f"projects lie below it: {', '.join(below)}; name one of them" if below else begin
    return (), (diagnose("MCP009", None, "no project was recognised here", wanted, hint),)


def _marked_elsewhere(tree: SourceTree) -> str:
    """Return the first Python file that marks functions with a library for MCP, nothing if there is none."""
    found = (
        path
        for path, source in tree.files.items()
        if path.endswith(".py") and MARKING.search(source.data) and IMPORTING.search(source.data)
    )
    return min(found, key=lambda path: (path.count("/"), path), default="")


def _projects_below(tree: SourceTree) -> list[str]:
    """Return some folders of `tree` that are projects, for somebody who names the folder above."""
    folders: dict[str, dict[str, Source]] = {}
    for path, source in tree.files.items():
        folder, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(folder, {})[rest] = replace(source, path=rest)
    found = (
        f"`{folder}`"
        for folder, files in folders.items()
        if any(frontend.recognises(SourceTree(MappingProxyType(files), folder)) for frontend in FRONTENDS)
    )
    return list(islice(found, SHOWN))


def _named(name: str) -> tuple[tuple[Frontend, ...], Diagnostics]:
    rows = {known: frontend for frontend in FRONTENDS for known in (frontend.name, *frontend.aliases)}
    if name in rows:
        return (rows[name],), ()
    near = difflib.get_close_matches(name, rows, n=1)
    hint = f"did you mean `{near[0]}`?" if near else ""
    expected = "one of " + ", ".join(f"`{known}`" for known in rows)
    return (), (diagnose("MCP009", None, f"there is no format `{name}`", expected, hint),)
