"""JSON Schema compiled to Python: one walk over a schema, two modules that need nothing but Python itself."""

from mcpc.schema.compilation import CompiledSchema, compile_schema

__all__ = ["CompiledSchema", "compile_schema"]
