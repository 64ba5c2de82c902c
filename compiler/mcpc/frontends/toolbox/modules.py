"""Tools in Python that keep ToolBox's contract: a dictionary `schema`, a function `default(request)`, and `destroy()`.

A schema that is written out is read without running anything; one that is worked out is asked of the module, in a
process of its own, as marked functions are.
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
from mcpc import confinement
from mcpc.asked import LATE, SECONDS
from mcpc.confinement import Job
from mcpc.dependencies import requirements, stage
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.toolbox.naming import schema_of, stem
from mcpc.frontends.toolbox.shaping import shaped
from mcpc.introspection.process import ISOLATED, copy
from mcpc.introspection.unimported import was_not_imported
from mcpc.ir import PythonFunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import ToolDefinition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.toolbox.shaping import Making
    from mcpc.sources import Source, SourceTree

CONTRACT = "toolbox_python"
FUNCTION = "default"
ASK = (
    "import sys,json;n=sys.argv[1];sys.path[:0]=sys.argv[2:];out=sys.stdout;sys.stdout=sys.stderr;"
    "m=__import__(n,fromlist=['schema']);print(json.dumps(getattr(m,'schema',None)),file=out)"
)


@dataclass(frozen=True, slots=True)
class Modules:
    """What was found in Python modules, and which of them have a tool."""

    tools: tuple[ToolDefinition, ...] = ()
    files: tuple[str, ...] = ()
    complete: bool = True


def python_tools(tree: SourceTree, files: Sequence[Source], making: Making) -> tuple[Modules, Diagnostics]:
    """Return the tools of these files."""
    tools: list[ToolDefinition] = []
    problems: list[Diagnostic] = []
    for source in files:
        schema, function, found = read(source, tree)
        problems += found
        if function is not None:
            span = Span(source.path, function.col_offset, function.col_offset)
            handler = handler_of(source, function, span)
            made, odd = shaped(source, schema, handler, making)
            tools += made
            problems += odd
    used = {tool.node.path for tool in tools}
    kept = tuple(source.path for source in files if source.path in used)
    return Modules(tuple(tools), kept, len(kept) == len(files)), tuple(problems)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def handler_of(source: Source, function: Function, span: Span) -> PythonFunction:
    """Return a module's function as what is called; what it is given is its binding's business."""
    return PythonFunction(
        function=FUNCTION,
        file=source.path,
        span=span,
        accepts_any=True,
        is_async=isinstance(function, ast.AsyncFunctionDef),
        contract=CONTRACT,
        binding=("toolbox", stem(source.path)),
        context="context",
    )


def read(source: Source, tree: SourceTree) -> tuple[object, Function | None, Diagnostics]:
    """Return a module's schema and its function; no function, with the reason, if it is no tool."""
    try:
        body = ast.parse(source.data).body
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None) or 1
        offset = source.offset(line, getattr(problem, "offset", None) or 1)
        message = f"the module cannot be read: {getattr(problem, 'msg', problem)}"
        return None, None, (diagnose("MCP205", Span(source.path, offset, offset), message),)
    functions = [one for one in body if isinstance(one, Function) and one.name == FUNCTION]
    if not functions or not stem(source.path).isidentifier():
        message = f"`{source.path}` is left out: it has no function `{FUNCTION}`, or no name that can be imported"
        return None, None, (diagnose("MCP251", Span(source.path, 0, 0), message, f"def {FUNCTION}(request): …"),)
    written = [one.value for one in body if isinstance(one, Assignment) and assigns_schema(one) and one.value]
    try:
        return (ast.literal_eval(written[-1]) if written else None), functions[-1], ()
    except ValueError:
        if not tree.imports:
            return None, None, (was_not_imported(source.path),)
        schema, why = asked(source, tree)
    if why:
        message = f"`{stem(source.path)}` cannot be imported, and is left out: {why}"
        return None, None, (diagnose("MCP250", schema_of(source), message),)
    return schema, functions[-1], ()


Assignment = ast.Assign | ast.AnnAssign


def assigns_schema(statement: Assignment) -> bool:
    """Tell whether a statement gives the schema its value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Name) and target.id == "schema" for target in targets)


def asked(source: Source, tree: SourceTree) -> tuple[object, str]:
    """Return the schema that a module works out, or why it does not say."""
    wanted, _ = requirements(tree, [source])
    staged = stage(wanted)[0] if wanted else None
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        copy(tree, root / "project")
        mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
        packages = [str(staged.root)] if staged else []
        name = source.path.removesuffix(".py").replace("/", ".")
        words = [sys.executable, *ISOLATED, "-c", ASK, name, str(root / "project"), *packages, *mine]
        variables = {"PYTHONHASHSEED": "0"}
        needed = (*packages, *mine)
        done = confinement.run(Job(words, root, root / "project", SECONDS, variables, needed, replies=1))
    if done.status is None:
        return None, LATE if done.why.startswith("it did not end") else done.how
    if done.status:
        lines = done.output.decode(errors="replace").strip().splitlines()
        return None, lines[-1] if lines else f"status {done.status}"
    try:
        return json.loads(done.answer), ""
    except (ValueError, RecursionError):
        return None, "its schema cannot be written as JSON"
