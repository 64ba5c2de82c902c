"""The bytecode of a program's own files, as one entry: those that it imports before it serves.

The files themselves are extracted, for tracebacks and for all that reads them; the worker reads their bytecode in the
built file (`mcpc_runtime.handlers.python.program_bytecode`), so that the first call compiles nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump_data
from mcpc.emit.interpreters import compile_for, tag_suffix
from mcpc.pack.archive import ArchiveEntry
from mcpc_runtime.handlers.python.program_bytecode import ENTRY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.model.ir import Server


def program_entries(server: Server, minors: Sequence[str]) -> Iterator[ArchiveEntry]:
    """Yield the entry with the bytecode of the program's files for each Python; none for servers without a program."""
    imported = frozenset(server.imported)
    sources = {file.source.path: file.source.data for file in server.files if file.source.path in imported}
    paths = sorted(sources)
    for minor in minors if paths else ():
        magic, codes = compile_for(minor, [(sources[path], f"server.pyz/{path}", False) for path in paths])
        bodies = {path: code for path, code in zip(paths, codes, strict=True) if code is not None}
        if bodies:
            # The table's length does not depend on the offsets: marshal writes every number in five bytes.
            length = len(dump_data(file_table(bodies, 0)))
            table = dump_data(file_table(bodies, len(magic) + 4 + length))
            data = b"".join((magic, length.to_bytes(4, "little"), table, *bodies.values()))
            yield ArchiveEntry(ENTRY + tag_suffix(minor, minors), data)


def file_table(bodies: dict[str, bytes], start: int) -> dict[str, tuple[int, int]]:
    """Return the offset and the length of each file's code."""
    rows = {}
    for path, body in bodies.items():
        rows[path] = start, len(body)
        start += len(body)
    return rows
