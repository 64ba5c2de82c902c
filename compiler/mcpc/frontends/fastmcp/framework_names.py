"""The names of a framework that a program's files use, also in functions that the run of the build does not call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpc.frontends.fastmcp.late_imports import reached_files
from mcpc.languages.python import needed_nodes, parse_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.sources import SourceTree

FRAMEWORKS = ("fastmcp", "mcp", "mcp_types")
"""The packages with stand-ins whose names are asked for."""
Named = tuple[str, int]
"""A dotted name, and its line."""


def framework_names(tree: SourceTree, entry: EntryPoint) -> list[list[object]]:
    """Return the names in the files that an entry reaches, each once in a file: the name, the file, the line."""
    rows: list[list[object]] = []
    for source in reached_files(tree, entry):
        parsed = parse_python(source)
        named = {} if parsed is None else dict(sorted(_named(parsed), reverse=True))
        rows += ([name, source.path, line] for name, line in sorted(named.items()))
    return rows


def _named(parsed: ast.Module) -> Iterator[Named]:
    """Yield what is imported, unless the import is ready to fail, and what is used of an imported module."""
    nodes = [*needed_nodes(parsed)]
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else ""
                yield from _own(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield from _own(f"{node.module}.{alias.name}".removesuffix(".*"), node.lineno)
    for node in nodes:
        first, *rest = _attributes(node)
        if rest and first in modules:
            yield from _own(
                ".".join((modules[first] or first, *rest)), node.lineno if isinstance(node, ast.expr) else 0
            )


def _own(name: str, line: int) -> Iterator[Named]:
    """Yield a name, if it is one of a framework."""
    if name.partition(".")[0] in FRAMEWORKS:
        yield name, line


def _attributes(node: ast.AST) -> list[str]:
    """Return the parts of `a.b.c`; an empty name for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else [""]
