"""The report of an import: `IMPORT.md` in the new project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostics
    from mcpc.importing.translation import Translation

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
