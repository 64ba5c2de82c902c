"""What keeps a tool out of a server, told at the line of the project where it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.toolbox.naming import stem
from mcpc.introspection.unimported import was_not_imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.bundling import Bundle, Description, Fault
    from mcpc.diagnostics import Diagnostic
    from mcpc.sources import Source, SourceTree

LOCK = "package-lock.json"
UNIMPORTED = "`--no-import` was given"


def left_out(bundled: Bundle, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield why modules could not be bundled."""
    for entry, faults in bundled.faults.items():
        for fault in faults[:MOST]:
            yield one(entry, fault, bundled, tree)


MOST = 5
"""Of one module so many are told."""


def one(entry: str, fault: Fault, bundled: Bundle, tree: SourceTree) -> Diagnostic:
    """Return one reason, as what it is: a package that is not there, one of machine code, or a mistake in a source."""
    span = at(tree, fault.path, fault.line, fault.column) or Span(entry, 0, 0)
    left = f"`{entry}` is left out"
    if fault.package and fault.message.startswith("Could not resolve"):
        why = bundled.lacking.get(fault.package, "it is not installed")
        message = f"the package `{fault.package}` cannot be had ({why}): {left}"
        return diagnose(
            "MCP409", span, message, "", f"`npm install {fault.package}` in the project, or remove the import"
        )
    return diagnose("MCP256", span, f"`{entry}` cannot be bundled: {fault.message}")


def not_imported(source: Source, offered: Description, native: tuple[str, ...] = ()) -> Diagnostic:
    """Return why a module that was bundled cannot be imported; `native`: packages of machine code that it imports."""
    if offered.failure == UNIMPORTED:
        return was_not_imported(source.path)
    span = _in(source, *offered.place)
    said = next(iter(offered.failure.splitlines()), "")[:LONGEST]
    if native:
        names = ", ".join(f"`{name}`" for name in native)
        message = f"`{stem(source.path)}` is left out: it needs {names}, made for one kind of machine ({said})"
        return diagnose("MCP410", span, message, "", "use a package that is JavaScript")
    hint = "what a tool needs of the world outside, it can look for when it is called"
    message = f"`{stem(source.path)}` cannot be imported, and is left out: {said}"
    return diagnose("MCP250", span, message, "", hint)


LONGEST = 200


def _in(source: Source, path: str, line: int, column: int) -> Span:
    """Return the place in a module, or its beginning."""
    if path != source.path:
        return Span(source.path, 0, 0)
    offset = source.offset(line, column)
    return Span(source.path, offset, offset)


def at(tree: SourceTree, path: str, line: int, column: int) -> Span | None:
    """Return a place in the project; None if it is elsewhere."""
    source = tree.get(path)
    if source is None or not line:
        return None
    offset = source.offset(line, column)
    return Span(path, offset, offset)


def unlocked(bundled: Bundle, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield that versions of packages are chosen anew by every machine that builds."""
    if bundled.unlocked:
        names = ", ".join(f"`{name}`" for name in bundled.unlocked)
        message = f"no `{LOCK}` says which versions of {names} are meant"
        where = Span("package.json", 0, 0) if tree.get("package.json") else None
        yield diagnose("MCP411", where, message, "", f"`npm install --package-lock-only` writes `{LOCK}`")
