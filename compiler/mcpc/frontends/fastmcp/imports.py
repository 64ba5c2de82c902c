"""Which files of a project use a framework for MCP servers, and which of its modules they import."""

from __future__ import annotations

import ast
import re
import warnings
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import Source, SourceTree

MENTION = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:fastmcp|mcp)\b", re.MULTILINE)
WRITTEN = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][A-Za-z0-9_.]*)", re.MULTILINE)
"""The modules that a file imports which this Python cannot parse."""
SERVER_MODULES = ("fastmcp", "mcp.server")
"""Modules that only servers import; clients import `mcp`, `mcp.client` or `mcp.types`."""
OTHER_MODULES = ("fastmcp.Client", "fastmcp.client", "fastmcp.exceptions")
"""Modules that clients and handlers of other servers import, too."""
OWN = ("mcpc",)
"""A file that imports this is read as one of ours."""
SIDE_FOLDERS = frozenset({"benchmarks", "docs", "evals", "examples", "scripts", "test", "tests"})
"""Folders with programs beside the project's own; they count only where there are no others."""
SIDE_FILE = re.compile(r"(?:test_.*|.*_test|conftest|setup|noxfile|tasks)\.py")


def imported_modules(source: Source) -> frozenset[str]:
    """Return the dotted names of all imports of a file, with those of what is imported from modules."""
    return _imported(source.data)


@cache
def _imported(data: bytes) -> frozenset[str]:
    with warnings.catch_warnings():
        # Else a string of the project with an unknown escape would print a warning.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset(name.decode() for name in WRITTEN.findall(data))
    return frozenset(name for node in ast.walk(tree) for name in _names(node))


def _names(node: ast.AST) -> Iterator[str]:
    """Yield what an import names; a relative one begins with its dots."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        yield base
        yield from (f"{base}{'' if base.endswith('.') else '.'}{alias.name}" for alias in node.names)


def uses_framework(source: Source) -> bool:
    """Tell whether a file imports modules of a framework that servers are written with."""
    if not source.path.endswith(".py") or not MENTION.search(source.data):
        return False
    imported = imported_modules(source)
    if any(within(name, OWN) for name in imported):
        return False
    named = [name for name in imported if within(name, SERVER_MODULES)]
    # `from fastmcp import Client` names `fastmcp` and `fastmcp.Client`, of which only the longer one is meant.
    ends = (name for name in named if not any(other.startswith(f"{name}.") for other in named))
    return any(not within(name, OTHER_MODULES) for name in ends)


def within(name: str, modules: tuple[str, ...]) -> bool:
    """Tell whether a dotted name is one of these modules, or below one."""
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def is_beside(path: str) -> bool:
    """Tell whether a file is a test, an example or a tool beside the project's program."""
    *folders, name = path.split("/")
    return not SIDE_FOLDERS.isdisjoint(folders) or SIDE_FILE.fullmatch(name) is not None


def program_files(tree: SourceTree) -> tuple[Source, ...]:
    """Return the Python files that use a framework, without those beside the program."""
    return tuple(source for path, source in tree.files.items() if not is_beside(path) and uses_framework(source))
