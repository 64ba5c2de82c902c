"""Compiled schemas as references into the blob: the predicate as source and as bytecode, the collector as source.

The predicate runs at every call, so it is ready; the collector is wanted only after a rejection, and is then compiled
on the spot.  Equal schemas are compiled once, equal modules stored once.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump
from mcpc.schema import compile_schema

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob, Reference
    from mcpc.ir import Schema

    Validator = tuple[tuple[Reference, Reference], Reference]
    """The predicate's source and bytecode, and the collector's source."""

LABEL = sys.intern("server.pyz/mcpc_app/validator.py")


class Validators:
    """The validators of one blob."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._places: dict[tuple[bool, str], Validator] = {}

    def add(self, schema: Schema) -> Validator:
        """Return the references of a schema's modules, which are put into the blob if they are new."""
        key = schema.closed, json.dumps(schema.value)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self._compiled(schema)
        return place

    def _compiled(self, schema: Schema) -> Validator:
        compiled, problems = compile_schema(schema.node, closed=schema.closed)
        if compiled is None:
            raise AssertionError(f"a checked schema does not compile: {problems}")
        code = compile(compiled.predicate, LABEL, "exec", dont_inherit=True, optimize=2)
        predicate = self._blob.add(compiled.predicate.encode()), self._blob.add(dump(code))
        return predicate, self._blob.add(compiled.collector.encode())
