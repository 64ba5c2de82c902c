"""Compute the runtime modules that a server needs: all that its start, its tables and its generated code refer to.

An edge is an import, or a string of the code that names a module: `lazy("mcpc_runtime.x:y")`, a row of a table, the
code of a new process. Imports for type checkers and docstrings are not edges. What a port takes from its adapter
(`{ADAPTER}.pipes`) is an edge to that module of every adapter: one file runs on every platform. Two kinds of edges
depend on the server: rows of the tables in `tables` are followed if their key is used, and closed modules are left out
together with their importers. Reading the sources costs O(bytes of the runtime), once per process.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from mcpc_runtime.transports.platforms import PLATFORMS, POSIX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

UNUSED_AT_RUN_TIME = re.compile(r'^if TYPE_CHECKING:\n(?:(?:    .*)?\n)+|"""[\s\S]*?"""', re.MULTILINE)
MODULE = re.compile(r"\bmcpc_runtime(?:\.\w+)*")
FROM = re.compile(r"\bfrom (mcpc_runtime[\w.]*) import (\([^)]*\)|[^;\n]*)")
EAGER = re.compile(r"^(?:from|import) (mcpc_runtime[\w.]*)", re.MULTILINE)
"""An import at the beginning of a line; others are inside a function or branch."""
ROW = re.compile(r'^    "(\w+)": (\(\n(?:        .*\n)+    \)|.*),$', re.MULTILINE)
NAME = re.compile(r"\w+")
OF_ADAPTER = re.compile(r"\{ADAPTER\}((?:\.\w+)+)")
ADAPTERS = tuple(row[0] for row in (POSIX, *PLATFORMS.values()))


def module_closure(
    sources: Mapping[str, str], roots: Iterable[str], tables: Mapping[str, Collection[str]], closed: frozenset[str]
) -> frozenset[str]:
    """Return the names of the modules reachable from `roots`; each module comes with its packages.

    `sources`: the text of every module by its name; `tables`: by module, the used keys of its table; `closed`: the
    modules and packages that are left out.
    """
    found: set[str] = set()
    unusable = importers(sources, closed)
    todo = list(roots)
    while todo:
        module = todo.pop()
        if module in found or module not in sources or module in unusable or not closed.isdisjoint(lineage(module)):
            continue
        found.add(module)
        todo += lineage(module)
        todo += edges(sources[module], tables.get(module))
    return frozenset(found)


def importers(sources: Mapping[str, str], closed: frozenset[str]) -> frozenset[str]:
    """Return the modules that cannot be imported without a closed one, because they import it at module level."""
    found: set[str] = set()
    eager = {module: eager_imports(source) for module, source in sources.items()}
    while True:
        more = {
            module
            for module, names in eager.items()
            if module not in found and any(name in found or not closed.isdisjoint(lineage(name)) for name in names)
        }
        if not more:
            return frozenset(found)
        found |= more


def eager_closure(sources: Mapping[str, str], root: str) -> list[str]:
    """Return a module after its module-level imports, each once; packages come before their modules."""
    found: dict[str, None] = {}

    def visit(module: str) -> None:
        if module in found or module not in sources:
            return
        for parent in lineage(module)[:-1]:
            visit(parent)
        for name in eager_imports(sources[module]):
            visit(name)
        found[module] = None

    visit(root)
    return list(found)


def lineage(module: str) -> list[str]:
    """Return a module and its packages."""
    parts = module.split(".")
    return [".".join(parts[: number + 1]) for number in range(len(parts))]


def edges(source: str, keys: Collection[str] | None = None) -> Iterator[str]:
    """Yield the modules that a module's source refers to; `keys`: the used keys of its table, None without a table."""
    text = at_run_time(source)
    if keys is not None:
        yield from (name for key, row in ROW.findall(text) if key in keys for name in MODULE.findall(row))
        text = ROW.sub("", text)
    yield from named_modules(text)


@cache
def eager_imports(source: str) -> tuple[str, ...]:
    """Return the modules that a source imports at module level, except for type checkers."""
    return tuple(EAGER.findall(source))


@cache
def at_run_time(source: str) -> str:
    """Return a source without its imports for type checkers and its docstrings."""
    return UNUSED_AT_RUN_TIME.sub("", source)


@cache
def named_modules(text: str) -> tuple[str, ...]:
    """Return the modules that a text names; a name imported from a package may be one of its modules."""
    members = [f"{package}.{name}" for package, names in FROM.findall(text) for name in NAME.findall(names)]
    adapted = [f"{adapter}{name}" for name in OF_ADAPTER.findall(text) for adapter in ADAPTERS]
    return (*MODULE.findall(text), *members, *adapted)
