"""What the bytes of a built file are: its runtime, generated code, the project's files, and each package.

Only the directory of the archive is read, and of the archives inside it, which are stored: nothing is unpacked.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages
from mcpc.cli.artifact import EXTRACTED, NESTED_PACKAGES, PACKAGES
from mcpc.cli.built_contents import FACTS, PACKAGE_PATHS, READ_ERRORS, stored_entry
from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NESTED = {"handlers.zip": "handlers/", **NESTED_PACKAGES}
"""Archives inside a built file whose entries count for parts of it."""
PARTS = (
    ("handlers/", "project", "the project's files"),
    ("mcpc_app/program", "project", "the project's files"),
    ("mcpc_app/", "generated", "generated code"),
    ("mcpc_runtime", "runtime", "runtime"),
    ("mcpc/", "runtime", "runtime"),
    ("__main__", "runtime", "runtime"),
    ("__start__", "runtime", "runtime"),
    ("META-INF/", "metadata", "digests, build facts, bill of materials"),
)
"""The kind and the name of a part, by the beginning of its paths."""
CACHED = re.compile(r"(?:__pycache__/)?([^/.]+)(?:\.[\w-]+)?\.pyc$")
"""The end of a path of bytecode, with the name of its module."""
BYTECODE = ("mcpc_runtime/bytecode", "mcpc_app/bytecode", "mcpc_app/program")
INDEX = ("packages", "index of packages")
REST = ("archive", "directory of the archive, shell script")
WIDTH = 80
COLUMNS = ("in file", "raw", "bytecode")


@dataclass(slots=True)
class PartSize:
    """The size of a part: its bytes in the file, uncompressed, and of the bytecode in it; `version` of packages only.

    `extracted`: files of the package are extracted into a folder before its import.
    """

    kind: str
    name: str
    version: str = ""
    size: int = 0
    raw: int = 0
    bytecode: int = 0
    files: int = 0
    extracted: bool = False


def sizes_of_artifact(path: Path) -> list[dict[str, Any]]:
    """Return the parts of a built file with their sizes, the biggest first; together they are the whole file."""
    try:
        with zipfile.ZipFile(path) as archive:
            facts: dict[str, Any] = json.loads(stored_entry(archive, FACTS))
            entries = [*_entries(archive, "")]
        rest = path.stat().st_size - sum(size for _, size, _ in entries)
        parts = _parts([*entries, ("", rest, rest)], facts)
    except READ_ERRORS as problem:
        words = f"{type(problem).__name__}: {problem}"
        raise click.UsageError(messages.CANNOT_READ.format(path=path, problem=words)) from None
    return [asdict(part) for part in sorted(parts, key=lambda part: (-part.size, part.kind, part.name))]


def _entries(archive: zipfile.ZipFile, place: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, size in the file and raw size of every entry, and of those of archives inside."""
    for info in archive.infolist():
        if not place and info.filename in NESTED:
            with zipfile.ZipFile(io.BytesIO(stored_entry(archive, info.filename))) as inner:
                yield from _entries(inner, NESTED[info.filename])
        else:
            yield f"{place}{info.filename}", info.compress_size, info.file_size


def _parts(entries: Sequence[tuple[str, int, int]], facts: Mapping[str, Any]) -> list[PartSize]:
    versions = dict(row.rpartition(" ")[::2] for key in ("packages", "serving") for row in facts.get(key, ()))
    owners = {path: name for name, paths in facts.get(PACKAGE_PATHS, {}).items() for path in paths}
    found: dict[tuple[str, str], PartSize] = {}
    for path, size, raw in entries:
        kind, name = _part_of(path, owners)
        version = versions.get(name, "") if kind == "package" else ""
        part = found.setdefault((kind, name), PartSize(kind, name, version))
        part.size += size
        part.raw += raw
        part.files += 1
        part.bytecode += size if path.endswith(".pyc") or path in BYTECODE else 0
        part.extracted |= EXTRACTED in path
    return [*found.values()]


def _part_of(path: str, owners: Mapping[str, str]) -> tuple[str, str]:
    """Return the kind and the name of the part that an entry belongs to."""
    folder = next((folder for folder in PACKAGES if path.startswith(folder)), "")
    if not folder:
        return next((row[1:] for row in PARTS if path.startswith(row[0])), REST)
    inner = path.removeprefix(folder)
    if inner.startswith(EXTRACTED):
        inner = inner.removeprefix(EXTRACTED).partition("/")[2]
    parts = inner.split("/")
    places = ["/".join(parts[:number]) + "/" for number in range(1, len(parts))]
    file = CACHED.sub(r"\1.py", inner)
    name = next((owners[place] for place in (*places, file) if place in owners), "")
    return ("package", name) if name else INDEX


def format_sizes(parts: Sequence[dict[str, Any]]) -> str:
    """Return the parts as a table of at most 80 columns, with a line for the whole file."""
    lines = ["".join(f"{title:>12}" for title in COLUMNS)]
    for part in parts:
        name = " ".join(filter(None, (part["name"], part["version"])))
        lines.append(_row(part, f"{name}, extracted" if part["extracted"] else name))
    total = {key: sum(part[key] for part in parts) for key in ("size", "raw", "bytecode")}
    return "\n".join([*lines, _row(total, "the whole file")])


def _row(part: Mapping[str, Any], name: str) -> str:
    numbers = "".join(f"{part[key]:>12,}" for key in ("size", "raw", "bytecode"))
    shown = visible(name)
    most = WIDTH - len(numbers) - 2
    return f"{numbers}  {shown if len(shown) <= most else shown[: most - 1] + '…'}"
