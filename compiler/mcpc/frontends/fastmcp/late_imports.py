"""Modules that a program imports only when a function is called: the run of the build does not import them.

Every file of the project that its entry reaches by imports is read, not run.  A module that is neither in the standard
library, nor in the project, nor in a package of the program is reported, unless the import is ready to fail, for type
checkers only, or for another system.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends.fastmcp.entry_points import module_file
from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.languages import imports
from mcpc.packages import missing_module_hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.reading import Source, SourceTree

STAND_INS = frozenset({"fastmcp", "mcp", "mcp_types", "mcpc", "uvicorn"})
"""Modules that every built program has: stand-ins, or the framework itself."""


def missing_late_imports(tree: SourceTree, entry: EntryPoint, packages: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield the modules that will be missing, each at its first import in a file; `packages`: those of packages."""
    for source in reached_files(tree, entry):
        for name, span, hint in missing_imports(source, tree, packages):
            message = f"the module `{name}`, which is imported only when it is needed, will not be available"
            yield diagnose("MCP297", span, message, "", hint)


def missing_imports(source: Source, tree: SourceTree, packages: frozenset[str]) -> Iterator[tuple[str, Span, str]]:
    """Yield the modules that a file imports and that will be missing, each with its first place and what to do."""
    own = {path.rpartition("/")[2].removesuffix(".py") for path in tree.files if path.endswith(".py")}
    own |= {part for path in tree.files if path.endswith(".py") for part in path.split("/")[:-1]}
    known = own | packages | STAND_INS | sys.stdlib_module_names
    missing = {name: span for name, span in reversed(imports(source)) if name not in known}
    for name, span in sorted(missing.items(), key=lambda item: item[1]):
        yield name, span, missing_module_hint(name, (*sorted(own), *sorted(packages), *sorted(sys.stdlib_module_names)))


def reached_files(tree: SourceTree, entry: EntryPoint) -> list[Source]:
    """Return the files of the project that an entry imports, at once or later, sorted by path."""
    first = tree.get(entry.file) if entry.file else None
    found = {} if first is None else {first.path: first}
    waiting = [*found.values()]
    while waiting:
        source = waiting.pop()
        for path in _imported_files(source, entry, tree):
            if path not in found:
                found[path] = tree.files[path]
                waiting.append(found[path])
    return [found[path] for path in sorted(found)]


def _imported_files(source: Source, entry: EntryPoint, tree: SourceTree) -> Iterator[str]:
    """Yield the files that a file's imports name, with those of the packages they are in."""
    folder = source.path.rpartition("/")[0]
    for name in imported_modules(source):
        dots = len(name) - len(name.lstrip("."))
        parents = folder.split("/") if folder else []
        base = "/".join(parents[: len(parents) - dots + 1]) if dots else ""
        roots = (base,) if dots else (*entry.paths, folder)
        parts = name[dots:].split(".")
        for count in range(1, len(parts) + 1):
            modules = (module_file(".".join(parts[:count]), root, tree) for root in roots)
            yield from filter(None, modules)
