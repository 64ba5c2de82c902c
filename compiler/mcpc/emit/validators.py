"""Compiled schemas as references into the blob: each module as source and as bytecode, equal ones once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.bytecode import code_of, dump
from mcpc.schema import compile_schema

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob, Reference
    from mcpc.ir import Schema

LABEL = "server.pyz/mcpc_app/validator.py"

Code = tuple["Reference", "Reference"]


def add_validator(blob: Blob, schema: Schema) -> tuple[Code, Code]:
    """Put a schema's predicate and collector into the blob; return the references of both."""
    compiled, problems = compile_schema(schema.node, closed=schema.closed)
    if compiled is None:
        raise AssertionError(f"a checked schema does not compile: {problems}")
    return add_code(blob, compiled.predicate), add_code(blob, compiled.collector)


def add_code(blob: Blob, source: str) -> Code:
    """Put a module into the blob as source and as bytecode."""
    data = source.encode()
    return blob.add(data), blob.add(dump(code_of(data, LABEL, strip=True)))
