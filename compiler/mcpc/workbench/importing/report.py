"""The report of an import, `IMPORT.md` in the new project; the lists that clients of both servers see are compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.emit.responses import listings
from mcpc.model.revisions import REVISIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.workbench.importing.translation import Translation

NAME = "IMPORT.md"
HEAD = "| definition | old file | new file | handler |\n|---|---|---|---|"
EXPLANATION = """If a definition has a `"contract"`, the other system's script keeps its location and is called as
before. What clients see of it is now in the new file, and no longer beside the script."""


def import_report(translation: Translation, differences: Diagnostics) -> bytes:
    """Return the text of the report."""
    return "\n".join(_lines(translation, differences)).encode("utf-8", "backslashreplace") + b"\n"


def _lines(translation: Translation, differences: Diagnostics) -> Iterator[str]:
    yield f"# Imported from {', '.join(translation.formats)}\n"
    if translation.rows:
        yield "## Definitions\n"
        yield HEAD
        for row in translation.rows:
            cells = (f"{row.kind} `{row.name}`", f"`{row.origin}`", f"`{row.target}`", row.runs)
            yield "| " + " | ".join(map(table_cell, cells)) + " |"
        if any(row.runs.startswith("the contract") for row in translation.rows):
            yield f"\n{EXPLANATION}"
    if translation.left_out:
        yield "\n## Removed files\n"
        yield "Their content is in the new files:\n"
        yield from (f"- `{path}`" for path in translation.left_out)
    yield "\n## Differences\n"
    found = (*translation.lost, *differences)
    yield from (f"- {problem.message}" + (f": {problem.hint}" if problem.hint else "") for problem in found)
    if not found:
        yield "None: clients see the same lists."


def table_cell(value: str) -> str:
    """Return a text in the form of a table cell."""
    return " ".join(value.split()).replace("|", "\\|")


def list_differences(before: Server, after: Server) -> Iterator[Diagnostic]:
    """Yield differences that clients see, in the newest revision."""
    earlier, later = listed_items(before), listed_items(after)
    for name in sorted(earlier.keys() | later.keys()):
        if name not in later:
            yield diagnose("MCP281", None, f"{name} no longer exists")
        elif name not in earlier:
            yield diagnose("MCP281", None, f"{name} is new")
        elif earlier[name] != later[name]:
            yield diagnose("MCP281", None, f"{name} is shown differently")
    for what in ("name", "version", "instructions"):
        if getattr(before, what) != getattr(after, what):
            yield diagnose("MCP281", None, f"the server's {what} has changed")


def listed_items(server: Server) -> dict[str, bytes]:
    """Return each item of each list, by its name in messages."""
    found: dict[str, bytes] = {}
    for listing in listings(server, REVISIONS[-1]):
        for item in listing.items:
            value = json.loads(item)
            key = value.get("uri") or value.get("uriTemplate") or value.get("name")
            found[f"`{key}` of `{listing.method}`"] = item
    return found
