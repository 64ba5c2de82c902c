"""NAME=VALUE on a command line means what the tool's schema allows there."""

from typing import Any

import pytest

from mcpc_runtime.tools.cli.requests import ArgumentValueError, parse_arguments

STRING, INTEGER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}
ROWS: list[tuple[Any, str, Any]] = [
    (STRING, "5", "5"), (STRING, "true", "true"), (STRING, '"5"', '"5"'), (STRING, "", ""), (STRING, "a=b", "a=b"),
    ({"enum": ["1", "2"]}, "1", "1"),
    ({"const": "1"}, "1", "1"),
    ({"$ref": "#/$defs/Text"}, "5", "5"),
    ({"allOf": [{}, STRING], "description": "d"}, "5", "5"),
    ({"anyOf": [STRING, {"enum": ["a"]}]}, "5", "5"),
    (INTEGER, "5", 5),
    ({"type": "number"}, "1e3", 1000.0),
    ({"type": "boolean"}, "true", True),
    ({"type": "array", "items": STRING}, '["5"]', ["5"]),
    ({"type": "object"}, '{"a": "5"}', {"a": "5"}),
    ({"enum": [1, 2]}, "1", 1),
    (INTEGER, "five", "five"),
    ({"type": "array"}, "five", "five"),
    ({"anyOf": [STRING, NULL]}, "null", None),
    ({"anyOf": [STRING, NULL]}, "5", "5"),
    ({"type": ["string", "null"]}, "true", "true"),
    ({"anyOf": [STRING, INTEGER]}, "5", 5),
    ({"anyOf": [STRING, INTEGER]}, '"5"', "5"),
    ({"anyOf": [STRING, INTEGER]}, "true", "true"),
    ({"oneOf": [STRING, {"type": "array"}]}, '["a"]', ["a"]),
    ({}, "5", 5), (True, "5", 5), ({}, "five", "five"),
    ({"type": "number"}, "NaN", "NaN"),
    (INTEGER, "[" * 100_000, "[" * 100_000),
    ({"$ref": "#/$defs/Loop"}, "5", 5),
    ({"$ref": "#/nowhere"}, "5", 5),
    ({"$ref": "https://x/y"}, "5", 5),
    ({"type": 5, "enum": 5, "anyOf": 5}, "5", 5),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "text", "wanted"), ROWS, ids=range(len(ROWS)))
def test_a_value_is_what_the_schema_allows(schema: Any, text: str, wanted: Any) -> None:
    whole = {"properties": {"x": schema}, "$defs": {"Text": STRING, "Loop": {"$ref": "#/$defs/Loop"}}}
    found = parse_arguments([f"x={text}"], whole)["x"]
    assert (found, type(found)) == (wanted, type(wanted))


def test_an_argument_that_the_tool_does_not_know_is_json_where_it_can_be() -> None:
    assert parse_arguments(["x=5", "y=a"], {}) == {"x": 5, "y": "a"}


@pytest.mark.parametrize("words", [["x"], ["=5"], ["x=1", "x=2"]], ids=" ".join)
def test_words_that_are_no_arguments_are_refused(words: list[str]) -> None:
    with pytest.raises(ArgumentValueError):
        parse_arguments(words, {})
