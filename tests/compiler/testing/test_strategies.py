"""Tests of proposals: for schemas of all kinds there are values that the compiled validator accepts, and some it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from mcpc.schema import compile
from mcpc.workbench.testing.fuzzing import refused_arguments
from mcpc.workbench.testing.strategies import WORDS, Proposals, alternatives_of, combined, near_misses, types_of

LETTERS = {"type": "string", "enum": ["a", "b"]}
SCHEMAS: list[Any] = json.loads(Path(__file__).with_name("schemas.json").read_text("utf-8"))


def quiet(count: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=count, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_proposals_are_mostly_accepted(schema):
    whole = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    if isinstance(schema, dict) and "$defs" in schema:
        whole["$defs"] = schema["$defs"]
    validator = compile(whole)
    found: list[bool] = []

    @hypothesis.seed(1)
    @quiet(20)
    @hypothesis.given(Proposals(whole).of(whole))
    def propose(value):
        json.dumps(value).encode()
        found.append(validator.accepts(value))

    propose()
    assert sum(found) * 2 >= len(found) > 0


def test_refused_arguments_are_refused():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}, "letter": LETTERS},
        "required": ["n"],
        "additionalProperties": False,
    }
    validator, found = compile(schema), []

    @hypothesis.seed(1)
    @quiet(60)
    @hypothesis.given(refused_arguments(schema, Proposals(schema).of(schema), validator))
    def refuse(value):
        found.append(value)

    refuse()
    assert not any(map(validator.accepts, found))
    assert {"unknown" in each for each in found} == {True, False}
    assert any(each.get("n") in (-1, 10) for each in found)
    assert any("n" not in each for each in found)


def values(schema: object, root: object = None, count: int = 100) -> list[Any]:
    """Return proposals for a schema: the same in every run."""
    found: list[Any] = []

    @hypothesis.seed(1)
    @quiet(count)
    @hypothesis.given(Proposals(schema if root is None else root).of(schema))
    def propose(value: Any) -> None:
        found.append(value)

    propose()
    return found


def text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


EDGES: list[tuple[dict[str, Any], list[Any], Callable[[Any], bool]]] = [
    ({"type": "integer", "minimum": 3, "maximum": 6}, [3, 4, 5, 6], lambda n: 3 <= n <= 6),
    ({"type": "integer", "minimum": 3}, [3, 4, 10, 2**31, 10**20], lambda n: n >= 3),
    ({"type": "integer", "maximum": -2}, [-2, -3, -(2**31)], lambda n: n <= -2),
    ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5}, [3, 4, 5], lambda n: 3 <= n <= 5),
    ({"type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 2}, [4, 6, 8], lambda n: n in (4, 6, 8)),
    ({"type": "integer", "multipleOf": 7}, [0, 7, -7, 14], lambda n: n % 7 == 0),
    ({"type": "integer", "multipleOf": 0.5, "minimum": 1, "maximum": 2}, [1, 2], lambda n: n in (1, 2)),
    ({"type": "integer", "multipleOf": -2, "minimum": 1, "maximum": 2}, [1, 2], lambda n: n in (1, 2)),
    ({"type": "number", "minimum": 0.5, "maximum": 1.5}, [0.5, 1.0, 1.5], lambda n: 0.5 <= n <= 1.5),
    ({"type": "integer", "minimum": -2.5, "maximum": 0.5}, [-2, -1, 0], lambda n: -2 <= n <= 0),
    ({"type": "number", "minimum": 2}, [2, 2.5, 1e9, 1e100], lambda n: n >= 2),
    ({"type": "number", "multipleOf": 0.25}, [0.25], lambda n: n % 0.25 == 0),
    ({"type": "string", "minLength": 3, "maxLength": 4}, ["aaa", "éééé", "null", "true"], lambda s: 3 <= len(s) <= 4),
    ({"type": "string", "minLength": 2}, ["aa", "éé", "日本"], lambda s: 2 <= len(s) <= 100),
    ({"type": "string", "minLength": 101}, ["a" * 101], lambda s: 101 <= len(s) <= 121),
    ({"type": "string", "maxLength": 3000}, ["a" * 2000, ""], lambda s: len(s) <= 2000),
    ({"type": "string"}, ["", " ", "--help"], lambda s: s != "a" * 2000),
    ({"type": "string", "format": "email"}, ["a@example.com", "a.b+c@example.org"], lambda s: "@" in s),
    ({"type": "string", "format": "unknown"}, ["", "null"], lambda s: True),
    ({"type": "string", "pattern": "^a$"}, ["a"], lambda s: s == "a"),
    ({"type": "string", "pattern": "("}, ["", "null"], lambda s: True),
    ({"type": "null"}, [None], lambda v: v is None),
    ({"type": "boolean"}, [True, False], lambda v: isinstance(v, bool)),
    ({"enum": [1, "x"]}, [1, "x"], lambda v: v in (1, "x")),
    ({"const": {"a": 1}}, [{"a": 1}], lambda v: v == {"a": 1}),
    ({"type": ["null", "boolean"]}, [None, True, False], lambda v: v is None or isinstance(v, bool)),
    ({"type": "array", "items": {"const": 1}, "minItems": 1, "maxItems": 3}, [[1], [1, 1], [1, 1, 1]], lambda v: 1 <= len(v) <= 3),
    ({"type": "array", "items": {"const": 1}}, [[], [1], [1] * 4], lambda v: len(v) <= 4),
    ({"type": "array", "items": {"const": 1}, "minItems": 3}, [[1] * 3, [1] * 7], lambda v: 3 <= len(v) <= 7),
    ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, [[1, 2], []], lambda v: len(v) == len({*v})),
    ({"type": "array", "items": False}, [[]], lambda v: v == []),
    ({"type": "array", "items": {"const": 1}, "minItems": 3, "maxItems": 2}, [[1] * 3], lambda v: v == [1] * 3),
    ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False}, [[1, 2]], lambda v: v == [1, 2]),
    ({"type": "array", "prefixItems": [{"const": 1}], "items": {"const": 3}}, [[1], [1, 3], [1] + [3] * 4], lambda v: v[0] == 1 and len(v) <= 5),
    ({"type": "array", "contains": {"const": 5}, "items": {"const": 1}, "maxItems": 2}, [[5], [1, 5]], lambda v: v[-1] == 5 and len(v) <= 2),
    ({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["b", "b"]}, [{"b": 2}, {"a": 1, "b": 2}], lambda v: v["b"] == 2 and {*v} <= {"a", "b"}),
    ({"type": "object", "properties": {"a": False, "b": {"const": 2}}}, [{}, {"b": 2}], lambda v: {*v} <= {"b"}),
    ({"type": "object", "required": ["x"], "additionalProperties": {"const": 1}}, [{"x": 1}], lambda v: {*v.values()} == {1}),
    ({"type": "object", "additionalProperties": {"const": 1}, "minProperties": 2}, [], lambda v: 2 <= len(v) <= 4),
    ({"type": "object", "additionalProperties": {"const": 1}}, [{}, {"a": 1}], lambda v: len(v) <= 2),
    ({"type": "object", "minProperties": 1}, [], lambda v: 1 <= len(v) <= 3),
    ({"type": "object", "minProperties": 1, "additionalProperties": False}, [{}], lambda v: v == {}),
    ({"type": "object", "additionalProperties": True}, [{}], lambda v: len(v) <= 2),
    ({"type": "object", "additionalProperties": True, "properties": {"a": {"const": 1}}}, [{}, {"a": 1}], lambda v: {*v} <= {"a"}),
    ({"type": "object"}, [{}], lambda v: v == {}),
    ({"type": "object", "patternProperties": {"^k$": {"const": 1}}, "additionalProperties": {"const": 2}}, [{}, {"k": 1}], lambda v: v in ({}, {"k": 1})),
    ({"oneOf": [{"const": 1}, {"const": 2}]}, [1, 2], lambda v: v in (1, 2)),
    ({"$ref": "#/none"}, [None, True], lambda v: True),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "included", "fits"), EDGES, ids=[text(row[0]) for row in EDGES])
def test_proposals_have_the_edges_of_a_schema(
    schema: dict[str, Any], included: list[Any], fits: Callable[[Any], bool]
) -> None:
    found = values(schema)
    assert [value for value in included if text(value) not in {*map(text, found)}] == []
    assert [value for value in found if not fits(value)] == []


def test_dates_are_those_of_the_list_and_others() -> None:
    found = values({"type": "string", "format": "date"})
    assert {"2024-02-29", "9999-12-31"} <= {*found}
    assert any(each not in WORDS["date"] for each in found)
    assert {*values({"type": "string", "format": "uuid"})} == {*WORDS["uuid"]}


def test_references_end() -> None:
    root = {"$defs": {"tree": {"type": "object", "properties": {"of": {"$ref": "#/$defs/tree"}}}}}

    def depth(value: dict[str, Any]) -> int:
        return 1 + depth(value["of"]) if "of" in value else 0

    depths = {depth(value) for value in values({"$ref": "#/$defs/tree"}, root)}
    assert {0, 1, 2} <= depths
    assert max(depths) <= 7
    assert {*values({"$ref": "#/$defs/n", "minimum": 4}, {"$defs": {"n": {"type": "integer", "maximum": 5}}})} == {4, 5}
    assert Proposals({}).of({"$ref": "#/x"}, 6).is_empty
    assert not Proposals({}).of({"$ref": "#/x"}, 5).is_empty
    assert any(value is not None for value in values({"$ref": "#/$defs/no"}, {"$defs": {"no": True}}, 20))


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "null"}, ["null"]),
        ({"type": ["null", "string"]}, ["null", "string"]),
        ({"pattern": "x", "minItems": 1}, ["array", "string"]),
        ({}, ["null", "boolean", "integer", "number", "string", "array", "object"]),
        ({"required": []}, ["object"]),
    ],
)
def test_types_are_those_that_keywords_are_about(schema: dict[str, Any], types: list[str]) -> None:
    assert types_of(schema) == types


A, B = {"minimum": 1}, {"maximum": 2}


@pytest.mark.parametrize(
    ("schema", "alternatives"),
    [
        ({"type": "integer"}, []),
        ({"allOf": [A, B], "title": "t"}, [{"title": "t", "minimum": 1, "maximum": 2}]),
        ({"oneOf": [A, B], "type": "integer"}, [{"type": "integer", **A}, {"type": "integer", **B}]),
        ({"anyOf": [A, False], "type": "integer"}, [{"type": "integer", **A}, False]),
        ({"allOf": [A], "anyOf": [B]}, [{"anyOf": [B], "minimum": 1}]),
        (
            {"if": A, "then": B, "else": {"const": 0}, "title": "t"},
            [{"title": "t", **A, **B}, {"title": "t", "const": 0}],
        ),
        ({"if": A, "then": B}, [{**A, **B}, {}]),
        ({"if": A, "else": B}, [A, B]),
    ],
)
def test_alternatives_are_merged_with_what_is_beside_them(schema: dict[str, Any], alternatives: list[Any]) -> None:
    assert alternatives_of(schema) == alternatives


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (True, A, True),
        (A, False, False),
        ({"minimum": 1, "maximum": 5}, {"minimum": 2, "maximum": 9}, {"minimum": 2, "maximum": 5}),
        ({"minLength": 3}, {"minLength": 2}, {"minLength": 3}),
        ({"required": ["a", "b"]}, {"required": ["b", "c"]}, {"required": ["a", "b", "c"]}),
        ({"enum": [1, 2]}, {"enum": [3, 2]}, {"enum": [2]}),
        ({"type": "integer"}, {"type": ["number", "null"]}, {"type": ["integer"]}),
        ({"type": ["number", "null"]}, {"type": "integer"}, {"type": []}),
        ({"type": ["string", "null"]}, {"type": ["null"]}, {"type": ["null"]}),
        ({"title": "a"}, {"title": "b"}, {"title": "b"}),
        (
            {"properties": {"a": A, "b": A}},
            {"properties": {"b": B, "c": B}},
            {"properties": {"a": A, "b": {**A, **B}, "c": B}},
        ),
        ({"anyOf": [A]}, {"anyOf": [B]}, {"anyOf": [B], "allOf": [{"anyOf": [A]}]}),
        ({"allOf": [A]}, {"allOf": [B]}, {"allOf": [B, {"allOf": [A]}]}),
    ],
)
def test_two_schemas_are_combined(one: Any, other: Any, both: Any) -> None:
    assert combined(one, other) == both


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (True, []),
        ({}, []),
        ({"minimum": 1, "exclusiveMinimum": 3}, [2]),
        ({"maximum": 9, "exclusiveMaximum": 7, "minimum": "x"}, [8]),
        ({"minLength": 2, "maxLength": 3}, ["a", "aaaa"]),
        ({"minLength": 0}, []),
        ({"maxLength": 2000}, []),
        ({"maxLength": 1999}, ["a" * 2000]),
        ({"enum": ["a", 1]}, ["no member", "A "]),
    ],
)
def test_near_misses_are_just_refused(schema: Any, found: list[Any]) -> None:
    assert near_misses(schema) == found


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 2, "maxLength": 1},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "integer", "minimum": 0.25, "maximum": 0.75},
        {"enum": []},
        {"$ref": "#"},
        False,
    ],
)
def test_a_schema_without_values_proposes_none(schema: Any) -> None:
    assert Proposals(False).of(schema).is_empty


def test_anything_has_every_type() -> None:
    kinds = {type(value).__name__ for value in values(True, True, 300)}
    assert kinds == {"NoneType", "bool", "int", "float", "str", "list", "dict"}
