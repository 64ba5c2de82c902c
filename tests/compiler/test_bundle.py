"""Schemas that refer to other files of the project: what becomes of them, and what of those that cannot be joined."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.reading import Source
from mcpc.schema import CompileRequest, compile_schema
from mcpc.schema.bundle import self_contained
from mcpc.schema.resources import Files
from support.needs import ROOT
from support.schemas import functions, node_of

POINT = {
    "$id": "https://example.com/point",
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"$ref": "#/properties/x"}, "next": {"$ref": "point"}},
    "required": ["x"],
}
COLOUR = {"$defs": {"a/b%": {"$anchor": "dark", "const": "black"}}, "enum": ["red", {"$ref": "#/no/reference"}]}
OLD = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
DYNAMIC = {"$dynamicAnchor": "node", "properties": {"child": {"$dynamicRef": "#node"}}}


def files(**others: Any) -> Files:
    schemas = {"point": POINT, "colour": COLOUR, "old": OLD, "dynamic": DYNAMIC, **others}
    return Files([Source(f"schemas/{name}.json", json.dumps(schema).encode()) for name, schema in schemas.items()])


def joined(schema: Any, **others: Any) -> tuple[Any, list[str]]:
    node, problems = self_contained(node_of(schema), files(**others))
    return node.value, [problem.code for problem in problems]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"$ref": "schemas/point.json"}, {"x": 1, "y": 2, "next": {"x": 1}}, {"x": 1, "next": {}}),
        ({"$ref": "https://example.com/point"}, {"x": 1}, {"x": "1"}),
        ({"items": {"$ref": "./schemas/../schemas/point.json#/properties/y"}}, [1.5], ["1"]),
        ({"$ref": "schemas/colour.json#dark"}, "black", "red"),
        ({"$ref": "schemas/colour.json#/$defs/a~1b%25"}, "black", "red"),
        ({"$ref": "schemas/colour.json"}, {"$ref": "#/no/reference"}, "black"),
        (
            {"$defs": {"point": {"const": 1}}, "anyOf": [{"$ref": "schemas/point.json"}, {"$ref": "#/$defs/point"}]},
            1,
            2,
        ),
        ({"$id": "https://example.com/mine", "$ref": "point"}, {"x": 1}, {}),
        ({"$schema": "http://json-schema.org/draft-07/schema", "$ref": "schemas/old.json"}, ["a"], [1]),
    ],
)
def test_what_is_joined_stands_by_itself_and_means_the_same(schema: Any, good: Any, bad: Any) -> None:
    value, codes = joined(schema)
    assert codes == []
    modules, problems = compile_schema(node_of(value))
    assert modules, problems
    accepts, _ = functions(modules)
    assert accepts(good)
    assert not accepts(bad)
    apart, _ = compile_schema(node_of(schema), CompileRequest(remotes=files()))
    assert apart
    assert [functions(apart)[0](one) for one in (good, bad)] == [True, False]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("other", ["colour.json", "colour.json#/$defs/a~1b%25"])
def test_a_name_in_another_file_is_found_whatever_refers_to_the_file_first(other: str, order: int) -> None:
    schema = {"anyOf": [{"$ref": "schemas/colour.json#dark"}, {"$ref": f"schemas/{other}"}][::order]}
    modules, problems = compile_schema(node_of(schema), CompileRequest(remotes=files()))
    assert problems == ()
    assert modules is not None
    assert functions(modules)[0]("black")
    assert joined(schema)[1] == []


def bundled(schema: Any) -> Iterator[str]:
    """Yield a schema with all that it refers to, where each included file is, and the problems."""
    others: dict[str, Any] = {"a.b": {"title": "1"}, "a": {"x": [{"title": "2"}]}, "-": {"title": "3"}}
    loop = {"properties": {"l": {"$ref": "loop.json"}, "p": {"$ref": "point.json#/properties/y"}}}
    node, problems = self_contained(node_of(schema), files(**others, loop=loop))
    yield f"{json.dumps(schema)}\n    {json.dumps(node.value)}\n"
    for keyword in ("$defs", "definitions"):
        for member in part.members if (part := node.get(keyword)) else ():
            yield f"    {member.key} {member.node.span.path} {member.node.span.start} {member.node.span.end}\n"
    yield from (f"    {each.code} {each.span and each.span.path} {each.message}; {each.hint}\n" for each in problems)


def test_the_whole_of_what_is_joined(golden: Callable[[Path, str], None]) -> None:
    folder = ROOT / "tests/golden/schemas"
    schemas = json.loads((folder / "bundled.json").read_text("utf-8"))
    golden(folder / "bundled.txt", "".join(line for schema in schemas for line in bundled(schema)))


def test_a_reference_that_leads_nowhere_is_left_to_the_compiler() -> None:
    for reference in ("schemas/none.json", "../etc/passwd", "https://example.com/none", "file:///etc/passwd"):
        schema = {"$ref": reference}
        assert joined(schema) == (schema, [])
        assert [problem.code for problem in compile_schema(node_of(schema))[1]] == ["MCP113"]


def test_diagnostics_point_into_the_file_a_part_was_written_in() -> None:
    node, _ = self_contained(node_of({"$ref": "schemas/slow.json"}), files(slow={"propertis": {}}))
    [problem] = compile_schema(node)[1]
    assert problem.code == "MCP103"
    assert problem.span
    assert problem.span.path == "schemas/slow.json"
