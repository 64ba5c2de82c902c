"""Diagnostics of tools that are left out of a server, at the project line that is the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.suggestions import quoted
from mcpc.frontends.introspection.unimported import was_not_imported
from mcpc.frontends.toolbox.tool_definitions import tool_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.languages.bundling import Bundle, BundleError, Description
    from mcpc.reading import Source, SourceTree

LOCK = "package-lock.json"
UNIMPORTED = "`--no-import` was given"


def bundle_errors(bundled: Bundle, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield why modules could not be bundled."""
    for entry, faults in bundled.faults.items():
        for fault in faults[:MAX_REPORTED]:
            yield bundle_error(entry, fault, bundled, tree)


MAX_REPORTED = 5
"""Maximum number of reported errors of one module."""


def bundle_error(entry: str, fault: BundleError, bundled: Bundle, tree: SourceTree) -> Diagnostic:
    """Return one error as a missing package, a package with machine code, or an error in a source."""
    span = project_span(tree, fault.path, fault.line, fault.column) or Span(entry, 0, 0)
    left = f"`{entry}` is left out"
    if fault.package and fault.message.startswith("Could not resolve"):
        why = bundled.lacking.get(fault.package, "it is not installed")
        message = f"the package `{fault.package}` is not available ({why}): {left}"
        return diagnose(
            "MCP409", span, message, "", f"`npm install {fault.package}` in the project, or remove the import"
        )
    return diagnose("MCP256", span, f"`{entry}` cannot be bundled: {fault.message}")


def not_imported(source: Source, offered: Description, native: tuple[str, ...] = ()) -> Diagnostic:
    """Return why a bundled module cannot be imported; `native`: packages with machine code that it imports."""
    if offered.failure == UNIMPORTED:
        return was_not_imported(source.path)
    span = _module_span(source, *offered.place)
    said = offered.failure.strip().partition("\n")[0][:MAX_MESSAGE_LENGTH]
    if native:
        names = quoted(native)
        message = f"`{tool_name(source.path)}` is left out: it needs {names}, made for one kind of machine ({said})"
        return diagnose("MCP410", span, message, "", "use a package in pure JavaScript")
    hint = "open connections and read variables inside the function, when the tool is called"
    message = f"`{tool_name(source.path)}` cannot be imported, and is left out: {said}"
    return diagnose("MCP250", span, message, "", hint)


MAX_MESSAGE_LENGTH = 200


def _module_span(source: Source, path: str, line: int, column: int) -> Span:
    """Return a span in a module, or at its beginning."""
    if path != source.path:
        return Span(source.path, 0, 0)
    offset = source.offset(line, column)
    return Span(source.path, offset, offset)


def project_span(tree: SourceTree, path: str, line: int, column: int) -> Span | None:
    """Return a span in the project; None if it is elsewhere."""
    source = tree.get(path)
    if source is None or not line:
        return None
    offset = source.offset(line, column)
    return Span(path, offset, offset)


def missing_lock(bundled: Bundle, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield that the versions of packages are not fixed, so that builds may differ."""
    if bundled.unlocked:
        message = f"missing `{LOCK}`: the versions of {quoted(bundled.unlocked)} are not fixed"
        where = Span("package.json", 0, 0) if tree.get("package.json") else None
        yield diagnose("MCP411", where, message, "", f"`npm install --package-lock-only` writes `{LOCK}`")
