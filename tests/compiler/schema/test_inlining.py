"""Schemas from type hints are shown without references where that is possible, and accept what they accepted."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, Field, TypeAdapter

from mcpc.frontends.introspection.schemas import (
    MAX_GROWTH,
    MAX_INLINED_BYTES,
    _size,
    inline_definitions,
    parameter_schema,
    result_schema,
)
from mcpc.reading import Source
from mcpc.schema import CompileRequest, SchemaError, compile_schema
from mcpc.schema import compile as compiled
from mcpc.schema.bundle import self_contained
from mcpc.schema.resources import Files
from support.needs import ROOT
from support.random_schemas import Generator
from support.random_values import Values
from support.scale import scaled
from support.schemas import functions, node_of

EMPTY: Any = parameter_schema.__globals__["NOTHING"]


class Unit(enum.Enum):
    """How degrees are counted."""

    C = "celsius"
    F = "fahrenheit"


class Place(BaseModel):
    """A place."""

    city: str = Field(min_length=1)
    unit: Unit = Unit.C


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    home: Place


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree]
    place: Place | None = None


def parameters(**hints: Any) -> dict[str, Any]:
    return parameter_schema({name: hint if isinstance(hint, tuple) else (hint, EMPTY) for name, hint in hints.items()})


def test_an_enum_and_a_model_are_no_references() -> None:
    shown = parameters(place=Place, unit=(Unit, Unit.F))
    assert "$defs" not in shown
    unit = {"description": "How degrees are counted.", "enum": ["celsius", "fahrenheit"], "type": "string"}
    assert shown["properties"]["unit"] == {**unit, "default": "fahrenheit"}
    assert shown["properties"]["place"]["properties"]["unit"] == {**unit, "default": "celsius"}


def test_annotations_beside_a_reference_replace_the_definitions() -> None:
    described = Annotated[Unit, Field(description="of the answer", title="Unit of the answer")]
    shown = parameters(unit=described)["properties"]["unit"]
    assert (shown["description"], shown["title"]) == ("of the answer", "Unit of the answer")
    assert shown["enum"] == ["celsius", "fahrenheit"]


def test_assertions_beside_a_reference_hold_beside_the_definition() -> None:
    schema = {
        "properties": {"x": {"$ref": "#/$defs/X", "maximum": 5, "description": "here"}},
        "$defs": {"X": {"type": "integer", "maximum": 9, "minimum": 1, "description": "there"}},
    }
    shown = inline_definitions(schema)
    assert shown == {
        "properties": {
            "x": {
                "maximum": 5,
                "description": "here",
                "allOf": [{"type": "integer", "maximum": 9, "minimum": 1, "description": "there"}],
            }
        }
    }
    for value in ({"x": 5}, {"x": 6}, {"x": 0}, {"x": "a"}):
        assert compiled(schema).accepts(value) is compiled(shown).accepts(value), value


def test_what_leads_back_to_itself_stays() -> None:
    shown = parameters(tree=Tree)
    assert list(shown["$defs"]) == ["Tree"]
    assert shown["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    place = shown["$defs"]["Tree"]["properties"]["place"]["anyOf"][0]
    assert place["properties"]["unit"]["enum"] == ["celsius", "fahrenheit"]


def test_a_result_is_shown_without_references() -> None:
    shown, wraps = result_schema(list[Place])
    assert wraps
    assert "$defs" not in shown
    assert shown["properties"]["result"]["items"]["properties"]["unit"]["enum"] == ["celsius", "fahrenheit"]


def test_a_discriminator_does_not_map_to_what_is_gone() -> None:
    shown = parameters(animal=Annotated[Cat | Dog, Field(discriminator="kind")])
    assert "$defs" not in shown
    assert "discriminator" not in shown["properties"]["animal"]
    assert [one["properties"]["kind"]["const"] for one in shown["properties"]["animal"]["oneOf"]] == ["cat", "dog"]


def large(uses: int, bytes_: int) -> dict[str, Any]:
    """Return a schema with one definition of about a size, used so often."""
    return {
        "properties": {f"p{number}": {"$ref": "#/$defs/Large"} for number in range(uses)},
        "$defs": {"Large": {"type": "string", "description": "d" * bytes_}},
    }


@pytest.mark.parametrize(
    ("uses", "size", "goes"),
    [(1, 100_000, True), (2, 100_000, True), (3, 100_000, False), (30, 60, True), (100, 500, False)],
)
def test_a_schema_grows_only_so_far(uses: int, size: int, goes: bool) -> None:
    schema = large(uses, size)
    shown = inline_definitions(schema)
    assert ("$defs" not in shown) is goes
    assert _size(shown) <= max(MAX_INLINED_BYTES, MAX_GROWTH * _size(schema))


def test_growth_that_multiplies_is_bounded() -> None:
    doubled = {
        f"D{n}": {"properties": {side: {"$ref": f"#/$defs/D{n + 1}"} for side in ("left", "right")}} for n in range(40)
    }
    schema = {"properties": {"x": {"$ref": "#/$defs/D0"}}, "$defs": {**doubled, "D40": {"type": "integer"}}}
    assert _size(inline_definitions(schema)) <= max(MAX_INLINED_BYTES, MAX_GROWTH * _size(schema))


def test_a_deep_chain_of_models_stays_as_it_is() -> None:
    chain = {f"D{n}": {"properties": {"next": {"$ref": f"#/$defs/D{n + 1}"}}} for n in range(3000)}
    schema = {"properties": {"x": {"$ref": "#/$defs/D0"}}, "$defs": {**chain, "D3000": {"type": "integer"}}}
    assert inline_definitions(schema) is schema


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/$defs/X"}}, "$defs": {"X": {}}},
        {"$id": "https://x/y", "properties": {"b": {"$ref": "#/$defs/X"}}, "$defs": {"X": {}}},
        {"properties": {"b": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"$anchor": "x"}}},
        {"properties": {"b": {"$ref": "other.json"}}, "$defs": {"X": {}}},
    ],
    ids=["into properties", "with an id", "with an anchor", "out of the schema"],
)
def test_references_of_other_kinds_are_left_alone(schema: dict[str, Any]) -> None:
    assert inline_definitions(schema) is schema


def test_values_that_look_like_references_are_values() -> None:
    value = {"$ref": "#/$defs/X"}
    schema = {
        "properties": {
            "$ref": {"$ref": "#/$defs/X"},
            "a": {"default": value, "const": value, "x-of-mine": value},
            "b": {"enum": [value, {"$ref": "elsewhere"}]},
        },
        "$defs": {"X": {"type": "integer"}},
    }
    shown = inline_definitions(schema)
    assert [shown["properties"][name] for name in "ab"] == [schema["properties"][name] for name in "ab"]
    assert shown["properties"]["$ref"] == {"type": "integer"}


class Everything(typing_extensions.TypedDict, total=False):
    trees: list[Tree]
    places: dict[str, Place]
    either: Place | Unit | Cat
    animals: tuple[Cat, Dog]


HINTS = [Place, Unit, Tree, Everything, list[Everything], Cat | Dog, Annotated[Cat | Dog, Field(discriminator="kind")]]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_both_schemas_accept_the_same_values(hint: Any) -> None:
    written = TypeAdapter(dict[str, hint]).json_schema()
    shown = inline_definitions(written)
    assert written != shown
    before, after = compiled(written), compiled(shown)
    values = Values(Generator(7), written)
    judged = [(before.accepts(value), after.accepts(value)) for value in (values.one() for _ in range(2000))]
    assert all(first is second for first, second in judged)
    assert {first for first, _ in judged} == {True, False}


@pytest.mark.slow
def test_random_schemas_accept_the_same_values() -> None:
    changed, count = 0, scaled(300, 120)
    for number in range(count):
        generator = Generator(f"inlining/{number}")
        definitions = "abcde"
        generator.references = [{"$ref": f"#/$defs/{name}"} for name in definitions]
        defined = {name: generator.schema(2) for name in definitions}
        schema = {"allOf": [generator.schema(3), generator.schema(3)], "$defs": defined}
        shown = inline_definitions(schema)
        try:
            before = compiled(schema)
        except SchemaError:
            continue  # it never ends
        after = compiled(shown)
        values = Values(generator, schema)
        assert all(before.accepts(value) is after.accepts(value) for value in (values.one() for _ in range(25))), schema
        changed += json.dumps(shown).count('"$ref"') < json.dumps(schema).count('"$ref"')
    assert changed > count // 3


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
