"""What a built file offers, read without running it, and without the rest of the compiler: a shell waits for it."""

from __future__ import annotations

import ast
import json
import marshal
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages
from mcpc_runtime.protocol.operations import ENTRY as OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FACTS = "META-INF/build.json"
PACKAGE_PATHS = "packagePaths"
"""The fact that says which paths are whose, for `mcpc inspect --sizes` only."""
MAX_INFLATED = 32 << 20
"""The largest compressed entry that is read."""
DIGEST_LENGTH = len("sha256:") + 64
"""The length of what a table has in place of a long name."""
READ_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError),
    *(ValueError, SyntaxError, LookupError, TypeError, AttributeError, RecursionError, MemoryError, StopIteration),
)
"""Exceptions raised when a file is not a built server or is damaged."""


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
    # The newest revision shows all members; and its pages are whole, those of older ones may be parts of them.
    newest = index["revisions"][index["stateless_versions"][-1]]
    facts |= {"completions": completed_arguments(index["completions"], blob)} if "completions" in index else {}
    facts |= server_description(index["result_meta"], newest["answers"], blob)
    facts |= {"takesArguments": True} if "takes_arguments" in index else {}
    if "operations" in index:
        entries = marshal.loads(stored_entry(archive, OPERATIONS))["entries"].values()
        facts |= {"operations": [json.loads(entry) for entry in entries]}
    return facts | {row[0].decode(): list_items(row, blob) for row in newest["lists"].values()}


def server_description(meta: dict[str, Any], answers: dict[str, Any], blob: bytes) -> dict[str, Any]:
    """Return what the server says about itself: `serverInfo`, `instructions`, `capabilities`."""
    start, length = answers["server/discover"]
    answer = json.loads(blob[start : start + length])
    said = {"serverInfo": meta["io.modelcontextprotocol/serverInfo"], **answer}
    return {name: said[name] for name in ("serverInfo", "instructions", "capabilities") if name in said}


def stored_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return an entry: one that is not compressed, so that its size is bounded, or one that says how long it is."""
    entry = archive.getinfo(name)
    if entry.file_size <= MAX_INFLATED:
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


def names_of_table(table: tuple[int, int], blob: bytes) -> Iterator[str]:
    """Yield the names that a table (`mcpc.emit.blob`) has, in its order, but for those that are stored as digests.

    Raise ValueError or IndexError if the blob is damaged.
    """
    buckets, at = table
    if not buckets:
        return
    if at + 4 * (buckets + 1) > len(blob):
        raise ValueError("the table is not in the blob")
    ends = (int.from_bytes(blob[at + 4 * number : at + 4 * number + 4], "little") for number in range(buckets + 1))
    # Entries of all buckets are without gaps: from the first one's beginning to the last one's end.
    start, *_, end = [*ends]
    while start < end:
        length = blob[start]
        name = blob[start + 1 : start + 1 + length]
        if not (length == DIGEST_LENGTH and name.startswith(b"sha256:")):
            yield name.decode("utf-8", "surrogateescape")
        # The length of the name, the name, and the offset and the length of its record, of four bytes each.
        start += 1 + length + 8


def list_items(row: tuple[Any, ...], blob: bytes) -> list[Any]:
    """Return the items of all pages of a list."""
    _, pages, table, *_ = row
    found: list[Any] = []
    for number in range(pages):
        place = blob[table + 8 * number : table + 8 * number + 8]
        start, length = int.from_bytes(place[:4], "little"), int.from_bytes(place[4:], "little")
        found += json.loads(b"[%b]" % blob[start : start + length])
    return found
