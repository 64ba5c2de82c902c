"""Compiler of JSON Schema to Python: one walk over a schema writes two modules that need nothing but Python itself."""

from mcpc.schema.compilation import CompiledSchema, SchemaError, Validator, compile, compile_of, compile_schema
from mcpc.schema.subschemas import CompileRequest

__all__ = ["CompileRequest", "CompiledSchema", "SchemaError", "Validator", "compile", "compile_of", "compile_schema"]
