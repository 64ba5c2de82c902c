"""What the names of a file mean: which of them mark functions, and which are servers.

A name means something if it was imported from here, or from a module of the project that gave it to a `Server`.
"""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.introspection.keywords import judge
from mcpc.introspection.model import ServerMark
from mcpc.introspection.places import name, whole
from mcpc_runtime.authoring import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.introspection.model import Mark
    from mcpc.sources import Source

    Defined = ast.FunctionDef | ast.AsyncFunctionDef

FOREIGN = re.compile(r"(?:fastmcp|mcp\.server)(?:\.|$)")
SERVERS = frozenset({"FastMCP", "MCPServer"})
"""What other libraries call `Server`."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "tool": ("name",),
    "prompt": ("name",),
    "resource": ("uri",),
    "completion": ("ref", "argument"),
}
"""The kinds of marks, each with the options that may stand by position."""
STATED: Mapping[str, tuple[str, ...]] = dict.fromkeys(("mcp_tool", "mcp_prompt", "mcp_resource"), ("description",))
"""bx-mcp's kinds, a family of their own; what may stand by position is also an object that has the options."""
NEEDED = ("uri", "ref", "argument")
"""Options without which a mark says nothing."""
MARKING = {**{kind: kind for kind in KINDS}, "add_tool": "tool", "add_prompt": "prompt"}
MODULE, SERVER = "the module", "Server"


@dataclass(slots=True)
class Reader:
    """One file while it is read: what its names mean, and what was found so far."""

    source: Source
    tree: ast.Module
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: KINDS)
    meanings: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Defined] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    owners: list[tuple[Mark, Defined | None]] = field(default_factory=list)
    servers: list[ServerMark] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    fails: bool = False

    def report(self, code: str, span: Span, message: str, hint: str = "") -> None:
        """Report a problem of the file."""
        self.problems.append(diagnose(code, span, message, "", hint))

    def report_failing(self, code: str, span: Span, message: str, hint: str = "") -> None:
        """Report what the file would fail with if it were run, so that it need not be run to say it again."""
        self.fails = True
        self.report(code, span, message, hint)

    def meaning(self, expression: ast.expr) -> str:
        """Return what an expression is: a kind of mark, `Server`, an object of it (its name and a dot), or nothing."""
        while isinstance(expression, ast.Call):
            expression = expression.func
        if isinstance(expression, ast.Name):
            return self.meanings.get(expression.id, "")
        if not isinstance(expression, ast.Attribute) or not isinstance(expression.value, ast.Name):
            return ""
        owner = self.meanings.get(expression.value.id, "")
        if owner == MODULE:
            return expression.attr if expression.attr in PUBLIC else ""
        return MARKING.get(expression.attr, "") if owner.endswith(".") else ""

    def written(self, node: ast.expr) -> str:
        """Return how an expression is written."""
        span = whole(self.source, node)
        return self.source.text[span.start : span.end]


def resolve(reader: Reader, shared: Mapping[str, frozenset[str]]) -> None:
    """Learn what the names of the file mean: what it imports from here, and the servers it makes."""
    for node in _walk(reader.tree):
        if isinstance(node, ast.Import):
            _plain_imports(reader, node)
        elif isinstance(node, ast.ImportFrom):
            _imports_from(reader, node, shared)
    for node in module_level(reader.tree):
        _named_server(reader, node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            reader.functions[node.name] = node


def _walk(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every node but those that only type checkers read."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in last_name(node.test)
        waiting += node.orelse if isinstance(node, ast.If) and typing_only else ast.iter_child_nodes(node)


def last_name(node: ast.expr) -> str:
    """Return the name that `name` and `module.name` end with."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _plain_imports(reader: Reader, node: ast.Import) -> None:
    for alias in node.names:
        if alias.name == "mcpc":
            reader.meanings[alias.asname or "mcpc"] = MODULE
        elif alias.name.startswith("mcpc."):
            _not_there(reader, alias.name, whole(reader.source, alias))


def _imports_from(reader: Reader, node: ast.ImportFrom, shared: Mapping[str, frozenset[str]]) -> None:
    for alias in node.names:
        bound, span = alias.asname or alias.name, whole(reader.source, alias)
        if node.module == "mcpc" and alias.name in PUBLIC:
            reader.meanings[bound] = alias.name
        elif node.module == "mcpc":
            _not_there(reader, alias.name, span)
        elif FOREIGN.match(node.module or "") and alias.name in SERVERS:
            message = f"`{alias.name}` comes from `{node.module}`, which is a server of its own"
            written = alias.name if bound == alias.name else bound
            reader.report_failing("MCP219", span, message, f"write `from mcpc import Server as {written}` in its place")
        elif alias.name in shared.get(node.module or "", ()):
            reader.meanings[bound] = f"{alias.name}."


def _not_there(reader: Reader, wanted: str, span: Span) -> None:
    near = difflib.get_close_matches(wanted, PUBLIC, n=1)
    known = "there are " + ", ".join(f"`{known}`" for known in PUBLIC)
    hint = f"did you mean `{near[0]}`?" if near else known
    reader.report_failing("MCP219", span, f"mcpc has no `{wanted}`", hint)


def _named_server(reader: Reader, node: ast.AST) -> None:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if reader.meaning(node.value.func) == SERVER and len(targets) == 1 and isinstance(targets[0], ast.Name):
        reader.meanings[targets[0].id] = f"{targets[0].id}."
        options = options_of(reader, node.value, ("name", "instructions"))
        reader.servers.append(ServerMark(targets[0].id, whole(reader.source, node.value), options))
        reader.problems += judge("server", keywords(reader, node.value))


def keywords(reader: Reader, call: ast.expr) -> dict[str, Span]:
    """Return the place of the name of each keyword of a call."""
    written = call.keywords if isinstance(call, ast.Call) else []
    said = {key: whole(reader.source, node) for key, node, _ in _stated(reader, call)}
    return said | {keyword.arg: name(reader.source, keyword) for keyword in written if keyword.arg}


def _stated(reader: Reader, call: ast.expr) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield the options of an object in the place of a description: each key, and both nodes."""
    said = call.args[0] if isinstance(call, ast.Call) and call.args and reader.kinds is STATED else None
    for key, value in zip(said.keys, said.values, strict=True) if isinstance(said, ast.Dict) else ():
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value, key, value


def options_of(reader: Reader, call: ast.Call, positions: tuple[str, ...]) -> dict[str, Span]:
    """Return the place of each option of a call, those by position under their names."""
    given = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    stated = [(key, value) for key, _, value in _stated(reader, call)]
    if stated:
        return {name: whole(reader.source, value) for name, value in (*stated, *given)}
    return {name: whole(reader.source, value) for name, value in (*zip(positions, call.args, strict=False), *given)}


def module_level(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what is at the top of a file, in order, be it in an `if` or a `try`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += reversed(list(ast.iter_child_nodes(node)))
