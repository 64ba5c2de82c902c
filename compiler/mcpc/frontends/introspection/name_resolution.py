"""Resolution of the names of a file: which of them are decorators, and which are servers.

A name has a meaning if it was imported from mcpc, or from a module of the project that assigned a `Server` to it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.frontends.introspection.model import ServerObject, check_keywords
from mcpc_runtime.handlers.python.authoring import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.frontends.introspection.model import Decorator
    from mcpc.languages.python import PythonText
    from mcpc.reading import Source

    Defined = ast.FunctionDef | ast.AsyncFunctionDef

KINDS: Mapping[str, tuple[str, ...]] = {
    "tool": ("name",),
    "prompt": ("name",),
    "resource": ("uri",),
    "completion": ("ref", "argument"),
}
"""The kinds of decorators, each with the options that may be positional."""
KEYWORD_KINDS: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("mcp_tool", "mcp_prompt", "mcp_resource"), ("description",)
)
"""bx-mcp's kinds, a separate family; the positional argument may also be an object with the options."""
REQUIRED_OPTIONS = ("uri", "ref", "argument")
"""Options without which a decorator has no meaning."""
DECORATING_METHODS = {**{kind: kind for kind in KINDS}, "add_tool": "tool", "add_prompt": "prompt"}
MODULE, SERVER = "the module", "Server"


@dataclass(slots=True)
class NameResolver:
    """One file that is being read: the meanings of its names, and the results so far."""

    source: Source
    text: PythonText
    tree: ast.Module
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: KINDS)
    meanings: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Defined] = field(default_factory=dict)
    marks: list[Decorator] = field(default_factory=list)
    owners: list[tuple[Decorator, Defined | None]] = field(default_factory=list)
    servers: list[ServerObject] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    fails: bool = False

    def report(self, code: str, span: Span, message: str, hint: str = "") -> None:
        """Report a problem of the file."""
        self.problems.append(diagnose(code, span, message, "", hint))

    def report_failing(self, code: str, span: Span, message: str, hint: str = "") -> None:
        """Report an error that the file would raise if it ran, so that it is not run."""
        self.fails = True
        self.report(code, span, message, hint)

    def meaning(self, expression: ast.expr) -> str:
        """Return the meaning of an expression: a kind of decorator, `Server`, a server (its name and a dot), or ""."""
        # `mcp.tool(...)` decorates as `mcp.tool` does.
        while isinstance(expression, ast.Call):
            expression = expression.func
        if isinstance(expression, ast.Name):
            return self.meanings.get(expression.id, "")
        if not isinstance(expression, ast.Attribute) or not isinstance(expression.value, ast.Name):
            return ""
        owner = self.meanings.get(expression.value.id, "")
        if owner == MODULE:
            return expression.attr if expression.attr in PUBLIC else ""
        return DECORATING_METHODS.get(expression.attr, "") if owner.endswith(".") else ""

    def source_text(self, node: ast.expr) -> str:
        """Return the source text of an expression."""
        span = self.text.node_span(node)
        return self.source.text[span.start : span.end]


def resolve_names(reader: NameResolver, shared: Mapping[str, frozenset[str]]) -> None:
    """Find the meanings of the file's names: its imports from mcpc, and the servers that it creates."""
    for node in _runtime_nodes(reader.tree):
        if isinstance(node, ast.Import):
            _plain_imports(reader, node)
        elif isinstance(node, ast.ImportFrom):
            _imports_from(reader, node, shared)
    for node in module_level(reader.tree):
        _named_server(reader, node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # The last definition of a name counts, as when the file runs.
            reader.functions[node.name] = node


def _runtime_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every node except those that only type checkers read."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        # `if TYPE_CHECKING:` or `if typing.TYPE_CHECKING:`; its `else` runs.
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in last_name(node.test)
        waiting += node.orelse if isinstance(node, ast.If) and typing_only else ast.iter_child_nodes(node)


def last_name(node: ast.expr) -> str:
    """Return the name at the end of `name` or `module.name`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _plain_imports(reader: NameResolver, node: ast.Import) -> None:
    for alias in node.names:
        if alias.name == "mcpc":
            reader.meanings[alias.asname or "mcpc"] = MODULE
        elif alias.name.startswith("mcpc."):
            _unknown_import(reader, alias.name, reader.text.node_span(alias))


def _imports_from(reader: NameResolver, node: ast.ImportFrom, shared: Mapping[str, frozenset[str]]) -> None:
    for alias in node.names:
        bound, span = alias.asname or alias.name, reader.text.node_span(alias)
        if node.module == "mcpc" and alias.name in PUBLIC:
            reader.meanings[bound] = alias.name
        elif node.module == "mcpc":
            _unknown_import(reader, alias.name, span)
            # With the meaning of the name that was meant, the uses of a misspelt import are checked, too.
            reader.meanings[bound] = nearest(alias.name, PUBLIC)
        elif alias.name in shared.get(node.module or "", ()):
            reader.meanings[bound] = f"{alias.name}."


def _unknown_import(reader: NameResolver, wanted: str, span: Span) -> None:
    hint = did_you_mean(wanted, PUBLIC, "there are " + quoted(PUBLIC))
    reader.report_failing("MCP219", span, f"mcpc has no `{wanted}`", hint)


def _named_server(reader: NameResolver, node: ast.AST) -> None:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if reader.meaning(node.value.func) == SERVER and len(targets) == 1 and isinstance(targets[0], ast.Name):
        reader.meanings[targets[0].id] = f"{targets[0].id}."
        options = option_spans(reader, node.value, ("name", "instructions"))
        reader.servers.append(ServerObject(targets[0].id, reader.text.node_span(node.value), options))
        reader.problems += check_keywords("server", keyword_spans(reader, node.value))


def keyword_spans(reader: NameResolver, call: ast.expr) -> dict[str, Span]:
    """Return the span of the name of each keyword of a call."""
    written = call.keywords if isinstance(call, ast.Call) else []
    said = {key: reader.text.node_span(node) for key, node, _ in _object_options(reader, call)}
    return said | {keyword.arg: reader.text.name_span(keyword) for keyword in written if keyword.arg}


def _object_options(reader: NameResolver, call: ast.expr) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield the options of an object in place of a description: each key, and both nodes."""
    said = call.args[0] if isinstance(call, ast.Call) and call.args and reader.kinds is KEYWORD_KINDS else None
    for key, value in zip(said.keys, said.values, strict=True) if isinstance(said, ast.Dict) else ():
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value, key, value


def option_spans(reader: NameResolver, call: ast.Call, positions: tuple[str, ...]) -> dict[str, Span]:
    """Return the span of each option of a call, positional ones by their names."""
    given = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    stated = [(key, value) for key, _, value in _object_options(reader, call)]
    if stated:
        return {name: reader.text.node_span(value) for name, value in (*stated, *given)}
    return {name: reader.text.node_span(value) for name, value in (*zip(positions, call.args, strict=False), *given)}


def module_level(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes at the top level of a file, in order, including those in an `if` or a `try`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += reversed(list(ast.iter_child_nodes(node)))
