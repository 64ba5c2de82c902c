"""Reference data of others that tests compare with: the protocol's schemas, the JSON Schema test suite, real tools.

`../shared` beside the checkout has the newest. A fresh clone has what packages carry, which `make reference` downloads;
where that does not cover an earlier revision of the protocol, its schema is made from the next one by `NOT_YET`.
"""

from __future__ import annotations

import copy
import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from support.needs import ROOT, SHARED, lacking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGED = ROOT / ".cache/reference"
ONLY_PACKAGED = "TESTS_REFERENCE"
"""Set to `packages`, what is in `../shared` is not used."""
PACKAGED_REVISIONS = ("2025-11-25", "2026-07-28")
NOT_YET: dict[str, dict[str, tuple[str, ...]]] = {
    "2025-06-18": {
        "Implementation": ("description", "icons", "websiteUrl"),
        "Prompt": ("icons",),
        "Resource": ("icons",),
        "ResourceLink": ("icons",),
        "ResourceTemplate": ("icons",),
        "ServerCapabilities": ("tasks",),
        "Tool": ("execution", "icons"),
    },
    "2025-03-26": {
        "Annotations": ("lastModified",),
        "CallToolResult": ("structuredContent",),
        "Implementation": ("title",),
        "Prompt": ("title",),
        "PromptArgument": ("title",),
        "PromptReference": ("title",),
        "Resource": ("title",),
        "ResourceTemplate": ("title",),
        "Tool": ("outputSchema", "title"),
    },
    "2024-11-05": {"ServerCapabilities": ("completions",), "Tool": ("annotations",)},
}
"""What definitions of each revision do not have yet that the revision after it has, but for `_meta` and what clients announce."""
CORRECTED = {"2025-11-25": {"NumberSchema": {"default": "number", "maximum": "number", "minimum": "number"}}}
"""Types of properties that were corrected in a revision's schema after the commit in the package."""
NO_CONTENT_YET = {"2025-03-26": ("ResourceLink",), "2024-11-05": ("AudioContent",)}
BATCHES = ("2024-11-05", "2025-03-26")


def chosen(shared: str, packaged: str) -> Path | None:
    """Return where reference data is, or None where it is not."""
    places = [PACKAGED / packaged] if packaged else []
    if os.environ.get(ONLY_PACKAGED) != "packages":
        places.insert(0, SHARED / shared)
    return next((place for place in places if place.exists()), None)


def schema_suite() -> Path:
    """Return the folder of the official JSON Schema test suite; skip the test without it."""
    found = chosen("data/json-schema-test-suite", "jsonschema/json")
    return found or lacking("the JSON Schema test suite is not here (`make reference` downloads it)")


def is_newest_suite() -> bool:
    """Whether that suite is the one whose tests are counted, rather than the earlier one in a package."""
    return schema_suite().is_relative_to(SHARED)


@cache
def protocol_schema(revision: str) -> dict[str, Any]:
    """Return the JSON Schema of a protocol revision, to be copied before it is changed; skip the test without it."""
    found = chosen(f"data/mcp-schema/{revision}/schema.json", f"mcp/schema/{revision}.json")
    if found is not None:
        return corrected(revision, json.loads(found.read_text()))
    if revision in PACKAGED_REVISIONS:
        lacking(f"the schema of {revision} is not here (`make reference` downloads it)")
    return earlier_schema(revision)


def corrected(revision: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a revision's schema with the types that were corrected since."""
    for name, types in CORRECTED.get(revision, {}).items():
        for key, kind in types.items():
            definitions(schema)[name]["properties"][key]["type"] = kind
    return schema


def definitions(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions of a protocol schema, whichever keyword its draft has for them."""
    found: dict[str, Any] = schema.get("$defs") or schema["definitions"]
    return found


def earlier_schema(revision: str) -> dict[str, Any]:
    """Return the schema of 2025-11-25 without what came after `revision`: its names, its fields, its content."""
    schema = copy.deepcopy(protocol_schema(PACKAGED_REVISIONS[0]))
    named = definitions(schema)
    for later, removed in NOT_YET.items():
        if later < revision:
            continue
        for name, properties in removed.items():
            named[name]["properties"].update(dict.fromkeys(properties, False))
        for name in NO_CONTENT_YET.get(later, ()):
            del named[name]
            named["ContentBlock"]["anyOf"].remove({"$ref": f"#/$defs/{name}"})
    named["JSONRPCError"] = named["JSONRPCErrorResponse"]
    named["ResourceReference"] = named["ResourceTemplateReference"]
    if revision in BATCHES:
        whole = named["JSONRPCMessage"]
        whole["anyOf"] = [*whole["anyOf"], {"type": "array", "items": {"anyOf": whole["anyOf"]}}]
        named["JSONRPCBatchResponse"] = {"type": "array", "items": {"$ref": "#/$defs/JSONRPCResponse"}}
    return without_dangling(schema)


def without_dangling(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without the alternatives that refer to definitions which it does not have."""
    named = definitions(schema)

    def pruned(value: Any) -> Any:
        if isinstance(value, list):
            return [pruned(item) for item in value if not (isinstance(item, dict) and is_dangling(item))]
        return {key: pruned(item) for key, item in value.items()} if isinstance(value, dict) else value

    def is_dangling(value: dict[str, Any]) -> bool:
        target = value.get("$ref")
        return isinstance(target, str) and target.removeprefix("#/$defs/") not in named

    found: dict[str, Any] = pruned(schema)
    return found


def protocol_examples(name: str) -> list[dict[str, Any]]:
    """Return the examples that the schema of 2026-07-28 has of a message, or one made of its required fields."""
    folder = chosen(f"data/mcp-schema/2026-07-28/examples/{name}", "")
    if folder is not None:
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    schema = protocol_schema("2026-07-28")
    found: dict[str, Any] = least(schema, definitions(schema)[name])
    return [found]


def least(schema: dict[str, Any], part: dict[str, Any]) -> Any:
    """Return the least value of a part of a schema: what is required of it, constants as they are, names as texts."""
    if "$ref" in part:
        return least(schema, definitions(schema)[part["$ref"].rpartition("/")[2]])
    if "const" in part or "enum" in part:
        return part["const"] if "const" in part else part["enum"][0]
    for keyword in ("anyOf", "oneOf"):
        if keyword in part:
            return least(schema, part[keyword][0])
    kind = part.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        properties = part.get("properties", {})
        return {key: least(schema, properties.get(key, {})) for key in part.get("required", ())}
    return {"array": [], "string": "2026-07-28", "boolean": False}.get(kind, 1)


def has_real_tools() -> bool:
    """Whether the tools of public servers are here, rather than only those of this project's examples."""
    return chosen("data/real-tools.json", "") is not None


def real_tools() -> dict[str, list[dict[str, Any]]]:
    """Return the tools of four public servers by the server's name, or else those of this project's own examples."""
    found = chosen("data/real-tools.json", "")
    if found is None:
        return {name: list(tools) for name, tools in example_tools()}
    servers: dict[str, Any] = json.loads(found.read_text())
    return {name: server["tools"] if isinstance(server, dict) else server for name, server in servers.items()}


def example_tools() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the tools that JSON files of examples and acceptance projects define, by file."""
    for folder in ("examples", "tests/acceptance"):
        for path in sorted((ROOT / folder).rglob("tools*.json")):
            tools = json.loads(path.read_text()).get("tools", ())
            if tools:
                yield str(path.relative_to(ROOT)), [tool for tool in tools if "inputSchema" in tool]
