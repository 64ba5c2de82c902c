"""A built file as others see it: read without being run, or started as a process."""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from mcpc import programs
from mcpc.cli import report
from mcpc.cli.making import make, write
from mcpc.pack.prologue import START

if TYPE_CHECKING:
    from collections.abc import Iterator


FACTS = "META-INF/build.json"
PROJECT = "MCPC_BUILT_FROM"
"""The variable by which a built file is told of what project it was made just now."""
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError),
    *(ValueError, SyntaxError, LookupError, TypeError, AttributeError, RecursionError, MemoryError, StopIteration),
)
"""How reading a file fails that is no built server, or one of which something was changed."""


@contextmanager
def built(target: Path, given: dict[str, Any]) -> Iterator[Path]:
    """Give the path of a built file: the target itself, or one made of the project for as long as it is needed."""
    if target.is_file():
        refuse_others(target)
        yield target
        return
    build = make(target, report.options_of(given), "text")
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        path = Path(folder) / "server.pyz"
        write(build, path, tried=False)
        yield path


def asked(target: Path, given: dict[str, Any], *words: str) -> NoReturn:
    """Run a built file, or one made of a project, with the words of one of its commands; leave with its status."""
    with built(target, given) as path:
        status = programs.attend("server", argv(path, *words), environment(target))
    raise click.exceptions.Exit(status)


def environment(target: Path) -> dict[str, str]:
    """Return the variable that tells a built file of the project it was made of: its own place is gone soon."""
    return {} if target.is_file() else {PROJECT: str(target)}


def refuse_others(path: Path) -> None:
    """Refuse a file that is no built server: starting it would only show how it fails."""
    try:
        with zipfile.ZipFile(path) as archive:
            archive.getinfo(FACTS)
    except (zipfile.BadZipFile, KeyError, OSError, ValueError):
        raise click.UsageError(f"{path} is not a file that mcpc built") from None


def argv(path: Path, *words: str) -> list[str]:
    """Return the command that starts a built file with this very interpreter, as its own first lines would."""
    return [sys.executable, "-ISc", START, str(path.resolve()), *words]


def contents(path: Path) -> dict[str, Any]:
    """Return what a built file says of itself and offers, without running anything of it."""
    try:
        with zipfile.ZipFile(path) as archive:
            facts: dict[str, Any] = json.loads(stored(archive, FACTS))
            index = index_of(stored(archive, "mcpc_app/index.py"))
            blob = stored(archive, "mcpc_app/blob")
        newest = index["revisions"][index["stateless_versions"][-1]]
        return facts | {row[0].decode(): items(row, blob) for row in newest["lists"].values()}
    except BROKEN:
        raise click.UsageError(f"{path} is not a file that mcpc built, or no longer whole") from None


def stored(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return an entry; one that is compressed is not of mcpc's making, and could be of any size."""
    entry = archive.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise zipfile.BadZipFile(f"{name} is compressed")
    return archive.read(entry)


def index_of(source: bytes) -> dict[str, Any]:
    """Return the index's value: it is a literal, and is read as one."""
    assignment = next(node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    index: dict[str, Any] = ast.literal_eval(assignment.value)
    return index


def items(row: tuple[Any, ...], blob: bytes) -> list[Any]:
    """Return the items of a list, of all its pages."""
    _, pages, table, *_ = row
    found: list[Any] = []
    for number in range(pages):
        place = blob[table + 8 * number : table + 8 * number + 8]
        start, length = int.from_bytes(place[:4], "little"), int.from_bytes(place[4:], "little")
        found += json.loads(b"[%b]" % blob[start : start + length])
    return found
