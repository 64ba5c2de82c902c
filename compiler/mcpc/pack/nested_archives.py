"""Archives inside the archive: files that a start does not read, such as the HTTP server and files needed on disk.

Start-up time grows with the number of entries, and standard input and output must not pay for HTTP. Nested archives are
stored, so that their files appear in the artifact byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.pack.archive import ArchiveEntry, build_archive

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER, FILES = "serving/", "folded/"
SOURCES, BYTECODE = "serving/sources.zip", "serving/bytecode.zip"
HANDLERS = "handlers.zip"


def nest_entries(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the entries with those of certain folders packed into nested archives."""
    serving, files = entries_below(FOLDER, entries), entries_below(FILES, entries)
    kept = {name: data for name, data in entries.items() if not name.startswith((FOLDER, FILES))}
    compiled = [entry for entry in serving if entry.name.endswith(".pyc")]
    others = [entry for entry in serving if not entry.name.endswith(".pyc")]
    found = {SOURCES: others, BYTECODE: compiled} if serving else {}
    found.update({HANDLERS: files} if files else {})
    return {**kept, **{name: build_archive(inner, "") for name, inner in found.items()}}


def entries_below(folder: str, entries: Mapping[str, bytes]) -> list[ArchiveEntry]:
    """Return the entries of a folder, with relative names."""
    return [
        ArchiveEntry(name.removeprefix(folder), data)
        for name, data in sorted(entries.items())
        if name.startswith(folder)
    ]
