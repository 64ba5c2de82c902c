"""What a definition says of asking the client, of tasks, and of arguments that are headers: what it becomes, and faults."""

import json
from pathlib import Path

import pytest

from mcpc.diagnostics import Span
from mcpc.lower.bash_options import names_in, unknown_variables, used_variables, variable_pairs
from mcpc.lower.tools_and_prompts import in_client_form
from mcpc.options import Options
from mcpc.reading import Node, Source, parse_json
from support.images import archive, image_of
from support.projects import SERVER_JSON, Files, lowered
from support.schemas import node_of

TEXT = '{"type": "string"}'
FORM = f'{{"type": "object", "properties": {{"name": {TEXT}}}, "required": ["name"]}}'
ELICIT = f'{{"method": "elicitation/create", "params": {{"message": "Who, {{file}}?", "requestedSchema": {FORM}}}}}'
ROOTS = '{"method": "roots/list"}'
FILE = f'{{"type": "object", "properties": {{"file": {TEXT}}}}}'


def tool(handler: str = "", schema: str = FILE, more: str = "", name: str = "x") -> str:
    meta = f', "_meta": {{"mcpc/handler": {{{handler}}}}}' if handler else ""
    return f'{{"name": "{name}", "description": "d", "inputSchema": {schema}{more}{meta}}}'


def tools(*found: str, server: str = SERVER_JSON) -> Files:
    return {
        "server.json": server,
        "tools.json": f'{{"tools": [{", ".join(found)}]}}',
        "tools.py": "def x(**given): ...\ndef y(**given): ...\n",
    }


def test_what_is_said_of_a_tool_is_in_its_record() -> None:
    schema = header(f'{{"b": {REGION}, "file": {TEXT}}}')
    files = tools(tool(f'"asks": {{"who": {ELICIT}, "where": {ROOTS}}}, "task": "optional"', schema, OLD))
    server, _ = lowered(files)
    (found,) = server.tools
    image = image_of(archive(files).data)
    record = image.tool("x")
    assert (record.asks, record.task, record.headers) == (found.running.asks, "optional", (("Region", ("b",)),))
    assert len(record.asks) == 2
    for version in (*image.handshake_versions, *image.stateless_versions):
        assert b"execution" not in image.revision(version).page("tools/list", None)


OLD = ', "execution": {"taskSupport": "required"}'


def header(schema: str) -> str:
    return f'{{"type": "object", "properties": {schema}}}'


REGION = '{"type": "string", "x-mcp-header": "Region"}'


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


def written_node(written: str) -> Node:
    node, _ = parse_json(Source("a.json", written.encode()))
    assert node is not None
    return node


@pytest.mark.parametrize("name", FORMS)
def test_what_means_the_same_is_written_as_clients_take_it(name: str) -> None:
    written, expected = FORMS[name]
    found = in_client_form(written_node(written))
    assert json.dumps(found.value) == expected
    assert in_client_form(found) is found


@pytest.mark.parametrize("written", KEPT)
def test_what_has_one_form_stays(written: str) -> None:
    node = written_node(written)
    assert in_client_form(node) is node


@pytest.mark.parametrize("dialect", ["mcp", "mcbox"])
def test_lists_of_another_system_are_as_it_has_them(dialect: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    tools = {"tools": [{"name": "t", "description": "d", "inputSchema": schema, "outputSchema": schema}]}
    files = {"server.json": SERVER_JSON, "tools.json": json.dumps(tools), "tools.py": "def t(a=1): ...\n"}
    server, _ = lowered(files, Options(dialect=dialect))
    expected = {**schema, "properties": {"a": {"type": "array", "items": {}}}} if dialect == "mcp" else schema
    assert (server.tools[0].input.value, server.tools[0].output.value) == (expected, expected)  # type: ignore[union-attr]


def named(text: str) -> list[tuple[str, str]]:
    """Return the arguments of a schema, each with the text of its place and with how often that was there before."""
    spans = names_in(node_of(text))
    return [(name, f"{text[span.start : span.end]} {text.count(text[span.start : span.end], 0, span.start)}")
            for name, span in spans.items()]  # fmt: skip


@pytest.mark.parametrize(("begin", "end"), [('{"allOf": [', "]}"), ('{"dependentSchemas": {"k": ', "}}")])
def test_names_are_looked_for_to_a_depth(begin: str, end: str) -> None:
    texts = [begin * levels + '{"properties": {"x": {}}}' + end * levels for levels in (32, 33)]
    assert [[*names_in(node_of(text))] for text in texts] == [["x"], []]


NAMED: list[tuple[str, list[str]]] = json.loads((Path(__file__).parent / "names_in_schemas.json").read_text("utf-8"))


@pytest.mark.parametrize(("schema", "names"), NAMED)
def test_names_that_stand_in_the_schema(schema: str, names: list[str]) -> None:
    assert named(schema) == [(name, f'"{name}" 0') for name in names]


def test_a_variable_is_reported_where_it_is_used_first() -> None:
    libraries = [
        Source("a.bash", b"echo $mcpc_arg_b xmcpc_arg_x mcpc_arg_ ${mcpc_arg_a}$mcpc_arg_b"),
        Source("b.bash", b"mcpc_arg_a mcpc_arg_c"),
    ]
    used = used_variables(libraries)
    assert {name: (span.path, span.start, span.end) for name, span in used.items()} == {
        "mcpc_arg_b": ("a.bash", 6, 16),
        "mcpc_arg_": ("a.bash", 29, 38),
        "mcpc_arg_a": ("a.bash", 41, 51),
        "mcpc_arg_c": ("b.bash", 11, 21),
    }
    found = list(unknown_variables(used, ["mcpc_arg_a", "mcpc_arg_bb"]))
    assert [(problem.span, problem.hint) for problem in found] == [
        (used["mcpc_arg_b"], "did you mean `mcpc_arg_bb`?"),
        (used["mcpc_arg_c"], "did you mean `mcpc_arg_a`?"),
    ]


def test_arguments_that_would_share_a_variable_have_none() -> None:
    names = {
        name: Span("tools.json", number) for number, name in enumerate(("a-b", "c", "a.b", "ä", "a_b", "d-e", "d_e"))
    }
    pairs, problems = variable_pairs("it", names)
    assert pairs == (("c", "mcpc_arg_c"),)
    assert [(problem.code, problem.span) for problem in problems] == [
        ("MCP225", names["ä"]),
        ("MCP225", names["a.b"]),
        ("MCP225", names["d_e"]),
    ]
    assert "`a-b` and `a.b` and `a_b`" in problems[1].message
