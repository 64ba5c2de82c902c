"""ToolBox's format: every module in `src/tools` is a tool, named after its file, with a `schema` and a default export.

JavaScript and TypeScript are bundled when the server is built; Python has the same contract with a function
`default(request)`.  A tool that cannot be imported is left out, as in ToolBox, and reported.

A literal schema of a tool in Python is read without running anything; a computed one is evaluated by importing the
module in a separate process, like decorated functions.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
import mcpc_runtime
from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.frontend import ReloadTool
from mcpc.frontends.introspection.process import ISOLATED, copy_project, was_not_imported
from mcpc.frontends.toolbox.scripts import RELOAD, read_script_tools, reload_answer
from mcpc.frontends.toolbox.tool_definitions import (
    DIALECT,
    ENDINGS,
    ToolNames,
    convert_schema,
    schema_span,
    tool_files,
    tool_name,
)
from mcpc.languages import bundling
from mcpc.model.definitions import Definition, HandlerLibrary, ServerDefinition
from mcpc.model.ir import PythonFunction, Traits
from mcpc.packages import read_requirements, stage_project_packages
from mcpc.reading.json_tree import implied_node
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.sandbox.confinement.model import IMPORT_SECONDS, TIME_LIMIT_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import ToolDefinition
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
        # Taken out, so that the last file of a name also has the last place.
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


CONTRACT = "toolbox_python"
FUNCTION_NAME = "default"
# The schema alone goes to standard output, where the answer is read; what the module prints goes to standard error.
EVALUATOR = (
    "import sys,json;n=sys.argv[1];sys.path[:0]=sys.argv[2:];out=sys.stdout;sys.stdout=sys.stderr;"
    "m=__import__(n,fromlist=['schema']);print(json.dumps(getattr(m,'schema',None)),file=out)"
)


@dataclass(frozen=True, slots=True)
class PythonTools:
    """The tools of Python modules, and the files that contain a tool."""

    tools: tuple[ToolDefinition, ...] = ()
    files: tuple[str, ...] = ()
    complete: bool = True


def read_python_tools(tree: SourceTree, files: Sequence[Source], making: ToolNames) -> tuple[PythonTools, Diagnostics]:
    """Return the tools of these files."""
    tools: list[ToolDefinition] = []
    problems: list[Diagnostic] = []
    for source in files:
        schema, function, wrong = read_module(source, tree)
        problems += wrong
        if function is not None:
            place = source.offset(function.lineno, 1)
            handler = PythonFunction(
                function=FUNCTION_NAME,
                file=source.path,
                span=Span(source.path, place, place),
                accepts_any=True,
                is_async=isinstance(function, ast.AsyncFunctionDef),
                contract=CONTRACT,
                binding=("toolbox", tool_name(source.path)),
                context="context",
            )
            made, odd = convert_schema(source, schema, handler, making)
            tools += made
            problems += odd
    used = {tool.node.path for tool in tools}
    kept = tuple(source.path for source in files if source.path in used)
    return PythonTools(tuple(tools), kept, len(kept) == len(files)), tuple(problems)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_module(source: Source, tree: SourceTree) -> tuple[object, Function | None, Diagnostics]:
    """Return a module's schema and its function; if it is not a tool, no function and the reason."""
    try:
        body = ast.parse(source.data).body
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None) or 1
        offset = source.offset(line, getattr(problem, "offset", None) or 1)
        message = f"the module cannot be read: {getattr(problem, 'msg', problem)}"
        return None, None, (diagnose("MCP205", Span(source.path, offset, offset), message),)
    functions = [item for item in body if isinstance(item, Function) and item.name == FUNCTION_NAME]
    if not functions or not tool_name(source.path).isidentifier():
        message = (
            f"`{source.path}` is left out: it lacks the function `{FUNCTION_NAME}`, or its name cannot be imported"
        )
        return None, None, (diagnose("MCP251", Span(source.path, 0, 0), message, f"def {FUNCTION_NAME}(request): …"),)
    written = [item.value for item in body if isinstance(item, Assignment) and assigns_schema(item) and item.value]
    try:
        # The last assignment and the last definition count, as when the module runs.
        return (ast.literal_eval(written[-1]) if written else None), functions[-1], ()
    except (ValueError, TypeError, MemoryError, RecursionError):
        if not tree.options.imports:
            return None, None, (was_not_imported(source.path),)
        schema, why = evaluate_schema(source, tree)
    if why:
        message = f"`{tool_name(source.path)}` cannot be imported, and is left out: {why}"
        return None, None, (diagnose("MCP250", schema_span(source), message),)
    return schema, functions[-1], ()


Assignment = ast.Assign | ast.AnnAssign


def assigns_schema(statement: Assignment) -> bool:
    """Tell whether a statement assigns the schema."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Name) and target.id == "schema" for target in targets)


def evaluate_schema(source: Source, tree: SourceTree) -> tuple[object, str]:
    """Return the schema that a module computes, or why it is not available."""
    wanted, _ = read_requirements(tree, [source])
    staged = stage_project_packages(wanted, tree)[0] if wanted else None
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        copy_project(tree, root / "project")
        mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
        packages = [str(staged.root)] if staged else []
        name = source.path.removesuffix(".py").replace("/", ".")
        words = [sys.executable, *ISOLATED, "-c", EVALUATOR, name, str(root / "project"), *packages, *mine]
        variables = {"PYTHONHASHSEED": "0"}
        needed = (*packages, *mine)
        done = confinement.run_confined(
            ConfinedProgram(words, root, root / "project", IMPORT_SECONDS, variables, needed, replies=1)
        )
    if done.status is None:
        return None, TIME_LIMIT_MESSAGE if done.why.startswith("the import did not end") else done.how
    if done.status:
        lines = done.output.decode(errors="replace").strip().splitlines()
        return None, lines[-1] if lines else f"status {done.status}"
    try:
        return json.loads(done.answer), ""
    except (ValueError, RecursionError):
        return None, "its schema cannot be written as JSON"
