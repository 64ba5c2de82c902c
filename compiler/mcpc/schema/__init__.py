"""Compiler of JSON Schema to Python: one walk over a schema writes two modules that need nothing but Python itself."""

from mcpc.schema.compilation import CompiledSchema, compile_of, compile_schema
from mcpc.schema.subschemas import CompileRequest
from mcpc.schema.validator import SchemaError, Validator, compile

__all__ = ["CompileRequest", "CompiledSchema", "SchemaError", "Validator", "compile", "compile_of", "compile_schema"]
