"""Compile schemas to references into the blob: predicates, which are compiled to bytecode, and collectors, as source.

The predicate runs at every call, so it is compiled; the collector is needed only after a rejection, and compiled then.
Equal schemas are compiled once, equal modules stored once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.interpreters import compile_for
from mcpc.schema import compile_of
from mcpc.schema.compilation import LABEL

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob, Reference
    from mcpc.model.ir import Schema
    from mcpc.schema import CompiledSchema

    Validator = tuple[tuple[Reference, int], Reference]
    """The predicate's source and the number of its bytecode, and the collector's source."""


class Validators:
    """The validators of one blob."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._places: dict[CompiledSchema, Validator] = {}
        self._numbers: dict[bytes, int] = {}

    def add(self, schema: Schema) -> Validator:
        """Return the references of a schema's modules, which are added to the blob if they are new."""
        compiled, problems = compile_of(schema)
        if compiled is None:
            raise ValueError(f"a checked schema does not compile: {problems}")
        if compiled not in self._places:
            self._places[compiled] = self._put(compiled)
        return self._places[compiled]

    def _put(self, compiled: CompiledSchema) -> Validator:
        source = compiled.predicate.encode()
        number = self._numbers.setdefault(source, len(self._numbers))
        return (self._blob.add(source), number), self._blob.add(compiled.collector.encode())

    def bytecode(self, minor: str) -> bytes:
        """Return the entry of bytecode: the magic number of its Python, a table of offset and length, the modules.

        It is separate from the blob, so that all other entries are the same for every Python.
        """
        magic, codes = compile_for(minor, [(source, LABEL, True) for source in self._numbers])
        start = len(magic) + 8 * len(codes)
        rows, bodies = [magic], []
        for body in codes:
            if body is None:
                raise ValueError(f"a validator does not compile with Python {minor}")
            rows.append(start.to_bytes(4, "little") + len(body).to_bytes(4, "little"))
            bodies.append(body)
            start += len(body)
        return b"".join((*rows, *bodies))
