"""The `server.json` of the official MCP registry, which says where a server is published, not what it offers.

Its form is https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json; a native project has a file
of the same name with `serverInfo`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.reading import Json, Source

SCHEMA_BEGINNING, SCHEMA_END = "https://static.modelcontextprotocol.io/schemas/", "/server.schema.json"
PUBLISHED_AS = ("packages", "remotes", "repository")
"""Members that only a description for the registry has."""
DESCRIBES_SERVER = ("serverInfo", "capabilities", "protocolVersion")
"""Members that only a description of the server itself has."""


def is_registry_manifest(source: Source) -> bool:
    """Tell whether a file describes a server for the registry; one that is not valid JSON does not."""
    try:
        said: Json = json.loads(source.text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    if not isinstance(said, dict) or not isinstance(said.get("name"), str):
        return False
    if any(key in said for key in DESCRIBES_SERVER):
        return False
    schema = said.get("$schema")
    is_named = isinstance(schema, str) and schema.startswith(SCHEMA_BEGINNING) and schema.endswith(SCHEMA_END)
    return is_named or any(key in said for key in PUBLISHED_AS)
