"""Schemas of own definitions in the form that clients take: what is written in place of what, and what stays."""

import json

import pytest

from mcpc.lower.tools_and_prompts import in_client_form
from mcpc.options import Options
from mcpc.reading import Node, Source, parse_json
from support.projects import SERVER_JSON, lowered

SEVEN = '"$schema": "http://json-schema.org/draft-07/schema#"'
OLDER = '"$schema": "https://json-schema.org/draft/2019-09/schema"'
FORMS: dict[str, tuple[str, str]] = {
    "a draft in which nothing differs": (f'{{{SEVEN}, "type": "object"}}', '{"type": "object"}'),
    "a reference beside its definitions": (
        f'{{{SEVEN}, "$ref": "#/definitions/a", "definitions": {{"a": {{"minimum": 1}}}}}}',
        '{"$ref": "#/definitions/a", "definitions": {"a": {"minimum": 1}}}',
    ),
    "lists of anything": (
        '{"properties": {"a": {"type": "array"}, "b": {"allOf": [{"type": ["null", "array"], "maxItems": 2}]}}}',
        (
            '{"properties": {"a": {"type": "array", "items": {}}, '
            '"b": {"allOf": [{"type": ["null", "array"], "maxItems": 2, "items": {}}]}}}'
        ),
    ),
    "booleans": (
        '{"properties": {"a": true, "b": false, "c": {"type": "array", "items": true}}, "additionalProperties": true}',
        '{"properties": {"a": {}, "b": false, "c": {"type": "array", "items": {}}}, "additionalProperties": true}',
    ),
}
KEPT = (
    f'{{{SEVEN}, "dependentRequired": {{"a": ["b"]}}}}',
    f'{{{SEVEN}, "properties": {{"a": {{"items": [{{}}]}}}}}}',
    f'{{{SEVEN}, "properties": {{"a": {{"$ref": "#/definitions/a", "minimum": 1}}}}, "definitions": {{"a": {{}}}}}}',
    f'{{{SEVEN}, "definitions": {{"a": {{"$id": "#a"}}}}}}',
    f'{{{SEVEN}, "definitions": {{"a": {{{SEVEN}}}}}}}',
    f'{{{OLDER}, "$recursiveAnchor": true}}',
    f'{{{OLDER}, "contains": {{"minimum": 1}}, "unevaluatedItems": {{}}}}',
    '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
    '{"allOf": [{"type": "array"}], "unevaluatedItems": {"minimum": 1}}',
    '{"type": "array", "prefixItems": [{"minimum": 1}]}',
    '{"type": "array", "items": {"type": ["string", "null"]}}',
    '{"properties": {"items": {"const": {"type": "array", "properties": {"a": true}}, "default": [true]}}}',
    '{"enum": [{"type": "array"}, true]}',
)


def node_of(written: str) -> Node:
    node, _ = parse_json(Source("a.json", written.encode()))
    assert node is not None
    return node


@pytest.mark.parametrize("name", FORMS)
def test_what_means_the_same_is_written_as_clients_take_it(name: str) -> None:
    written, expected = FORMS[name]
    found = in_client_form(node_of(written))
    assert json.dumps(found.value) == expected
    assert in_client_form(found) is found


@pytest.mark.parametrize("written", KEPT)
def test_what_has_one_form_stays(written: str) -> None:
    node = node_of(written)
    assert in_client_form(node) is node


@pytest.mark.parametrize("dialect", ["mcp", "mcbox"])
def test_lists_of_another_system_are_as_it_has_them(dialect: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    tools = {"tools": [{"name": "t", "description": "d", "inputSchema": schema, "outputSchema": schema}]}
    files = {"server.json": SERVER_JSON, "tools.json": json.dumps(tools), "tools.py": "def t(a=1): ...\n"}
    server, _ = lowered(files, Options(dialect=dialect))
    assert server is not None
    expected = {**schema, "properties": {"a": {"type": "array", "items": {}}}} if dialect == "mcp" else schema
    assert (server.tools[0].input.value, server.tools[0].output.value) == (expected, expected)  # type: ignore[union-attr]
