"""The modules of the runtime that a server needs: all that its start, its tables and its generated code lead to.

An edge is an import, or a string of the code that names a module: `lazy("mcpc_runtime.x:y")`, a row of a table, what a
new process runs.  Imports for type checkers and docstrings are not edges.  Two kinds of edges depend on the server: the
rows of a table in `tables` are followed when their key is in use, and a closed module or package is not entered.
Reading the sources costs O(bytes of the runtime), once a process.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

UNUSED_AT_RUN_TIME = re.compile(r'^if TYPE_CHECKING:\n(?:(?:    .*)?\n)+|"""[\s\S]*?"""', re.MULTILINE)
MODULE = re.compile(r"\bmcpc_runtime(?:\.\w+)*")
FROM = re.compile(r"\bfrom (mcpc_runtime[\w.]*) import (\([^)]*\)|.*)")
ROW = re.compile(r'^    "(\w+)": (.*),$', re.MULTILINE)
NAME = re.compile(r"\w+")


def closure(
    sources: Mapping[str, str],
    roots: Iterable[str],
    tables: Mapping[str, Collection[str]],
    closed: frozenset[str],
) -> frozenset[str]:
    """Return the dotted names of the modules that `roots` lead to; a module comes with the packages it is in.

    `sources`: the text of every module by its name; `tables`: by module, which keys of its table are in use; `closed`:
    the modules and packages that are not entered.
    """
    found: set[str] = set()
    todo = list(roots)
    while todo:
        module = todo.pop()
        if module in found or module not in sources or not closed.isdisjoint(lineage(module)):
            continue
        found.add(module)
        todo += lineage(module)
        todo += edges(sources[module], tables.get(module))
    return frozenset(found)


def lineage(module: str) -> list[str]:
    """Return a module and the packages that it is in."""
    parts = module.split(".")
    return [".".join(parts[: number + 1]) for number in range(len(parts))]


def edges(source: str, keys: Collection[str] | None = None) -> Iterator[str]:
    """Yield what a module's source leads to; `keys`: those of its table that are in use, None if it has no table."""
    text = at_run_time(source)
    if keys is not None:
        yield from (name for key, row in ROW.findall(text) if key in keys for name in MODULE.findall(row))
        text = ROW.sub("", text)
    yield from named(text)


@cache
def at_run_time(source: str) -> str:
    """Return a source without its imports for type checkers and its docstrings."""
    return UNUSED_AT_RUN_TIME.sub("", source)


@cache
def named(text: str) -> tuple[str, ...]:
    """Return the modules that a text names; what is imported from a package may be a module of it."""
    members = [f"{package}.{name}" for package, names in FROM.findall(text) for name in NAME.findall(names)]
    return (*MODULE.findall(text), *members)
