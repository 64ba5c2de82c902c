"""Reference data: a schema that is made for an earlier revision refuses what that revision does not have yet."""

import json

import jsonschema
import pytest

from support.needs import SHARED
from support.reference import NOT_YET, PACKAGED_REVISIONS, definitions, earlier_schema, protocol_schema

NEXT = dict(zip(NOT_YET, (PACKAGED_REVISIONS[0], *NOT_YET), strict=False))
NOT_COMPARED = {"jsonrpc", "id", "_meta"}
"""What every schema says since a revision, and meant or allowed before."""
CLIENTS = {"ClientCapabilities"}
RENAMED = {"EnumSchema", "JSONRPCResponse", "StringSchema", "NumberSchema"}


@pytest.mark.parametrize("revision", NOT_YET)
def test_what_a_revision_does_not_have_yet_is_refused(revision: str) -> None:
    schema = earlier_schema(revision)
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    judge = jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/Tool"})
    judge.validate(tool)
    assert judge.is_valid({**tool, "icons": []}) is False
    assert judge.is_valid({**tool, "title": "A"}) is (revision == "2025-06-18")
    assert judge.is_valid({**tool, "annotations": {}}) is (revision != "2024-11-05")


@pytest.mark.parametrize("revision", NOT_YET)
def test_the_table_says_what_the_official_schemas_say(revision: str) -> None:
    later = definitions(protocol_schema(NEXT[revision]))
    assert all(later[name]["properties"].keys() >= set(removed) for name, removed in NOT_YET[revision].items())
    official = SHARED / f"data/mcp-schema/{revision}/schema.json"
    earlier = definitions(json.loads(official.read_text()) if official.exists() else earlier_schema(revision))
    found = {}
    for name in earlier.keys() & later.keys() - CLIENTS - RENAMED:
        properties = allowed(later[name]) - allowed(earlier[name]) - NOT_COMPARED
        if properties:
            found[name] = tuple(sorted(properties))
    assert found == NOT_YET[revision]


def allowed(definition: dict) -> set[str]:
    return {name for name, schema in definition.get("properties", {}).items() if schema is not False}
