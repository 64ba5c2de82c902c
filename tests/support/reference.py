"""Reference data of others that tests compare with: the protocol's schemas, the JSON Schema test suite, real tools.

All of it is in `tests/data`, whose README names origins and licences: no test is weaker on another machine.
"""

import json
from functools import cache
from typing import Any

from support.needs import ROOT

DATA = ROOT / "tests/data"
SCHEMA_SUITE = DATA / "json-schema-test-suite"
"""The official JSON Schema test suite."""


def read_data(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@cache
def protocol_schema(revision: str) -> dict[str, Any]:
    """Return the JSON Schema of a protocol revision, to be copied before it is changed."""
    schema: dict[str, Any] = read_data(f"mcp-schema/{revision}.json")
    return schema


def definitions(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions of a protocol schema, whichever keyword its draft has for them."""
    found: dict[str, Any] = schema.get("$defs") or schema["definitions"]
    return found


def protocol_requests(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_data("mcp-schema/requests-2026-07-28.json")[name]
    return found


def real_tools() -> dict[str, list[dict[str, Any]]]:
    """Return the tools of four public servers by the server's name."""
    found: dict[str, list[dict[str, Any]]] = read_data("real-tools.json")
    return found
