"""What marked functions offer as far as their syntax shows it (`--no-import`): nothing of the project is run.

Names, docstrings and parameters are known; of types those that JSON has itself; options that are written out.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.introspection.marks import parsed
from mcpc.introspection.process import Answer, Answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.introspection.model import Mark, MarkedFile
    from mcpc.sources import Json

TYPES = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "str": "string",
}
WRITTEN = frozenset({"description", "name", "title", "uri"})
"""Options that are taken if they are written as texts."""
NAMED = frozenset({"tool", "prompt", "resource"})
HINT = "what the file computes is not known; without `--no-import` it is imported, confined"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(files: Sequence[MarkedFile]) -> tuple[Answers, Diagnostics]:
    """Return the answers of files that are not imported, and a word about each."""
    problems = tuple(was_not_imported(file.source.path) for file in files)
    return Answers({file.source.path: answer(file) for file in files}), problems


def was_not_imported(path: str) -> Diagnostic:
    """Return what is said of a file that defines what only an import shows."""
    return diagnose("MCP716", Span(path), f"`{path}` was not imported", "", HINT)


def answer(file: MarkedFile) -> Answer:
    """Return what one file shows."""
    tree = parsed(file.source)
    functions = {node.name: node for node in tree.body if isinstance(node, Function)} if tree else {}
    rows = tuple(row(mark, functions.get(mark.function), file) for mark in file.marks)
    servers: dict[str, dict[str, Json]] = {
        server.name: {"said": dict(literals(file, server.options.items())), "problems": []} for server in file.servers
    }
    for name, said in servers.items():
        given = said["said"]
        if isinstance(given, dict):
            given.setdefault("name", positional(tree, name))
    return Answer(rows, servers)


def row(mark: Mark, function: Function | None, file: MarkedFile) -> dict[str, Json]:
    """Return what one mark shows."""
    kind = mark.kind.removeprefix("mcp_")
    definition: dict[str, Json] = {"name": mark.function} if kind in NAMED else {}
    text = ast.get_docstring(function) if function else None
    if text and kind in NAMED:
        definition["description"] = text.partition("\n\n")[0]
    taken = ((name, span) for name, span in mark.options.items() if name in WRITTEN)
    definition.update(literals(file, taken))
    if kind == "resource":
        uri = str(definition.pop("uri", f"resource://{mark.function}"))
        definition["uriTemplate" if "{" in uri else "uri"] = uri
    parameters = list(shown(function)) if function else []
    if kind == "tool":
        definition["inputSchema"] = {
            "type": "object",
            "properties": {name: schema for name, schema, _ in parameters},
            "required": [name for name, _, required in parameters if required],
        }
    elif kind == "prompt":
        definition["arguments"] = [{"name": name, "required": required} for name, _, required in parameters]
    return {"definition": definition, "binding": [], "context": "", "problems": []}


def shown(function: Function) -> Iterator[tuple[str, dict[str, Json], bool]]:
    """Yield the parameters that clients fill: name, schema as far as the annotation shows it, whether it is needed."""
    given = function.args
    positioned = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positioned) - len(given.defaults)), *given.defaults]
    keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    for parameter, default in (*zip(positioned, defaults, strict=True), *keywords):
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        if annotation.rpartition(".")[2].removesuffix('"') != "Context":
            kind = TYPES.get(annotation.partition("[")[0])
            yield parameter.arg, ({"type": kind} if kind else {}), default is None


def literals(file: MarkedFile, options: Iterable[tuple[str, Span]]) -> Iterator[tuple[str, Json]]:
    """Yield the options whose values are written out as texts."""
    for name, span in options:
        try:
            value = ast.literal_eval(file.source.text[span.start : span.end])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, str):
            yield name, value


def positional(tree: ast.Module | None, name: str) -> str:
    """Return the first argument of the `Server(...)` that is called `name`, if it is a text; else that name."""
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            first = node.value.args[0]
            named = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            if named and isinstance(first, ast.Constant) and isinstance(first.value, str):
                return first.value
    return name
