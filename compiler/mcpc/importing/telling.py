"""What an import did, for the person who goes on from there: `IMPORT.md` in the new project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostics
    from mcpc.importing.translation import Translation

NAME = "IMPORT.md"
HEAD = "| what | was in | is in | how it is run |\n|---|---|---|---|"
EXPLANATION = """Where a definition says `"contract"`, the other system's script lies where it lay, and is called as
it always was; what clients are shown of it is said in our file, and no longer beside the script."""


def told(translation: Translation, differences: Diagnostics) -> bytes:
    """Return the text."""
    return "\n".join(_lines(translation, differences)).encode("utf-8", "backslashreplace") + b"\n"


def _lines(translation: Translation, differences: Diagnostics) -> Iterator[str]:
    yield f"# Imported from {', '.join(translation.formats)}\n"
    if translation.rows:
        yield "## Definitions\n"
        yield HEAD
        for row in translation.rows:
            cells = (f"{row.kind} `{row.name}`", f"`{row.origin}`", f"`{row.target}`", row.runs)
            yield "| " + " | ".join(map(cell, cells)) + " |"
        if any(row.runs.startswith("the contract") for row in translation.rows):
            yield f"\n{EXPLANATION}"
    if translation.left_out:
        yield "\n## Files that are not here any more\n"
        yield "What they said is in ours:\n"
        yield from (f"- `{path}`" for path in translation.left_out)
    yield "\n## What is otherwise\n"
    found = (*translation.lost, *differences)
    yield from (f"- {problem.message}" + (f": {problem.hint}" if problem.hint else "") for problem in found)
    if not found:
        yield "Nothing: clients are shown the same lists."


def cell(value: str) -> str:
    """Return a text that stays in its cell."""
    return " ".join(value.split()).replace("|", "\\|")
