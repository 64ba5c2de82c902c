"""JSON Schema compiled to Python: one walk over a schema, two modules that need nothing but Python itself."""

from mcpc.schema.compilation import CompiledSchema, compile_of, compile_schema
from mcpc.schema.search import Question
from mcpc.schema.validator import SchemaError, Validator, compile

__all__ = ["CompiledSchema", "Question", "SchemaError", "Validator", "compile", "compile_of", "compile_schema"]
