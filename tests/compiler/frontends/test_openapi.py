"""API documents: the tools and requests that small ones make, what is said of faulty ones, and that large ones end."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.cli.command_options import is_document
from mcpc.diagnostics import in_order
from mcpc.frontends import openapi, parse_project
from mcpc.frontends.openapi import budget, names, servers, texts
from mcpc.frontends.openapi.beginning import new_project
from mcpc.frontends.openapi.budget import shown_schema, size_of
from mcpc.frontends.openapi.documents import ApiDocument, read_document
from mcpc.model.definitions import Definition, ToolDefinition
from mcpc.options import Options
from mcpc.reading import Source, SourceTree
from support.expressions import check_expressions
from support.projects import tree
from support.whole_projects import read_cases

GOLDEN = Path(__file__).parents[2] / "golden/frontends"
USUAL = ("type", "properties", "additionalProperties")


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def fields_of(tool: ToolDefinition) -> dict[str, Any]:
    assert isinstance(tool.node.value, dict)
    return tool.node.value


def request_of(tool: ToolDefinition) -> dict[str, Any]:
    plan: dict[str, Any] = fields_of(tool)["_meta"]["mcpc/handler"]["http"]
    return plan


def printed(definition: Definition | None, problems: Any, project: SourceTree) -> str:
    """Return what a project makes: a line for each tool's texts, arguments and request, for settings and problems."""
    lines = []
    for tool in definition.tools if definition is not None else ():
        fields = dict(fields_of(tool))
        schema, meta = fields.pop("inputSchema"), fields.pop("_meta", None)
        fields |= {"tags": [*tool.tags]} if tool.tags is not None else {}
        assert schema["additionalProperties"] is False
        lines.append(f"{tool.node.span.place_in(project.files.values())} {compact(fields)}")
        lines += [f"    {name}: {compact(part)}" for name, part in schema.items() if name not in USUAL]
        lines += [f"    {name} {compact(part)}" for name, part in schema["properties"].items()]
        handler = meta["mcpc/handler"]["http"] if meta is not None else tool.handler
        lines.append(f"    -> {compact(handler) if isinstance(handler, dict) else handler.contract}")
    for toolset in definition.toolsets if definition is not None else ():
        lines.append(f"toolset {toolset.name}: {', '.join(name for name, _ in toolset.patterns)}")
    for server in definition.virtual_servers if definition is not None else ():
        lines.append(f"server {server.path} {server.name}: {', '.join(server.tools)}")
    for setting in definition.settings_read if definition is not None else ():
        lines.append(f"setting {setting.name} {compact(setting.as_json())}")
    for problem in in_order(problems):
        place = problem.span.place_in(project.files.values()) if problem.span else "-"
        lines.append(" | ".join((problem.code, place, problem.message, problem.expected, problem.hint)))
    return "\n".join(lines)


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    made = []
    for name, project, options in read_cases(GOLDEN / "openapi.cases"):
        definition, problems = parse_project(project, options)
        server = definition.server.node.value if definition is not None and definition.server is not None else None
        made.append(f"##### {name}\n{compact(server)}\n{printed(definition, problems, project)}\n")
    golden(GOLDEN / "openapi.txt", "\n".join(made))


def test_values(golden: Callable[[Path, str], None]) -> None:
    check_expressions(golden, GOLDEN / "openapi_values.txt", budget, names, servers, texts)


