"""Built files that are made by hand: facts, lists and entries as a test wants them, without the compiler."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcpc.pack.archive import ArchiveEntry, build_archive

FACTS = {"name": "demo", "version": "1.2", "format": "native", "revisions": ["2025-11-25"], "mcpc": "0"}


def built_file(
    path: Path,
    facts: Mapping[str, Any] | None = None,
    lists: Mapping[str, Sequence[Any]] | None = None,
    completions: Sequence[str] = (),
    entries: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a built file; each list has a page for its first item, and one for all others."""
    blob = bytearray()
    rows = {f"{name}/list": list_row(name, items, blob) for name, items in (lists or {}).items()}
    said = json.dumps({"instructions": "Ask.", "capabilities": {"tools": {}}, "other": 1}).encode()
    index: dict[str, Any] = {
        "revisions": {"old": {"lists": {}}, "new": {"lists": rows, "answers": {"server/discover": put(said, blob)}}},
        "stateless_versions": ["old", "new"],
        "result_meta": {"io.modelcontextprotocol/serverInfo": {"name": "demo", "title": "Demo"}},
    }
    if completions:
        index["completions"] = table_of(completions, blob)
    files = {
        "META-INF/build.json": json.dumps({**FACTS, **(facts or {})}).encode(),
        "mcpc_app/index.py": f'"""Index."""\nINDEX = {index!r}\n'.encode(),
        "mcpc_app/blob": bytes(blob),
        **(entries or {}),
    }
    path.write_bytes(build_archive([ArchiveEntry(name, data) for name, data in files.items()], ""))
    return path


def put(data: bytes, blob: bytearray) -> tuple[int, int]:
    """Add bytes to a blob; return where they are, and their number."""
    blob += data
    return len(blob) - len(data), len(data)


def list_row(name: str, items: Sequence[Any], blob: bytearray) -> tuple[Any, ...]:
    """Add the pages of a list to a blob; return the row of the list."""
    pages = [items[:1], items[1:]] if len(items) > 1 else [items]
    places = [put(json.dumps([*page]).encode()[1:-1], blob) for page in pages]
    table, _ = put(b"".join(number.to_bytes(4, "little") for place in places for number in place), blob)
    return name.encode(), len(pages), table, None


def table_of(names: Sequence[str], blob: bytearray) -> tuple[int, int]:
    """Add a table of two buckets with these names to a blob; return its buckets and its place."""
    rows = [bytes([len(name)]) + name.encode() + bytes(8) for name in names]
    at = len(blob)
    start = at + 12
    ends = (start, start + len(rows[0]), start + sum(map(len, rows)))
    put(b"".join(end.to_bytes(4, "little") for end in ends) + b"".join(rows) + b"\x01", blob)
    return 2, at
