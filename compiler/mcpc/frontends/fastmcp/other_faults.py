"""What else is wrong with a program that cannot be described: a run shows its first fault, its files have all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends.fastmcp.late_imports import missing_imports, reached_files
from mcpc.frontends.static_faults import imported_at_once, misspelt_decorators, misspelt_uses, undefined_names
from mcpc.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.reading import Source, SourceTree


def other_faults(tree: SourceTree, entry: EntryPoint, packages: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield the faults of a program's files, which may have its failure among them; `packages`: the modules it has."""
    for source in reached_files(tree, entry):
        yield from faults_of(source, tree, entry, packages)


def explains(fault: Diagnostic, failure: Diagnostic) -> bool:
    """Tell whether a fault is the failure of a run, or the reason for it: a class that the framework does not have."""
    is_same = fault.code == failure.code and (fault.span == failure.span or fault.message == failure.message)
    return is_same or fault.code == "MCP219"


def faults_of(source: Source, tree: SourceTree, entry: EntryPoint, packages: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield the faults of a file."""
    yield from syntax_faults(source)
    at_once = imported_at_once(source)
    for name, span, hint in missing_imports(source, tree, packages):
        if name in at_once:
            yield diagnose("MCP209", span, f"the module `{name}` is not available", "", hint)
    yield from misspelt_uses(source)
    for fault in (*misspelt_decorators(source), *undefined_names(source, late=True)):
        message = f"the program `{entry.target}` cannot be run: {fault.type}: {fault.message}"
        yield diagnose("MCP286", fault.span, message, "", fault.hint)


def syntax_faults(source: Source) -> Diagnostics:
    """Return why Python cannot compile a file."""
    return LANGUAGES["python"](source)[1]
