"""Description of decorated functions by their syntax alone (`--no-import`): nothing of the project is run.

Names, docstrings, parameters, JSON's own types, and literal options are found.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.introspection.process import FileDescription, ImportResults
from mcpc.languages.python import parse_python
from mcpc.model.definitions import HANDLER_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.introspection.model import DecoratedFile, Decorator
    from mcpc.reading import Json

TYPES = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "str": "string",
}
LITERAL_OPTIONS = frozenset({"description", "name", "title", "uri"})
"""Options of decorators that are used if they are string literals."""
RUNNING_OPTIONS = frozenset({"environment", "max_result", "requires", "timeout"})
"""Options for how a function is run that are used if they are literals."""
SERVER_OPTIONS = RUNNING_OPTIONS | {"description", "instructions", "name", "title", "version", "website_url"}
NAMED_KINDS = frozenset({"tool", "prompt", "resource"})
HINT = "computed definitions are unknown; without `--no-import` the file is imported in a confined process"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_without_import(files: Sequence[DecoratedFile]) -> tuple[ImportResults, Diagnostics]:
    """Return the results of files that are not imported, with a note about each."""
    problems = tuple(was_not_imported(file.source.path) for file in files)
    return ImportResults({file.source.path: file_description(file) for file in files}), problems


def was_not_imported(path: str) -> Diagnostic:
    """Return the note about a file whose definitions only an import would show."""
    return diagnose("MCP716", Span(path), f"`{path}` was not imported", "", HINT)


def file_description(file: DecoratedFile) -> FileDescription:
    """Return the result of one file."""
    tree = parse_python(file.source)
    functions = {node.name: node for node in tree.body if isinstance(node, Function)} if tree else {}
    rows = tuple(function_row(mark, functions.get(mark.function), file) for mark in file.marks)
    servers: dict[str, dict[str, Json]] = {
        server.name: {"said": dict(literal_options(file, server.options.items(), SERVER_OPTIONS)), "problems": []}
        for server in file.servers
    }
    for name, said in servers.items():
        given = said["said"]
        if isinstance(given, dict):
            given.setdefault("name", server_name(tree, name))
    return FileDescription(rows, servers)


def function_row(mark: Decorator, function: Function | None, file: DecoratedFile) -> dict[str, Json]:
    """Return the row of one decorated function."""
    kind = mark.kind.removeprefix("mcp_")
    definition: dict[str, Json] = {"name": mark.function} if kind in NAMED_KINDS else {}
    text = ast.get_docstring(function) if function else None
    if text and kind in NAMED_KINDS:
        definition["description"] = text.partition("\n\n")[0]
    definition.update(literal_options(file, mark.options.items(), LITERAL_OPTIONS))
    if kind == "resource":
        uri = str(definition.pop("uri", f"resource://{mark.function}"))
        definition["uriTemplate" if "{" in uri else "uri"] = uri
    running = dict(literal_options(file, mark.options.items(), RUNNING_OPTIONS))
    if running:
        definition["_meta"] = {HANDLER_KEY: running}
    parameters = list(client_parameters(function)) if function else []
    for _, schema, given in parameters:
        if schema and given is not None:
            schema.update(literal_default(given))
    if kind == "tool":
        definition["inputSchema"] = {
            "type": "object",
            "properties": {name: schema for name, schema, _ in parameters},
            "required": [name for name, _, given in parameters if given is None],
        }
    elif kind == "prompt":
        definition["arguments"] = [{"name": name, "required": given is None} for name, _, given in parameters]
    return {"definition": definition, "binding": [], "context": "", "problems": []}


def literal_default(given: ast.expr) -> dict[str, Json]:
    """Return the `default` of a parameter, if it is written as in JSON; None only says that it may be left out."""
    try:
        value = ast.literal_eval(given)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {}
    return {"default": value} if isinstance(value, str | int | float) or value == [] else {}


def client_parameters(function: Function) -> Iterator[tuple[str, dict[str, Json], ast.expr | None]]:
    """Yield the parameters that clients provide: name, schema, and the default of an optional one."""
    given = function.args
    positioned = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positioned) - len(given.defaults)), *given.defaults]
    keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    for parameter, default in (*zip(positioned, defaults, strict=True), *keywords):
        annotation = (ast.unparse(parameter.annotation) if parameter.annotation else "").strip("'\"")
        if annotation.rpartition(".")[2] != "Context":
            kind = TYPES.get(annotation.partition("[")[0])
            yield parameter.arg, ({"type": kind} if kind else {}), default


def literal_options(
    file: DecoratedFile, options: Iterable[tuple[str, Span]], wanted: frozenset[str]
) -> Iterator[tuple[str, Json]]:
    """Yield the wanted options that are literals: strings, and for how a function is run numbers and lists."""
    for name, span in options:
        try:
            value = ast.literal_eval(file.source.text[span.start : span.end]) if name in wanted else None
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if isinstance(value, str) or (name in RUNNING_OPTIONS and (is_list or isinstance(value, int | float))):
            yield name, value


def server_name(tree: ast.Module | None, name: str) -> str:
    """Return the first argument of the `Server(...)` called `name`, if it is a string literal; else that name."""
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            first = node.value.args[0]
            named = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            if named and isinstance(first, ast.Constant) and isinstance(first.value, str):
                return first.value
    return name
