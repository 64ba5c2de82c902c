"""Access to a built file: read it without running it, or start it as a process."""

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
from mcpc.cli import command_options, messages
from mcpc.cli.build_steps import build_project, write_artifact
from mcpc.emit.table import names_of_table
from mcpc.pack import is_deflated
from mcpc.pack.prologue import START

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTS = "META-INF/build.json"
PACKAGE_PATHS = "packagePaths"
"""The fact that says which paths are whose, for `mcpc inspect --sizes` only."""
PACKAGES = ("site/", "serving/")
EXTRACTED = ".extracted/"
PACKAGE_ARCHIVES = {"bytecode.zip": "", "sources.zip": "", "extracted.zip": EXTRACTED}
NESTED_PACKAGES = {f"{folder}{name}": folder + below for folder in PACKAGES for name, below in PACKAGE_ARCHIVES.items()}
"""Archives of packages inside a built file, and the folders that they stand for."""
MAX_INFLATED = 32 << 20
PROJECT_VARIABLE = "MCPC_BUILT_FROM"
"""Environment variable with the path of the project from which a temporary artifact was built."""
READ_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError),
    *(ValueError, SyntaxError, LookupError, TypeError, AttributeError, RecursionError, MemoryError, StopIteration),
)
"""Exceptions raised when a file is not a built server or is damaged."""


@contextmanager
def built_artifact(target: Path, given: dict[str, Any]) -> Iterator[Path]:
    """Yield the path of a built file: the target itself, or a temporary one built from the project."""
    if target.is_file():
        require_artifact(target)
        yield target
        return
    build = build_project(target, command_options.read_options(given), "text")
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        path = Path(folder) / "server.pyz"
        write_artifact(build, path, tried=False)
        yield path


def run_artifact_command(target: Path, given: dict[str, Any], *words: str) -> NoReturn:
    """Run a command of a built file, or of one built from a project, and exit with its status."""
    with built_artifact(target, given) as path:
        status = programs.run_in_foreground("server", start_command(path, *words), artifact_environment(target))
    raise click.exceptions.Exit(status)


def artifact_environment(target: Path) -> dict[str, str]:
    """Return the variable that names the project of a temporary artifact."""
    return {} if target.is_file() else {PROJECT_VARIABLE: str(target)}


def require_artifact(path: Path) -> None:
    """Raise a usage error if a file is not a built server."""
    try:
        with zipfile.ZipFile(path) as archive:
            archive.getinfo(FACTS)
    except (zipfile.BadZipFile, KeyError, OSError, ValueError):
        raise click.UsageError(messages.NOT_BUILT_BY_MCPC.format(path=path)) from None


def start_command(path: Path, *words: str) -> list[str]:
    """Return the command that starts a built file with this interpreter, as its own shell prologue would."""
    return [sys.executable, "-ISc", START, str(path.resolve()), *words]


def artifact_contents(path: Path) -> dict[str, Any]:
    """Return the build facts and the lists of a built file, without running it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive_contents(archive)
    except READ_ERRORS:
        raise click.UsageError(messages.DAMAGED.format(path=path)) from None


def archive_contents(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the build facts and the lists of an archive; raise one of READ_ERRORS."""
    facts: dict[str, Any] = json.loads(stored_entry(archive, FACTS))
    facts.pop(PACKAGE_PATHS, None)
    index = parse_index(stored_entry(archive, "mcpc_app/index.py"))
    blob = stored_entry(archive, "mcpc_app/blob")
    newest = index["revisions"][index["stateless_versions"][-1]]
    facts |= {"completions": completed_arguments(index["completions"], blob)} if "completions" in index else {}
    facts |= server_description(index["result_meta"], newest["answers"], blob)
    return facts | {row[0].decode(): list_items(row, blob) for row in newest["lists"].values()}


def server_description(meta: dict[str, Any], answers: dict[str, Any], blob: bytes) -> dict[str, Any]:
    """Return what the server says about itself: `serverInfo`, `instructions`, `capabilities`."""
    start, length = answers["server/discover"]
    answer = json.loads(blob[start : start + length])
    said = {"serverInfo": meta["io.modelcontextprotocol/serverInfo"], **answer}
    return {name: said[name] for name in ("serverInfo", "instructions", "capabilities") if name in said}


def stored_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return an entry, which is not compressed, so that its size is bounded; of those that may be, the size is."""
    entry = archive.getinfo(name)
    if is_deflated(name, compact=True) and entry.file_size <= MAX_INFLATED:
        return archive.read(entry)
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise zipfile.BadZipFile(f"{name} is compressed")
    return archive.read(entry)


def parse_index(source: bytes) -> dict[str, Any]:
    """Return the index as a value; it is parsed as a literal, not executed."""
    assignment = next(node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    index: dict[str, Any] = ast.literal_eval(assignment.value)
    return index


def completed_arguments(table: tuple[int, int], blob: bytes) -> list[dict[str, Any]]:
    """Return the arguments that a server completes, as `ref` and `argument` of the protocol, sorted."""
    found = []
    for key in sorted(names_of_table(table, blob)):
        kind, name, argument = key.split("\n")
        ref = {"type": "ref/prompt", "name": name} if kind == "prompt" else {"type": "ref/resource", "uri": name}
        found.append({"ref": ref, "argument": argument})
    return found


def list_items(row: tuple[Any, ...], blob: bytes) -> list[Any]:
    """Return the items of all pages of a list."""
    _, pages, table, *_ = row
    found: list[Any] = []
    for number in range(pages):
        place = blob[table + 8 * number : table + 8 * number + 8]
        start, length = int.from_bytes(place[:4], "little"), int.from_bytes(place[4:], "little")
        found += json.loads(b"[%b]" % blob[start : start + length])
    return found
