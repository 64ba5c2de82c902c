"""The answers of operations as output schemas (`outputs = "declared"`), as far as a tool can keep what they promise.

A tool with an output schema always has structured content of its form. So there is none where an operation may succeed
in two ways or without JSON, and none that cannot be checked, or is larger than a list has room for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.frontends.openapi.assembly import Assembly
from mcpc.frontends.openapi.budget import size_of
from mcpc.frontends.openapi.keywords import DEFINITIONS
from mcpc.frontends.openapi.problems import UnusableError
from mcpc.reading.json_tree import implied_node
from mcpc.schema.compilation import compile_schema
from mcpc.schema.subschemas import CompileRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.openapi.documents import DocumentValue
    from mcpc.frontends.openapi.keywords import Json
    from mcpc.frontends.openapi.problems import Problems
    from mcpc.frontends.openapi.schemas import Schemas

MAX_FIELDS, MAX_STEPS = 60, 20
FIELD_NAME = re.compile(r"[^.\s]+")
FIELD: dict[str, Json] = {"type": "string", "pattern": r"^[^.\s]+(\.[^.\s]+)*$", "maxLength": 200}
"""A field of an answer that the document does not describe."""
NOT_DECLARED = "the answer of an operation is not declared"


def fields_argument(schema: dict[str, Json] | None) -> dict[str, Json]:
    """Return the schema of an argument with the fields to keep: those of the answer, as far as they are known."""
    fields = [] if schema is None else [*field_names(schema, schema.get("$defs", {}), 2)]
    known: dict[str, Json] = {"type": "string", "enum": fields} if 0 < len(fields) <= MAX_FIELDS else {**FIELD}
    text = "what is kept of the answer; all if it is left out"
    return {"type": "array", "maxItems": MAX_FIELDS, "items": known, "description": text}


def field_names(schema: Json, definitions: dict[str, Json], depth: int) -> Iterator[str]:
    """Yield the names of the fields of an answer, or of its items, to a depth."""
    # Limited, since a reference may lead to itself.
    for _ in range(MAX_STEPS):
        if not isinstance(schema, dict) or ("$ref" not in schema and "items" not in schema):
            break
        named = schema.get("$ref")
        schema = definitions.get(named.removeprefix(DEFINITIONS)) if isinstance(named, str) else schema["items"]
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    for name, part in properties.items():
        if FIELD_NAME.fullmatch(name):
            yield name
            yield from (f"{name}.{inner}" for inner in field_names(part, definitions, depth - 1)) if depth > 1 else ()


def output_schema(place: DocumentValue, schemas: Schemas, budget: int, problems: Problems) -> dict[str, Json] | None:
    """Return the schema of an answer with all that it refers to, or None with a note."""
    try:
        root: Any = schemas.convert(place)
        if {*root} == {"$ref"}:  # clients of older revisions look for a type at the root
            root = schemas.definitions.get(root["$ref"].removeprefix(DEFINITIONS), root)
        schema: dict[str, Json] = Assembly(schemas, root).schema()
    except UnusableError as wrong:
        problems.repair(place, f"{NOT_DECLARED}: {wrong}")
        return None
    if size_of(schema) > budget:
        problems.repair(place, f"{NOT_DECLARED}: its schema has more than {budget:,} bytes (`schema-budget`)")
        return None
    compiled, wrong_parts = compile_schema(implied_node(schema, place.span), CompileRequest())
    if compiled is None:
        problems.repair(place, f"{NOT_DECLARED}: {wrong_parts[0].message if wrong_parts else 'it cannot be checked'}")
        return None
    return schema
