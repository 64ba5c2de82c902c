"""What is not read at a start is an archive in the archive: what serving over HTTP needs, and files that go onto disk.

A start takes as long as the archive has entries, and standard input and output must not pay for HTTP.  All are stored,
so that what lies in them lies in the artifact too, byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.pack.archive import Entry, archive

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER, FILES = "serving/", "folded/"
SOURCES, BYTECODE = "serving/sources.zip", "serving/bytecode.zip"
HANDLERS = "handlers.zip"


def nested(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the entries with all that lies in these folders in a few of them."""
    serving, files = below(FOLDER, entries), below(FILES, entries)
    kept = {name: data for name, data in entries.items() if not name.startswith((FOLDER, FILES))}
    compiled = [entry for entry in serving if entry.name.endswith(".pyc")]
    others = [entry for entry in serving if not entry.name.endswith(".pyc")]
    found = {SOURCES: others, BYTECODE: compiled} if serving else {}
    found.update({HANDLERS: files} if files else {})
    return {**kept, **{name: archive(inner, "") for name, inner in found.items()}}


def below(folder: str, entries: Mapping[str, bytes]) -> list[Entry]:
    """Return the entries of a folder, without it."""
    return [Entry(name.removeprefix(folder), data) for name, data in sorted(entries.items()) if name.startswith(folder)]