def document(operations: dict[str, Any], **more: Any) -> dict[str, Any]:
    info = {"title": "T", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": {f"/{name}": row for name, row in operations.items()}, **more}


def taking(schema: object) -> dict[str, Any]:
    return {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}


def parsed(value: object, **files: str) -> tuple[Definition, list[str]]:
    project = tree({"openapi.json": value if isinstance(value, str) else json.dumps(value), **files})
    definition, problems = openapi.parse(project, Options())
    assert definition is not None
    return definition, [problem.code for problem in problems]


def test_names_stay_when_a_document_grows() -> None:
    long = "a" * 40 + "List" + "b" * 40
    old = {"a": {"get": {"operationId": long}, "put": {}}, "b": {"get": {"operationId": "b"}}}
    new = {"0": {"get": {"operationId": "first"}, "put": {"operationId": long + "2"}}, **old, "a/{x}": {"put": {}}}
    names = [[fields_of(tool)["name"] for tool in parsed(document(each))[0].tools] for each in (old, new)]
    assert names[0] == ["a" * 40 + "_f302df", "put_a", "b"]
    assert [name for name in names[1] if name in names[0]] == names[0]
    assert len(set(names[1])) == 6


@pytest.mark.parametrize("text", ["[" * 10_000, '{"a":' * 10_000 + "1" + "}" * 10_000])
def test_documents_that_are_too_deep(text: str) -> None:
    for name, code in (("openapi.json", "MCP008"), ("openapi.yaml", "MCP170")):
        definition, problems = openapi.parse(tree({name: text}), Options())
        assert definition is not None
        assert not definition.tools
        assert [problem.code for problem in problems] == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"openapi": "3.0.0", "x": NaN}', "MCP002"),
        ('{"openapi": "3.0.0", "x": 1e400}', "MCP007"),
        ('{"openapi": "3.0.0", "paths": {"/\\ud800": {"get": {}}}}', "MCP171"),
        ('{"swagger": "2.0", "schemes": 1, "host": "h", "paths": {"/a": {"get": {"tags": 1}}}}', ""),
        ('{"openapi": "3.0.0", "servers": {}, "security": 1, "paths": {"/a": {"get": {"parameters": 1}}}}', ""),
    ],
)
def test_values_of_other_kinds(text: str, code: str) -> None:
    definition, problems = openapi.parse(tree({"openapi.json": text}), Options())
    assert definition is not None
    assert [problem.code for problem in problems] == [code] * bool(code)
    assert len(definition.tools) == (not code)


def test_references_that_double_at_each_step() -> None:
    def reference(number: int) -> dict[str, str]:
        return {"$ref": f"#/components/schemas/s{number}"}

    apart = {
        f"s{n}": {"type": "object", "properties": {"a": reference(n + 1), "b": reference(n + 1)}} for n in range(40)
    }
    at_once = {f"s{n}": {"allOf": [reference(n + 1), reference(n + 1)]} for n in range(40)}
    for schemas, tools, codes in ((apart, 1, []), (at_once, 0, ["MCP171"])):
        components = {"schemas": {**schemas, "s40": {"type": "string"}}}
        operations = {"a": taking({"type": "object", "properties": {"x": reference(0)}})}
        definition, found = parsed(document(operations, components=components))
        assert (len(definition.tools), found) == (tools, codes)
        assert all(size_of(fields_of(tool)["inputSchema"]) < 8_000 for tool in definition.tools)


