"""Compute the runtime modules that a server needs: all that its start, its tables and its generated code refer to.

An edge is an import, or a string that names a module: `lazy("mcpc_runtime.x:y")`, a row of a table, the code of a new
process. Imports for type checkers and docstrings are not edges. What a port takes from its adapter (`{ADAPTER}.pipes`)
is an edge to that module of every adapter: one file runs on every platform. Two kinds of edges depend on the server:
rows of the tables in `tables` are followed if their key is used, and closed modules are left out together with their
importers. O(modules and edges) for each server; the sources are read once (`mcpc.pack.late_imports`).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from mcpc_runtime.transports.platforms import PLATFORMS, POSIX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

MODULE = re.compile(r"\bmcpc_runtime(?:\.\w+)*")
FROM = re.compile(r"\bfrom (mcpc_runtime[\w.]*) import ([\w, ]+)")
"""An import in the code of a new process, which is a string."""
NAME = re.compile(r"\w+")
NAMING = ("mcpc_runtime", "ADAPTER")
"""What is in the code that names modules; most has neither."""
ADAPTERS = tuple(row[0] for row in (POSIX, *PLATFORMS.values()))


class Edges(NamedTuple):
    """What a module refers to: by imports at the beginning of a line, by all else, and by rows of tables with keys."""

    eager: tuple[str, ...]
    late: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]


def read_edges(body: Iterable[ast.stmt], text: str, late_modules: Iterable[str] = ()) -> Edges:
    """Return what some statements of a module's text refer to when a server runs; `late_modules`: by late imports."""
    lines = text.split("\n")
    eager: list[str] = []
    late = [*late_modules]
    rows: dict[str, tuple[str, ...]] = {}
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            eager += imported(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                named = tuple(named_below(value))
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    # Two tables of a module may have the same key.
                    rows[key.value] = (*rows.get(key.value, ()), *named)
                else:
                    late += named
        # Looking at the text first is faster than walking every tree.
        elif any(word in line for line in lines[node.lineno - 1 : node.end_lineno] for word in NAMING):
            late += named_below(node)
    return Edges(tuple(dict.fromkeys(eager)), tuple(dict.fromkeys(late)), rows)


def named_below(node: ast.AST) -> Iterator[str]:
    """Yield the modules that code names when it runs."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from imported(node)
    elif isinstance(node, ast.Constant):
        yield from named_in(node.value if isinstance(node.value, str) else "")
    elif isinstance(node, ast.JoinedStr):
        yield from of_adapters(node)
    for child in children_at_run_time(node):
        yield from named_below(child)


def children_at_run_time(node: ast.AST) -> Iterable[ast.AST]:
    """Return what is in a node, without docstrings and what is for type checkers."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ()
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return node.orelse
    return ast.iter_child_nodes(node)


def of_adapters(node: ast.JoinedStr) -> Iterator[str]:
    """Yield the modules that `f"{ADAPTER}.name"` names: one of each adapter."""
    begin, *rest = node.values
    if isinstance(begin, ast.FormattedValue) and isinstance(begin.value, ast.Name) and begin.value.id == "ADAPTER":
        for part in rest[:1]:
            if isinstance(part, ast.Constant):
                yield from (f"{adapter}{str(part.value).partition(':')[0]}" for adapter in ADAPTERS)


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the modules that a statement may import: a name of a package may be one."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    module = node.module or ""
    return [module, *(f"{module}.{alias.name}" for alias in node.names)]


def named_in(text: str) -> list[str]:
    """Return the modules that a string names."""
    members = [f"{package}.{name}" for package, names in FROM.findall(text) for name in NAME.findall(names)]
    return [*MODULE.findall(text), *members]


def module_closure(
    modules: Mapping[str, Edges], roots: Iterable[str], tables: Mapping[str, Collection[str]], closed: frozenset[str]
) -> frozenset[str]:
    """Return the names of the modules reachable from `roots`; each module comes with its packages.

    `tables`: by module, the used keys of its tables; `closed`: the modules and packages that are left out.
    """
    reached: set[str] = set()
    unusable = importers(modules, closed)
    todo = list(roots)
    while todo:
        module = todo.pop()
        if module in reached or module not in modules or module in unusable or not closed.isdisjoint(lineage(module)):
            continue
        reached.add(module)
        edges = modules[module]
        # Of a table that no key selects, all rows are followed.
        used = tables.get(module, edges.rows)
        todo += [*lineage(module), *edges.eager, *edges.late]
        todo += [name for key, names in edges.rows.items() if key in used for name in names]
    return frozenset(reached)


def importers(modules: Mapping[str, Edges], closed: frozenset[str]) -> frozenset[str]:
    """Return the modules that cannot be imported without a closed one, because they import it at module level."""
    unusable: set[str] = set()
    while True:
        # In rounds, until no module is left that imports an unusable one.
        more = {
            module
            for module, edges in modules.items()
            if module not in unusable
            and any(name in unusable or not closed.isdisjoint(lineage(name)) for name in edges.eager)
        }
        if not more:
            return frozenset(unusable)
        unusable |= more


def eager_closure(modules: Mapping[str, Edges], root: str) -> list[str]:
    """Return a module after its module-level imports, each once; packages come before their modules."""
    order: dict[str, None] = {}

    def visit(module: str) -> None:
        if module in order or module not in modules:
            return
        for parent in lineage(module)[:-1]:
            visit(parent)
        for name in modules[module].eager:
            visit(name)
        order[module] = None

    visit(root)
    return list(order)


def lineage(module: str) -> list[str]:
    """Return a module and its packages."""
    parts = module.split(".")
    return [".".join(parts[: number + 1]) for number in range(len(parts))]
