"""The protocol's own schemas in tests: what a server says has to be what its revision says."""

from functools import cache
from typing import Any

import jsonschema

from support.reference import definitions, protocol_schema

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"


@cache
def validator(revision: str, name: str) -> jsonschema.protocols.Validator:
    """Return what judges values of a name of a revision's schema."""
    schema = protocol_schema(revision)
    kind = "definitions" if "definitions" in schema else "$defs"
    assert name in definitions(schema), name
    return jsonschema.Draft202012Validator({**schema, "$ref": f"#/{kind}/{name}", "anyOf": [True]})


def valid(revision: str, name: str, value: Any) -> Any:
    """Return a value that is what the revision's schema says; raise what is wrong with it."""
    validator(revision, name).validate(value)
    return value
