"""The names of a framework that a program's files use, also in functions that the run of the build does not call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpc.frontends.fastmcp.late_imports import reached_files
from mcpc.languages.python import needed_nodes, parse_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.reading import SourceTree

FRAMEWORKS = ("fastmcp", "mcp", "mcp_types")
"""The packages with stand-ins whose names are asked for."""
METHODS = frozenset({"add_provider", "add_transform", "add_tool_transformation", "local_provider"})
"""Attributes that only servers of FastMCP have, of any object in a file that imports it."""
HOOKS = frozenset({"on_initialize"})
"""Methods that middleware of FastMCP may define."""
Named = tuple[str, int]
"""A dotted name, and its line."""


def framework_names(tree: SourceTree, entry: EntryPoint) -> list[list[object]]:
    """Return the names in the files that an entry reaches, each once in a file: the name, the file, the line."""
    rows: list[list[object]] = []
    for source in reached_files(tree, entry):
        parsed = parse_python(source)
        named = {} if parsed is None else dict(sorted(names_in(parsed), reverse=True))
        rows += ([name, source.path, line] for name, line in sorted(named.items()))
    return rows


def names_in(parsed: ast.Module) -> Iterator[Named]:
    """Yield what is imported, unless the import is ready to fail, and what is used of it.

    A name that means something else somewhere in the file (`import mcp` and `def register(mcp)`) is left out.
    """
    nodes = [*needed_nodes(parsed)]
    imported = [row for node in nodes for row in _imported(node)]
    yield from ((name, line) for _, _, name, line in imported)
    others = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    others |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    meant = {bound: module for bound, module, _, _ in imported if bound not in others}
    is_fastmcp = any(name.startswith("fastmcp") for _, _, name, _ in imported)
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in HOOKS and is_fastmcp:
                yield f"fastmcp.server.middleware.Middleware.{node.name}", node.lineno
        elif isinstance(node, ast.Attribute):
            first, *rest = _attributes(node)
            if first in meant:
                yield ".".join((meant[first], *rest)), node.lineno
            elif node.attr in METHODS and is_fastmcp:
                yield f"fastmcp.FastMCP.{node.attr}", node.lineno


def _imported(node: ast.AST) -> Iterator[tuple[str, str, str, int]]:
    """Yield what an import binds of a framework: the name in the file, what that is, what is imported, the line."""
    if isinstance(node, ast.Import):
        rows = [(each.asname or each.name.partition(".")[0], each.name, bool(each.asname)) for each in node.names]
        found = [(bound, name if whole else bound, name) for bound, name, whole in rows]
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        named = [(each.asname or each.name, f"{node.module}.{each.name}".removesuffix(".*")) for each in node.names]
        found = [(bound, name, name) for bound, name in named]
    else:
        return
    for bound, meant, name in found:
        if name.partition(".")[0] in FRAMEWORKS:
            yield bound, meant, name, node.lineno


def _attributes(node: ast.AST) -> list[str]:
    """Return the parts of `a.b.c`; an empty name for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else [""]
