"""Compile schemas to references into the blob: predicates as source and bytecode, collectors as source.

The predicate runs at every call, so it is compiled; the collector is needed only after a rejection, and compiled then.
Equal schemas are compiled once, equal modules stored once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.bytecode import MAGIC, dump_code, without_columns
from mcpc.schema import compile_of

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob, Reference
    from mcpc.ir import Schema
    from mcpc.schema import CompiledSchema

    Validator = tuple[tuple[Reference, int], Reference]
    """The predicate's source and the number of its bytecode, and the collector's source."""


class Validators:
    """The validators of one blob."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._places: dict[CompiledSchema, Validator] = {}
        self._codes: dict[bytes, int] = {}

    def add(self, schema: Schema) -> Validator:
        """Return the references of a schema's modules, which are added to the blob if they are new."""
        compiled, problems = compile_of(schema)
        if compiled is None:
            raise ValueError(f"a checked schema does not compile: {problems}")
        if compiled not in self._places:
            self._places[compiled] = self._put(compiled)
        return self._places[compiled]

    def _put(self, compiled: CompiledSchema) -> Validator:
        code = without_columns(compiled.code)
        number = self._codes.setdefault(dump_code(code), len(self._codes))
        return (self._blob.add(compiled.predicate.encode()), number), self._blob.add(compiled.collector.encode())

    def bytecode(self) -> bytes:
        """Return the entry of bytecode: the magic number of its Python, a table of offset and length, the modules.

        It is separate from the blob, so that all other entries are the same for every Python.
        """
        start = len(MAGIC) + 8 * len(self._codes)
        rows, bodies = [MAGIC], []
        for body in self._codes:
            rows.append(start.to_bytes(4, "little") + len(body).to_bytes(4, "little"))
            bodies.append(body)
            start += len(body)
        return b"".join((*rows, *bodies))
