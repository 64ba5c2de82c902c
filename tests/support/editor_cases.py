"""What a user does in the argument editor, by kind of schema, and the JSON that it has to give.

A step is (action, name, text): `fill` types into the field of that label, `choose` takes an option of a list, `give`
chooses how a value is given, `click` presses a button, `key` presses keys in a field.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Json = Any
Step = tuple[str, str, str] | tuple[str, str]


class Case(NamedTuple):
    """One row: the schema of the property `x`, or of the whole for `whole`; the steps; the JSON afterwards."""

    schema: Json
    steps: list[Step]
    expected: str
    whole: bool = False


def alternatives(keyword: str = "oneOf") -> Json:
    """Return two kinds of objects, told apart by a tag."""
    circle = {
        "type": "object",
        "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
        "required": ["kind"],
    }
    text = {
        "type": "object",
        "properties": {"kind": {"enum": ["label"]}, "r": {"type": "string"}},
        "required": ["kind"],
    }
    return {keyword: [circle, text]}


TREE = {
    "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
PEOPLE = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}

CASES = {
    "text": Case({"type": "string"}, [("fill", "x", 'Ünï \\ "q"')], '{"x": "Ünï \\\\ \\"q\\""}'),
    "text of two lines": Case(
        {"type": "string"}, [("fill", "x", "a"), ("key", "x", "Enter"), ("key", "x", "b")], '{"x": "a\\nb"}'
    ),
    "empty text": Case({"type": "string"}, [("give", "x", "text")], '{"x": ""}'),
    "text left out again": Case({"type": "string"}, [("fill", "x", "a"), ("give", "x", "left out")], "{}"),
    "text deleted is empty": Case({"type": "string"}, [("fill", "x", "a"), ("fill", "x", "")], '{"x": ""}'),
    "password": Case({"type": "string", "format": "password"}, [("fill", "x", "a b")], '{"x": "a b"}'),
    "nullable text": Case({"type": ["string", "null"]}, [("give", "x", "null")], '{"x": null}'),
    "nullable by anyOf": Case({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [("fill", "x", "7")], '{"x": 7}'),
    "nullable of OpenAPI": Case({"type": "string", "nullable": True}, [("give", "x", "null")], '{"x": null}'),
    "number as written": Case({"type": "number"}, [("fill", "x", "1.50e3")], '{"x": 1.50e3}'),
    "20 digits": Case({"type": "integer"}, [("fill", "x", "-12345678901234567890")], '{"x": -12345678901234567890}'),
    "number deleted is left out": Case({"type": "number"}, [("fill", "x", "1"), ("fill", "x", "")], "{}"),
    "boolean": Case({"type": "boolean"}, [("choose", "x", "false")], '{"x": false}'),
    "boolean left out": Case({"type": "boolean"}, [("choose", "x", "true"), ("choose", "x", "left out")], "{}"),
    "enum of all types": Case({"enum": ["a", 1, 2.0, None, "null", {"b": 1}]}, [("choose", "x", "2.0")], '{"x": 2.0}'),
    "enum that looks like null": Case({"enum": ["a", None, "null"]}, [("choose", "x", '"null"')], '{"x": "null"}'),
    "enum with titles": Case(
        {"oneOf": [{"const": "eu-1", "title": "Frankfurt"}, {"const": "us-1"}]},
        [("choose", "x", "Frankfurt (eu-1)")],
        '{"x": "eu-1"}',
    ),
    "const": Case({"const": 5}, [("choose", "x", "5")], '{"x": 5}'),
    "date": Case({"type": "string", "format": "date"}, [("fill", "Choose x", "2026-02-28")], '{"x": "2026-02-28"}'),
    "time": Case({"type": "string", "format": "time"}, [("fill", "Choose x", "23:59:59")], '{"x": "23:59:59Z"}'),
    "date and time keep their zone": Case(
        {"type": "string", "format": "date-time"},
        [("fill", "x", "2020-01-01T00:00:00.5-03:30"), ("fill", "Choose x", "2026-02-28T12:30:15")],
        '{"x": "2026-02-28T12:30:15-03:30"}',
    ),
    "default": Case({"type": "integer", "default": 12}, [("click", "default 12")], '{"x": 12}'),
    "example": Case({"type": "string", "examples": ["p", "q"]}, [("click", "example q")], '{"x": "q"}'),
    "oneOf by its tag": Case(
        alternatives(), [("give", "x", "label"), ("fill", "r", "five")], '{"x": {"kind": "label", "r": "five"}}'
    ),
    "another tag": Case(
        alternatives("anyOf"),
        [("give", "x", "label"), ("give", "x", "circle"), ("fill", "r", "5")],
        '{"x": {"kind": "circle", "r": 5}}',
    ),
    "anyOf by type": Case(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        [("give", "x", "list"), ("click", "Add an item to x"), ("fill", "[0]", "a")],
        '{"x": ["a"]}',
    ),
    "allOf": Case(
        {
            "allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "string"}}}],
            "type": "object",
        },
        [("click", "x"), ("fill", "a", "1"), ("fill", "b", "2")],
        '{"x": {"a": 1, "b": "2"}}',
    ),
    "list": Case(
        {"type": "array", "items": {"type": "integer", "minimum": 3}},
        [("click", "x"), ("click", "Add an item to x"), ("click", "Add an item to x"), ("fill", "[1]", "9")],
        '{"x": [3, 9]}',
    ),
    "list moved and removed": Case(
        {"type": "array", "items": {"type": "string"}, "default": ["a", "b", "c"]},
        [
            ("click", 'default ["a", "b", "c"]'),
            ("click", "x"),
            ("click", "Move item down 0 of x"),
            ("click", "Remove item 2 of x"),
        ],
        '{"x": ["b", "a"]}',
    ),
    "list of different choices": Case(
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
        [("click", "x"), *[("click", "Add an item to x")] * 2],
        '{"x": ["a", "b"]}',
    ),
    "list of objects": Case(
        PEOPLE, [("click", "x"), ("click", "Add an item to x"), ("fill", "name", "Ada")], '{"x": [{"name": "Ada"}]}'
    ),
    "tuple": Case(
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False},
        [
            ("click", "x"),
            ("click", "Add an item to x"),
            ("fill", "[0]", "a"),
            ("click", "Add an item to x"),
            ("choose", "[1]", "false"),
        ],
        '{"x": ["a", false]}',
    ),
    "tuple of older drafts": Case(
        {"type": "array", "items": [{"type": "number"}], "additionalItems": {"type": "string"}},
        [("click", "x"), ("click", "Add an item to x"), ("click", "Add an item to x"), ("fill", "[1]", "z")],
        '{"x": [0, "z"]}',
    ),
    "nested, in the schema's order": Case(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "object", "properties": {"c": {"type": "string"}}}},
        },
        [("click", "x"), ("click", "b"), ("fill", "c", "1"), ("fill", "a", "2")],
        '{"x": {"a": "2", "b": {"c": "1"}}}',
    ),
    "empty object": Case({"type": "object"}, [("give", "x", "object")], '{"x": {}}'),
    "map": Case(
        {"type": "object", "additionalProperties": {"type": "integer"}},
        [("click", "x"), ("fill", "Name of the new property", "é"), ("click", "Add to x"), ("fill", "é", "4")],
        '{"x": {"é": 4}}',
    ),
    "map with a name changed": Case(
        {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1, "b": 2}},
        [
            ("click", 'default {"a": 1, "b": 2}'),
            ("click", "x"),
            ("click", "Rename a"),
            ("fill", "New name of a", ""),
            ("key", "New name of a", "Enter"),
        ],
        '{"x": {"": 1, "b": 2}}',
    ),
    "map by pattern": Case(
        {"type": "object", "patternProperties": {"^n": {"type": "number"}}, "additionalProperties": {"type": "string"}},
        [
            ("click", "x"),
            ("fill", "Name of the new property", "n1"),
            ("key", "Name of the new property", "Enter"),
            ("fill", "n1", "2"),
        ],
        '{"x": {"n1": 2}}',
    ),
    "recursive": Case(
        TREE, [("click", "next"), ("fill", "name >> 1", "inner")], '{"next": {"name": "inner"}}', whole=True
    ),
    "anything": Case(
        True, [("give", "x", "list"), ("click", "Add an item to x"), ("give", "[0]", "true")], '{"x": [true]}'
    ),
    "nothing": Case(False, [("choose", "x", "JSON"), ("fill", "x", "[1, {}]")], '{"x": [1, {}]}'),
    "no schema": Case(
        None,
        [("fill", "Name of the new property", "k"), ("click", "Add to arguments"), ("fill", "k", "v")],
        '{"k": "v"}',
        whole=True,
    ),
    "raw JSON in one place": Case(
        {"type": "string"}, [("give", "x", "JSON"), ("fill", "x", '{"a": -0}')], '{"x": {"a": -0}}'
    ),
    "raw JSON of the whole": Case(
        {"type": "string"},
        [("click", "JSON"), ("fill", "Arguments as JSON", '{"x": "\\u00e9"}'), ("click", "Form")],
        '{"x": "\\u00e9"}',
    ),
}
