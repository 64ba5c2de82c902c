"""List the files in a built file: path, size and reason."""

from __future__ import annotations

import io
import zipfile
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages
from mcpc.cli.artifact import READ_ERRORS, stored_entry
from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NESTED_ARCHIVES = {
    "mcpc_runtime/sources.zip": "",
    "handlers.zip": "handlers/",
    "serving/sources.zip": "serving/",
    "serving/bytecode.zip": "serving/",
}
"""Archives inside a built file, and the folder whose files they contain."""
REASONS = (
    ("handlers/.mcpc/", "support file for scripts of another system"),
    ("handlers/", "project file: handlers may read it"),
    ("site/", "package that handlers import, or one of its dependencies"),
    ("serving/", "package that the server needs"),
    ("mcpc_app/", "compiled definitions"),
    ("mcpc_runtime", "runtime"),
    ("mcpc/", "module for `from mcpc import ...`"),
    ("META-INF/", "digests, build facts, bill of materials"),
    ("__main__", "entry point"),
)
"""Why a file is included, by the beginning of its path."""
GROUPED_PREFIXES = ("site/", "serving/", "mcpc_app/", "mcpc_runtime", "META-INF/", "handlers/.mcpc/")
"""Beginnings of paths below which each folder is shown as one sum."""


def packed_files(path: Path) -> list[dict[str, Any]]:
    """Return every file in a built file, sorted by path."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [*_files_of(archive, "")]
    except READ_ERRORS as problem:
        raise click.UsageError(
            messages.CANNOT_READ.format(path=path, problem=f"{type(problem).__name__}: {problem}")
        ) from None
    rows = [{"path": name, "size": size, "why": inclusion_reason(name)} for name, size in sorted(found)]
    return [row for row in rows if row["path"] not in NESTED_ARCHIVES]


def _files_of(archive: zipfile.ZipFile, place: str) -> Iterator[tuple[str, int]]:
    for info in archive.infolist():
        if info.is_dir():
            continue
        yield f"{place}{info.filename}", info.file_size
        if not place and info.filename in NESTED_ARCHIVES:
            with zipfile.ZipFile(io.BytesIO(stored_entry(archive, info.filename))) as inner:
                yield from _files_of(inner, NESTED_ARCHIVES[info.filename])


def inclusion_reason(name: str) -> str:
    """Return why a file is included."""
    return next((why for beginning, why in REASONS if name.startswith(beginning)), "")


def format_listing(rows: Sequence[dict[str, Any]]) -> str:
    """Return the files as text: sizes in bytes, and one line for each package and runtime folder."""
    lines = []
    for (name, why), group in groupby(rows, key=lambda row: (displayed_name(row["path"]), row["why"])):
        members = [*group]
        size = sum(row["size"] for row in members)
        count = f"  ({len(members)} files)" if len(members) > 1 else ""
        lines.append(f"{size:>12,}  {visible(name)}  {why}{count}")
    total = sum(row["size"] for row in rows)
    return "\n".join([*lines, f"{total:>12,}  {len(rows)} files"])


def displayed_name(path: str) -> str:
    """Return the displayed name of a file: its path, or the folder that it is counted with."""
    if not path.startswith(GROUPED_PREFIXES):
        return path
    parts = path.split("/")
    depth = 2 if path.startswith(("site/", "serving/")) else 1
    return "/".join(parts[:depth]) + ("/" if len(parts) > depth else "")
