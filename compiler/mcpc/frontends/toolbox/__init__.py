"""ToolBox's format: every module in `src/tools` is a tool, called as its file is, with a `schema` and a default export.

JavaScript and TypeScript are bundled when the server is built; Python keeps the same contract with a function
`default(request)`.  A tool that cannot be imported is left out, as ToolBox does, and told of.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc import bundling
from mcpc.definitions import Definition, Library, ServerDefinition
from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.toolbox.modules import python_tools
from mcpc.frontends.toolbox.naming import ENDINGS, stem, tool_files
from mcpc.frontends.toolbox.scripts import script_tools
from mcpc.frontends.toolbox.shaping import DIALECT, Making, node_of

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.sources import Json, Source, SourceTree

LOOKS_FOR = "`src/tools/NAME.ts`, `.js` or `.py` with a `schema` and a default export"
SCHEMA = re.compile(r"^[^\S\n]*export(?:\s+(?:const|let|var)\s+schema\b|\s*\{[^{}]*\bschema\b)", re.MULTILINE)
DEFAULT = re.compile(r"^[^\S\n]*export\s+default\b|\bas\s+default\b", re.MULTILINE)
PYTHON = (
    re.compile(r"^schema\s*[:=]", re.MULTILINE),
    re.compile(r"^(?:async\s+)?def\s+default\s*\(", re.MULTILINE),
)
EXACT: dict[str, Json] = {"name": "ToolBox", "version": "0.1.0"}
"""What every ToolBox calls itself."""
VERSION = "0.1.0"
MANIFEST = "package.json"


def recognises(tree: SourceTree) -> bool:
    """Tell whether a module among the tools has what makes it one."""
    return any(map(is_tool, tool_files(tree)))


def is_tool(source: Source) -> bool:
    """Tell whether a module has a schema and a default export, as far as its text shows."""
    if source.path.endswith(".py"):
        return all(mark.search(source.text) for mark in PYTHON)
    return SCHEMA.search(source.text) is not None and DEFAULT.search(source.text) is not None


def decisive(tree: SourceTree) -> tuple[str, ...]:
    """Return what decides the build of a project beside its sources: its folder's name, and what bundles its tools."""
    bundled = any(not one.path.endswith(".py") for one in tool_files(tree))
    return (tree.name, *(bundling.decisive(tree) if bundled else ()))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read the tools of a project, and the prompts and resources of its own handlers."""
    files, problems = distinct(tool_files(tree))
    making = Making(options, frozenset(stem(one.path) for one in files))
    scripts, found = script_tools(tree, [one for one in files if not one.path.endswith(".py")], making)
    problems += found
    modules, found = python_tools(tree, [one for one in files if one.path.endswith(".py")], making)
    problems += found
    if not (scripts.tools or modules.tools or has_errors(problems)):
        problems += (diagnose("MCP004", None, "no tool of the project can be served", LOOKS_FOR),)
    name, version = described(tree, options)
    read = [*files, *(source for path in scripts.read for source in [tree.get(path)] if source)]
    libraries = tuple(Library(tree.files[path], "python", ()) for path in modules.files)
    used = {source.path for source in read}
    definition = Definition(
        format="toolbox",
        server=ServerDefinition(node_of({"serverInfo": {"name": name, "version": version}}, place(tree, files)), True),
        tools=(*scripts.tools, *modules.tools),
        prompts=scripts.prompts,
        templates=scripts.templates,
        libraries=libraries,
        beside=(*scripts.made, *(one for path, one in tree.files.items() if lies_beside(path) and path not in used)),
        sources=tuple(read),
        complete=scripts.complete and modules.complete,
        settings=(("toolbox", {"name": name}), *scripts.settings),
    )
    return definition, problems


def distinct(files: tuple[Source, ...]) -> tuple[tuple[Source, ...], Diagnostics]:
    """Return a file for each name, the last one, and the files that would be tools of a name that another one has."""
    found: dict[str, Source] = {}
    problems: Diagnostics = ()
    for source in files:
        other = found.pop(stem(source.path), None)
        found[stem(source.path)] = source
        if other is not None:
            message = f"`{other.path}` and `{source.path}` are one tool, `{stem(source.path)}`"
            problems += (diagnose("MCP104", Span(source.path, 0, 0), message, "", "rename or remove one of them"),)
    return tuple(found.values()), problems


def lies_beside(path: str) -> bool:
    """Tell whether a file may be wanted by tools when they run: what is no source of a bundle, and no secret."""
    name = path.rpartition("/")[2]
    return path.startswith("src/") and not path.endswith((*ENDINGS, ".map")) and not name.startswith(".env")


def described(tree: SourceTree, options: Options) -> tuple[str, str]:
    """Return the server's name and version: as `package.json` says, else of the folder."""
    if options.dialect == DIALECT:
        return str(EXACT["name"]), str(EXACT["version"])
    source = tree.get(MANIFEST)
    try:
        said = json.loads(source.data) if source else {}
    except ValueError:
        said = {}
    texts = [said.get(key) if isinstance(said, dict) else None for key in ("name", "version")]
    name, version = (text if isinstance(text, str) else "" for text in texts)
    return name.rpartition("/")[2] or tree.name or "toolbox", version or VERSION


def place(tree: SourceTree, files: tuple[Source, ...]) -> Span:
    """Return the place that stands for the server, which nobody wrote down."""
    return Span(MANIFEST if tree.get(MANIFEST) else files[0].path if files else "src/tools", 0, 0)