def test_a_chain_of_references() -> None:
    chain = {f"s{n}": {"$ref": f"#/components/schemas/s{n + 1}"} for n in range(10_000)}
    steps = {f"t{n}": {"properties": {"x": {"$ref": f"#/components/schemas/t{n + 1}"}}} for n in range(1_000)}
    schemas = {**chain, "s10000": {"type": "string"}, **steps, "t1000": {"type": "string"}}
    for name, tools in (("s9901", 1), ("s9900", 0), ("t0", 0), ("t900", 1)):
        body = taking({"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}})
        definition, codes = parsed(document({"a": body}, components={"schemas": schemas}))
        assert (name, len(definition.tools), codes) == (name, tools, [] if tools else ["MCP171"])


NESTING = (
    '{"items": @}', '{"items": [@]}', '{"not": @}', '{"anyOf": [@]}', '{"dependentSchemas": {"a": @}}',
    '{"properties": {"a": @}}', '{"$ref": "#/paths", "not": @}',
)  # fmt: skip


@pytest.mark.parametrize("outer", NESTING)
def test_how_deep_a_schema_is_nested(outer: str) -> None:
    schema, codes, most = '{"type": "array", "items": {"type": "string"}}', [], 14 if "$ref" in outer else 28
    for _ in range(30):
        schema = outer.replace("@", schema)
        codes.append(parsed(document({"a": taking({"items": json.loads(schema)})}))[1].count("MCP172"))
    assert codes == [codes[0]] * most + [codes[0] + 1] * (30 - most)


def test_anchors_of_yaml_are_bounded() -> None:
    lines = ["openapi: 3.0.0", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    definition, problems = openapi.parse(tree({"openapi.yaml": "\n".join(lines)}), Options())
    assert [problem.code for problem in problems] == ["MCP170"]
    assert definition is not None


def test_a_body_is_spread_up_to_a_number_of_properties_and_of_parts() -> None:
    names = [f"p{number}" for number in range(25)]
    part = {"properties": {"p": {"type": "string"}}}
    schemas: list[tuple[dict[str, Any], list[str]]] = [({"allOf": [part] * 49}, ["p"]), ({"allOf": [part] * 50}, [])]
    schemas += [
        ({"properties": dict.fromkeys(names[:count], True)}, names[:count] * (count < 25)) for count in (24, 25)
    ]
    for schema, keys in schemas:
        (tool,) = parsed(document({"a": taking({"type": "object", **schema})}))[0].tools
        assert list(fields_of(tool)["inputSchema"]["properties"]) == (keys or ["body"])
        assert list(request_of(tool)["body"]["json"].get("members", ())) == keys


def test_clients_see_less_of_a_large_schema() -> None:
    part: dict[str, Any] = {"type": "string", "description": "What it is."}
    for _ in range(5):
        part = {"type": "object", "description": "A part.", "properties": {f"p{n}": part for n in range(5)}}
    definition, _ = parsed(
        document({"a": taking({"type": "object", "properties": {"x": part, "y": {"type": "integer"}}})})
    )
    (tool,) = definition.tools
    whole, shown = fields_of(tool)["inputSchema"], fields_of(tool)["_meta"]["mcpc/shown"]
    assert size_of(whole) > 50_000
    assert "A part." not in compact(whole)
    assert 4_000 < size_of(shown) <= 16_384
    assert shown["properties"]["y"] == {"type": "integer"}
    assert list(shown["properties"]["x"]["properties"]) == ["p0", "p1", "p2", "p3", "p4"]
    assert shown_schema(whole, 200)["properties"]["x"] == {"type": "object"}
    assert shown_schema(whole, size_of(whole)) is whole


def test_places_in_a_document() -> None:
    text = '\ufeff{"a": [1, {"b":\n "x"}], "c": {}, "e\\u0020f": 2}'
    read, _ = read_document(Source("openapi.json", text.encode()))
    assert isinstance(read, ApiDocument)
    places = {("a", 1, "b"): (18, 21), ("c",): (30, 32), ("e f",): (46, 47), ("a", 1, "no", "x"): (11, 22), (): (1, 48)}
    assert {path: (span.start, span.end) for path in places for span in [read.span(path)]} == places
    key = read.key_span(("a", 1, "b"))
    assert text[key.start : key.end] == '"b"'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.yaml", "# of ours\nopenapi: 3.1.0\n", True),
        ("a.yml", "'swagger': '2.0'\n", True),
        ("a.json", '\ufeff{"info": {}, "openapi": "3.0.0"}', True),
        ("a.json", '{\n  "swagger": "2.0"\n}', True),
        ("a.json", '{"components": {"a": "%s"}, "openapi": "3.0.0"}' % ("x" * 10_000), True),
        ("a.toml", 'openapi = "3.0.0"', False),
        ("a.yaml", "x-openapi: 3\n", False),
        ("a.json", '{"openapi": true}', False),
    ],
)
def test_which_files_are_documents(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert is_document(tmp_path / name) is expected
    assert not is_document(tmp_path / "gone.yaml")


def test_a_named_document_is_read_beside_others() -> None:
    files = {"openapi.yaml": "openapi: 3.0.0", "apis/a.toml": "", "b.yaml": "openapi: 3.0.0\npaths: {/b: {get: {}}}"}
    project = replace(tree(files), options=Options(entry="b.yaml"))
    definition, problems = parse_project(project, project.options)
    assert definition is not None
    assert ([fields_of(tool)["name"] for tool in definition.tools], problems) == (["get_b"], ())


def test_a_new_project() -> None:
    more = [f"{number:03}{'0' * 62}" for number in range(19)]
    tags = {"a": {"get": {"operationId": "list", "tags": ["x"]}, "put": {"tags": ["y", "x", *more]}}}
    made = new_project(Source("my api.json", json.dumps(document(tags)).encode()), "shop")
    assert made is not None
    assert list(made) == ["apis/shop.toml", "my api.json"]
    lines = made["apis/shop.toml"].decode().splitlines()
    assert lines[2:4] == ['document = "my api.json"', 'expose = "tools"']
    cut = [f"#   tag:{tag[:63]}…  1 operation" for tag in more[:18]]
    assert lines[6:27] == ["#   tag:x  2 operations", "#   tag:y  1 operation", *cut, '# [tools."list"]']
    texts = {path: data.decode() for path, data in made.items()}
    definition, problems = openapi.parse(tree(texts), Options())
    assert definition is not None
    assert (len(definition.tools), problems) == (2, ())
    assert new_project(Source("a.yaml", b"a: 1"), "a") is None
