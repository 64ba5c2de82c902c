"""What a user does in the argument editor, by kind of schema, and the JSON that it has to give.

A step is (action, name, text): `fill` types into the field of that label, `choose` takes an option of a list, `give`
chooses how a value is given, `click` presses a button, `key` presses keys in a field.
"""

from typing import Any, NamedTuple

Json = Any
Step = tuple[str, str, str] | tuple[str, str]


class Case(NamedTuple):
    """One row: the schema of the property `x`, or of the whole for `whole`; the steps; the JSON afterwards."""

    schema: Json
    steps: list[Step]
    expected: str
    whole: bool = False


COLOUR = {
    "$defs": {"Colour": {"enum": ["red", "blue"]}},
    "properties": {"x": {"$ref": "#/$defs/Colour", "default": "red"}, "y": {"allOf": [{"$ref": "#/$defs/Colour"}]}},
}

CASES = {
    "text": Case({"type": "string"}, [("fill", "x", 'Ünï \\ "q"')], '{"x": "Ünï \\\\ \\"q\\""}'),
    "text of two lines": Case(
        {"type": "string"},
        [("fill", "x", "a"), ("key", "x", "Enter"), ("key", "x", "b")],
        '{"x": "a\\nb"}',
    ),
    "empty text": Case({"type": "string"}, [("give", "x", "text")], '{"x": ""}'),
    "text unset again": Case({"type": "string"}, [("fill", "x", "a"), ("give", "x", "not set")], "{}"),
    "text deleted is empty": Case({"type": "string"}, [("fill", "x", "a"), ("fill", "x", "")], '{"x": ""}'),
    "password": Case({"type": "string", "format": "password"}, [("fill", "x", "a b")], '{"x": "a b"}'),
    "nullable text": Case({"type": ["string", "null"]}, [("give", "x", "null")], '{"x": null}'),
    "nullable by anyOf": Case({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [("fill", "x", "7")], '{"x": 7}'),
    "nullable of OpenAPI": Case({"type": "string", "nullable": True}, [("give", "x", "null")], '{"x": null}'),
    "text or list": Case(
        {"anyOf": [{"type": "string"}, {"type": "array"}]},
        [("give", "x", "JSON"), ("fill", "x", '["a"]')],
        '{"x": ["a"]}',
    ),
    "number as written": Case({"type": "number"}, [("fill", "x", "1.50e3")], '{"x": 1.50e3}'),
    "20 digits": Case({"type": "integer"}, [("fill", "x", "-12345678901234567890")], '{"x": -12345678901234567890}'),
    "number deleted is unset": Case({"type": "number"}, [("fill", "x", "1"), ("fill", "x", "")], "{}"),
    "boolean": Case({"type": "boolean"}, [("choose", "x", "false")], '{"x": false}'),
    "boolean unset": Case({"type": "boolean"}, [("choose", "x", "true"), ("choose", "x", "not set")], "{}"),
    "enum of all types": Case({"enum": ["a", 1, 2.5, None, "null", {"b": 1}]}, [("choose", "x", "2.5")], '{"x": 2.5}'),
    "enum that looks like null": Case({"enum": ["a", None, "null"]}, [("choose", "x", '"null"')], '{"x": "null"}'),
    "enum of numbers that JavaScript changes": Case(
        {"enum": [9007199254740993, 1]},
        [("choose", "x", "JSON"), ("fill", "x", "9007199254740993")],
        '{"x": 9007199254740993}',
    ),
    "enum with names": Case(
        {"enum": [9007199254740993, "b"], "enumNames": ["A", "Bee"]},
        [("choose", "x", "Bee (b)")],
        '{"x": "b"}',
    ),
    "enum with titles": Case(
        {"oneOf": [{"const": "eu-1", "title": "Frankfurt"}, {"const": "us-1"}]},
        [("choose", "x", "Frankfurt (eu-1)")],
        '{"x": "eu-1"}',
    ),
    "enum by reference": Case(COLOUR, [("choose", "x", "blue"), ("choose", "y", "red")], '{"x": "blue", "y": "red"}', True),
    "const": Case({"const": 5}, [("choose", "x", "5")], '{"x": 5}'),
    "required const": Case(
        {"properties": {"k": {"const": "v"}, "x": {"type": "string"}}, "required": ["k"]},
        [("fill", "x", "a")], '{"k": "v", "x": "a"}', True,
    ),
    "default": Case({"type": "integer", "default": 12}, [("click", "default 12")], '{"x": 12}'),
    "example": Case({"type": "string", "examples": ["p", "q"]}, [("click", "example q")], '{"x": "q"}'),
    "default of JSON": Case({"type": "array", "default": ["a"]}, [("click", 'default ["a"]')], '{"x": ["a"]}'),
    "list": Case({"type": "array"}, [("fill", "x", "[1.50, 12345678901234567890]")], '{"x": [1.50, 12345678901234567890]}'),
    "object": Case({"type": "object"}, [("fill", "x", '{"a": -0}')], '{"x": {"a": -0}}'),
    "anything": Case(True, [("fill", "x", "true")], '{"x": true}'),
    "nothing": Case(False, [("fill", "x", "[1, {}]")], '{"x": [1, {}]}'),
    "in the order of the schema": Case(
        {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        [("fill", "b", "1"), ("fill", "a", "2")],
        '{"a": "2", "b": "1"}', True,
    ),
    "raw JSON in one place": Case({"type": "string"}, [("give", "x", "JSON"), ("fill", "x", '{"a": -0}')], '{"x": {"a": -0}}'),
    "raw JSON of the whole": Case(
        {"type": "string"},
        [("click", "JSON"), ("fill", "Arguments as JSON", '{"x": "\\u00e9"}'), ("click", "Form")],
        '{"x": "\\u00e9"}',
    ),
}  # fmt: skip
