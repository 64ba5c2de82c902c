"""ToolBox's format: every module in `src/tools` is a tool, named after its file, with a `schema` and a default export.

JavaScript and TypeScript are bundled when the server is built; Python has the same contract with a function
`default(request)`.  A tool that cannot be imported is left out, as in ToolBox, and reported.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.frontend import ReloadTool
from mcpc.frontends.toolbox.modules import read_python_tools
from mcpc.frontends.toolbox.scripts import RELOAD, read_script_tools, reload_answer
from mcpc.frontends.toolbox.tool_definitions import DIALECT, ENDINGS, ToolNames, tool_files, tool_name
from mcpc.languages import bundling
from mcpc.model.definitions import Definition, HandlerLibrary, ServerDefinition
from mcpc.model.ir import Traits
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.reading import Json, Source, SourceTree

__all__ = ["DIALECT", "DIALECT_TRAITS", "LOOKS_FOR", "RELOAD_TOOL", "build_inputs", "parse", "recognises"]

LOOKS_FOR = "`src/tools/NAME.ts`, `.js` or `.py` with a `schema` and a default export"
SCHEMA = re.compile(r"^[^\S\n]*export(?:\s+(?:const|let|var)\s+schema\b|\s*\{[^{}]*\bschema\b)", re.MULTILINE)
DEFAULT = re.compile(r"^[^\S\n]*export\s+default\b|\bas\s+default\b", re.MULTILINE)
PYTHON = (
    re.compile(r"^schema\s*[:=]", re.MULTILINE),
    re.compile(r"^(?:async\s+)?def\s+default\s*\(", re.MULTILINE),
)
DIALECT_INFO: dict[str, Json] = {"name": "ToolBox", "version": "0.1.0"}
"""Name and version of every ToolBox."""
DIALECT_TRAITS = Traits(describes_in_schema=True)
"""What `--dialect toolbox` changes."""
RELOAD_TOOL = ReloadTool(RELOAD, reload_answer)
VERSION = "0.1.0"
MANIFEST = "package.json"


def recognises(tree: SourceTree) -> bool:
    """Tell whether a module in the tools folder is a tool."""
    return any(map(is_tool, tool_files(tree)))


def is_tool(source: Source) -> bool:
    """Tell whether a module has a schema and a default export, as far as its text shows."""
    if source.path.endswith(".py"):
        return all(mark.search(source.text) for mark in PYTHON)
    return SCHEMA.search(source.text) is not None and DEFAULT.search(source.text) is not None


def build_inputs(tree: SourceTree) -> tuple[str, ...]:
    """Return what the build depends on besides the sources: the folder's name, and the versions of the bundler."""
    bundled = any(not file.path.endswith(".py") for file in tool_files(tree))
    return (tree.name, *(bundling.build_inputs(tree) if bundled else ()))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read the tools of a project, and the prompts and resources of its handlers."""
    files, problems = distinct_tools(tool_files(tree))
    making = ToolNames(options, frozenset(tool_name(file.path) for file in files))
    scripts, wrong = read_script_tools(tree, [file for file in files if not file.path.endswith(".py")], making)
    problems += wrong
    modules, wrong = read_python_tools(tree, [file for file in files if file.path.endswith(".py")], making)
    problems += wrong
    if not (scripts.tools or modules.tools or has_errors(problems)):
        problems += (diagnose("MCP004", None, "no tool of the project can be served", LOOKS_FOR),)
    name, version = name_and_version(tree, options)
    read = [*files, *(source for path in scripts.read for source in [tree.get(path)] if source)]
    libraries = tuple(HandlerLibrary(tree.files[path], "python", ()) for path in modules.files)
    used = {source.path for source in read}
    definition = Definition(
        format="toolbox",
        server=ServerDefinition(
            implied_node(
                {"serverInfo": {"name": name, "version": version}},
                Span(MANIFEST if tree.get(MANIFEST) else files[0].path if files else "src/tools", 0, 0),
            ),
            True,
        ),
        tools=(*scripts.tools, *modules.tools),
        prompts=scripts.prompts,
        templates=scripts.templates,
        libraries=libraries,
        beside=(
            *scripts.made,
            *(file for path, file in tree.files.items() if is_runtime_file(path) and path not in used),
        ),
        sources=tuple(read),
        complete=scripts.complete and modules.complete,
        runtime_settings=(("toolbox", {"name": name}),),
        live_lists=scripts.live_lists,
    )
    return definition, problems


def distinct_tools(files: tuple[Source, ...]) -> tuple[tuple[Source, ...], Diagnostics]:
    """Return the last file of each tool name, and a problem for each other one."""
    files_by_name: dict[str, Source] = {}
    problems: Diagnostics = ()
    for source in files:
        other = files_by_name.pop(tool_name(source.path), None)
        files_by_name[tool_name(source.path)] = source
        if other is not None:
            message = f"`{other.path}` and `{source.path}` define the same tool, `{tool_name(source.path)}`"
            problems += (diagnose("MCP104", Span(source.path, 0, 0), message, "", "rename or remove one of them"),)
    return tuple(files_by_name.values()), problems


def is_runtime_file(path: str) -> bool:
    """Tell whether tools may need a file when they run: it is neither a bundled source nor a secret."""
    name = path.rpartition("/")[2]
    return path.startswith("src/") and not path.endswith((*ENDINGS, ".map")) and not name.startswith(".env")


def name_and_version(tree: SourceTree, options: Options) -> tuple[str, str]:
    """Return the server's name and version: from `package.json`, else from the folder."""
    if options.dialect == DIALECT:
        return str(DIALECT_INFO["name"]), str(DIALECT_INFO["version"])
    source = tree.get(MANIFEST)
    try:
        said = json.loads(source.data) if source else {}
    except ValueError:
        said = {}
    texts = [said.get(key) if isinstance(said, dict) else None for key in ("name", "version")]
    name, version = (text if isinstance(text, str) else "" for text in texts)
    return name.rpartition("/")[2] or tree.name or "toolbox", version or VERSION
