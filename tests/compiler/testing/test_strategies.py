"""Tests of proposals: for schemas of all kinds there are values that the compiled validator accepts, and some it refuses."""

from __future__ import annotations

import json

import hypothesis
import pytest
from hypothesis import strategies as st

from mcpc.schema import compile
from mcpc.testing.fuzzing import refused_arguments
from mcpc.testing.strategies import Proposals

LETTERS = {"type": "string", "enum": ["a", "b"]}
SCHEMAS = (
    {"type": "integer", "minimum": 3, "maximum": 3},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6, "multipleOf": 2},
    {"type": "number", "minimum": 0.5, "maximum": 0.75},
    {"type": "number", "multipleOf": 0.5, "minimum": 1},
    {"type": "string", "minLength": 3, "maxLength": 4},
    {"type": "string", "pattern": "^[a-z]{2}-[0-9]+$"},
    {"type": "string", "format": "date"},
    {"type": ["string", "null"], "maxLength": 1},
    {"type": "array", "items": LETTERS, "minItems": 2, "maxItems": 2, "uniqueItems": True},
    {"type": "array", "prefixItems": [LETTERS, {"type": "integer"}], "items": False, "minItems": 2},
    {"type": "array", "contains": {"const": 1}, "maxItems": 3},
    {"enum": [1, None, {"a": []}]},
    {"oneOf": [{"type": "integer"}, {"type": "object", "properties": {"k": {"const": "x"}}, "required": ["k"]}]},
    {"anyOf": [LETTERS, {"type": "null"}], "description": "either"},
    {"allOf": [{"type": "integer", "minimum": 2}, {"maximum": 3}]},
    {"type": "integer", "not": {"enum": [0, 1]}},
    {"if": {"type": "integer"}, "then": {"minimum": 5}, "else": {"type": "null"}},
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
    {"$defs": {"tree": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
                        "required": ["of"]}}, "$ref": "#/$defs/tree"},
    True,
)  # fmt: skip


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


def test_a_schema_without_values_proposes_none():
    assert Proposals({}).of({"type": "string", "minLength": 2, "maxLength": 1}).is_empty
    assert isinstance(Proposals({}).of({"enum": []}), st.SearchStrategy)
