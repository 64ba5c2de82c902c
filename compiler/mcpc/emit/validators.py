"""Compiled schemas as references into the blob: the predicate as source and as bytecode, the collector as source.

The predicate runs at every call, so it is ready; the collector is wanted only after a rejection, and is then compiled
on the spot.  Equal schemas are compiled once, equal modules stored once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump
from mcpc.schema import compile_schema

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob, Reference
    from mcpc.ir import Schema
    from mcpc.schema import CompiledSchema

    Validator = tuple[tuple[Reference, Reference], Reference]
    """The predicate's source and bytecode, and the collector's source."""

LABEL = sys.intern("server.pyz/mcpc_app/validator.py")


class Validators:
    """The validators of one blob."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._places: dict[CompiledSchema, Validator] = {}

    def add(self, schema: Schema) -> Validator:
        """Return the references of a schema's modules, which are put into the blob if they are new."""
        compiled, problems = compile_schema(schema.node, closed=schema.closed)
        if compiled is None:
            raise ValueError(f"a checked schema does not compile: {problems}")
        if compiled not in self._places:
            self._places[compiled] = self._put(compiled)
        return self._places[compiled]

    def _put(self, compiled: CompiledSchema) -> Validator:
        code = compile(compiled.predicate, LABEL, "exec", dont_inherit=True, optimize=2)
        predicate = self._blob.add(compiled.predicate.encode()), self._blob.add(dump(code))
        return predicate, self._blob.add(compiled.collector.encode())
