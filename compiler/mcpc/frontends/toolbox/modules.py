"""Tools in Python with ToolBox's contract: a dictionary `schema`, a function `default(request)`, and `destroy()`.

A literal schema is read without running anything; a computed one is evaluated by importing the module in a separate
process, like decorated functions.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
import mcpc_runtime
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.introspection.process import ISOLATED, copy_project, was_not_imported
from mcpc.frontends.toolbox.tool_definitions import convert_schema, schema_span, tool_name
from mcpc.model.ir import PythonFunction
from mcpc.packages import read_requirements, stage_project_packages
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.sandbox.confinement.model import IMPORT_SECONDS, TIME_LIMIT_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.toolbox.tool_definitions import ToolNames
    from mcpc.model.definitions import ToolDefinition
    from mcpc.reading import Source, SourceTree

CONTRACT = "toolbox_python"
FUNCTION_NAME = "default"
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
        return (ast.literal_eval(written[-1]) if written else None), functions[-1], ()
    except ValueError:
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
