"""Files that make a server and ask it themselves, as its client, without serving it: demonstrations.

The commands of the frameworks (`fastmcp run FILE`) import such a file, and serve the server that they find in it; so
does a built server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.fastmcp.program import ProgramDescription, ProgramFailure

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import EntryPoint

    Result = ProgramDescription | ProgramFailure | None


def imported_entry(entry: EntryPoint, result: Result) -> EntryPoint | None:
    """Return the entry that only imports a demonstration; None for other programs."""
    if result is None or not result.demonstrates or entry.kind != "file":
        return None
    return replace(entry, kind="object", target=f"{entry.target}:{result.demonstrates}")


def is_same_server(run: Result, imported: Result) -> bool:
    """Tell whether a demonstration that is only imported has a server, with the same lists if it had any before."""
    if not isinstance(imported, ProgramDescription):
        return False
    return not isinstance(run, ProgramDescription) or run.lists == imported.lists


def unserved_warning(entry: EntryPoint, imported: EntryPoint) -> Diagnostic:
    """Return the warning that a file is imported, and not run."""
    name = imported.target.rpartition(":")[2]
    message = f"`{entry.target}` asks its server `{name}` itself and does not serve it: it is imported and not run"
    hint = f"`--entry {imported.target}` says so; a file that calls `{name}.run()` is run"
    return diagnose("MCP298", Span(entry.file), message, "", hint)
