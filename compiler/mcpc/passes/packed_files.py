"""Notes on which files of a project a built file has: what is left out and why, and large folders that no code names.

Everything in the project's folder is packed that no rule leaves out, so that code finds what is beside it.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.reading.left_out import EXPECTED, REASONS
from mcpc.reading.mentions import is_named
from mcpc.reading.selection import EXCLUDE, PYPROJECT, pyproject_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.ir import Server
    from mcpc.reading import Source, SourceTree

MAX_NAMED, MAX_FOLDERS = 6, 3
"""How many files and folders are named; the others are counted."""
LARGE_BYTES = 1_000_000


def packed_files(server: Server, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the notes on the files of a server's project."""
    if not server.files:
        return
    if any(reason not in EXPECTED for _, reason in tree.left_out):
        yield _left_out(tree.left_out)
    sources = [file.source for file in server.files]
    used = frozenset((*(item.handler.file for item in server.definitions), *server.shell, *server.imported))
    large = sorted(_large_folders(sources, used), key=lambda row: (-row[1], row[0]))[:MAX_FOLDERS]
    if large:
        yield _large(large, tree)


def _left_out(rows: Sequence[tuple[str, str]]) -> Diagnostic:
    """Return the note on what is left out: the reasons in their order, and for each its files."""
    ordered = sorted(rows, key=lambda row: (REASONS.index(row[1]), row[0]))
    named = ", ".join(f"`{path}` ({reason})" for path, reason in islice(ordered, MAX_NAMED))
    others = f" and {len(rows) - MAX_NAMED} more" if len(rows) > MAX_NAMED else ""
    hint = f"patterns of `include` in `[tool.mcpc]` of `{PYPROJECT}` add files, those of `{EXCLUDE}` leave out others"
    return diagnose("MCP266", None, f"not in the built file: {named}{others}", "", hint)


def _large(folders: Sequence[tuple[str, int]], tree: SourceTree) -> Diagnostic:
    """Return the note on large folders, with the line that leaves them out and keeps what is excluded already."""
    named = ", ".join(f"`{folder}/` ({size / 1_000_000:.1f} MB)" for folder, size in folders)
    source = tree.get(PYPROJECT)
    known = pyproject_settings(source.text if source is not None else "").get(EXCLUDE, [])
    line = json.dumps([*(known if isinstance(known, list) else ()), *(f"{folder}/" for folder, _ in folders)])
    hint = f"if it is not needed, write `{EXCLUDE} = {line}` in `[tool.mcpc]` of `{PYPROJECT}`"
    return diagnose("MCP267", None, f"in the built file, though no code names it: {named}", "", hint)


def _large_folders(sources: Sequence[Source], used: frozenset[str], above: str = "") -> Iterator[tuple[str, int]]:
    """Yield the large folders that no code names, with their bytes; of one with files that are used, those in it."""
    below = [source for source in sources if source.path.startswith(above) and "/" in source.path[len(above) :]]
    for folder in sorted({above + source.path[len(above) :].partition("/")[0] for source in below}):
        inside = [source for source in below if source.path.startswith(f"{folder}/")]
        size = sum(len(source.data) for source in inside)
        if any(source.path in used for source in inside):
            yield from _large_folders(sources, used, f"{folder}/")
        elif size >= LARGE_BYTES and not is_named(folder, sources):
            yield folder, size
