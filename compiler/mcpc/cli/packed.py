"""What a built file carries: every file in it with its size, and why it is there."""

from __future__ import annotations

import io
import zipfile
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli.artifact import BROKEN, stored
from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

INNER = {
    "mcpc_runtime/sources.zip": "",
    "handlers.zip": "handlers/",
    "serving/sources.zip": "serving/",
    "serving/bytecode.zip": "serving/",
}
"""Archives in a built file, and the folder whose files they are."""
REASONS = (
    ("handlers/.mcpc/", "what another system's scripts find beside themselves"),
    ("handlers/", "a file of the project: handlers may read it"),
    ("site/", "a package that handlers import, or what one of those needs"),
    ("serving/", "a package that serving needs"),
    ("mcpc_app/", "what the server offers, compiled"),
    ("mcpc_runtime", "the runtime"),
    ("mcpc/", "what `from mcpc import ...` finds"),
    ("META-INF/", "digests, facts of the build, bill of materials"),
    ("__main__", "the start"),
)
"""Why a file is there, by how its path begins."""
GROUPED = ("site/", "serving/", "mcpc_app/", "mcpc_runtime", "META-INF/", "handlers/.mcpc/")
"""Beginnings of paths of which people are shown the sum for each folder below."""


def packed_files(path: Path) -> list[dict[str, Any]]:
    """Return every file in a built file, in the order of the paths."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [*_files(archive, "")]
    except BROKEN as problem:
        raise click.UsageError(f"{path} cannot be read: {type(problem).__name__}: {problem}") from None
    rows = [{"path": name, "size": size, "why": reason(name)} for name, size in sorted(found)]
    return [row for row in rows if row["path"] not in INNER]


def _files(archive: zipfile.ZipFile, place: str) -> Iterator[tuple[str, int]]:
    for info in archive.infolist():
        if info.is_dir():
            continue
        yield f"{place}{info.filename}", info.file_size
        if not place and info.filename in INNER:
            with zipfile.ZipFile(io.BytesIO(stored(archive, info.filename))) as inner:
                yield from _files(inner, INNER[info.filename])


def reason(name: str) -> str:
    """Return why a file is there."""
    return next((why for beginning, why in REASONS if name.startswith(beginning)), "")


def listing(rows: Sequence[dict[str, Any]]) -> str:
    """Return the files for people: sizes in bytes, and one line for each package and each folder of ours."""
    lines = []
    for (name, why), group in groupby(rows, key=lambda row: (shown(row["path"]), row["why"])):
        members = [*group]
        size = sum(row["size"] for row in members)
        count = f"  ({len(members)} files)" if len(members) > 1 else ""
        lines.append(f"{size:>12,}  {visible(name)}  {why}{count}")
    total = sum(row["size"] for row in rows)
    return "\n".join([*lines, f"{total:>12,}  {len(rows)} files"])


def shown(path: str) -> str:
    """Return the name under which a file is shown: its own, or that of a folder with all that is in it."""
    if not path.startswith(GROUPED):
        return path
    parts = path.split("/")
    depth = 2 if path.startswith(("site/", "serving/")) else 1
    return "/".join(parts[:depth]) + ("/" if len(parts) > depth else "")
