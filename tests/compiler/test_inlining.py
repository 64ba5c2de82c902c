"""Schemas from type hints are shown without references where that is possible, and accept what they accepted."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, Field, TypeAdapter

from mcpc.frontends.introspection.inlining import MAX_GROWTH, MAX_INLINED_BYTES, _size, inline_definitions
from mcpc.frontends.introspection.schemas import parameter_schema, result_schema
from mcpc.schema import SchemaError
from mcpc.schema import compile as compiled
from support.random_schemas import Generator
from support.random_values import Values
from support.scale import scaled

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
