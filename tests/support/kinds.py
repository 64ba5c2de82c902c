"""Kinds of schemas that are hard on a generator of models: each with arguments it accepts, and some it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DRAFT_07 = "http://json-schema.org/draft-07/schema#"


@dataclass(frozen=True)
class Kind:
    """A schema of a tool's input, what it accepts, and what it refuses."""

    schema: dict[str, Any]
    valid: tuple[Any, ...]
    invalid: tuple[Any, ...] = ()


def an_object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required), **more}


STRING, INTEGER, NUMBER, BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))

KINDS: dict[str, Kind] = {
    "keywords": Kind(
        an_object({"class": STRING, "def": INTEGER, "None": BOOLEAN, "match": STRING, "self": STRING}, "class"),
        ({"class": "a"}, {"class": "a", "def": 1, "None": True, "match": "m", "self": "s"}),
        ({"def": 1},),
    ),
    "odd names": Kind(
        an_object(
            dict.fromkeys(("a b", "a-b", "a_b", "1st", "", "_x", "__class__", "ünï", "$ref", "@id", "ﬁ"), STRING)
            | dict.fromkeys(("model_config", "copy", "json", "schema", "dict", "model_dump", "list", "int"), INTEGER)
            | {"tags": {"type": "array", "items": STRING}, "str": STRING, "Field": STRING, "BaseModel": STRING}
        ),
        (
            {},
            {"a b": "1", "a-b": "2", "a_b": "3", "1st": "4", "": "5", "_x": "6", "__class__": "7", "ünï": "8"},
            {"$ref": "1", "@id": "2", "ﬁ": "3", "model_config": 1, "copy": 2, "json": 3, "schema": 4, "dict": 5},
            {"model_dump": 1, "list": 2, "int": 3, "tags": ["x"], "str": "s", "Field": "f", "BaseModel": "b"},
        ),
        ({"a b": 1},),
    ),
    "recursive": Kind(
        an_object(
            {"tree": {"$ref": "#/$defs/node"}, "self": {"$ref": "#"}},
            "tree",
            **{
                "$defs": {
                    "node": an_object({"n": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "n")
                }
            },
        ),
        ({"tree": {"n": 1, "kids": [{"n": 2}, {"n": 3, "kids": []}]}, "self": {"tree": {"n": 4}}},),
        ({"tree": {"n": 1, "kids": [{"n": "2"}]}},),
    ),
    "allOf merged": Kind(
        an_object(
            {
                "a": {"allOf": [{"$ref": "#/$defs/base"}, an_object({"y": INTEGER}, "y")]},
                "n": {"allOf": [INTEGER, {"minimum": 3}]},
            },
            "a",
            allOf=[an_object({"z": STRING}, "z"), {"properties": {"z": {"maxLength": 3}}}],
            **{"$defs": {"base": an_object({"x": STRING}, "x")}},
        ),
        ({"a": {"x": "1", "y": 2}, "z": "abc", "n": 3}, {"a": {"x": "1", "y": 2, "more": [1]}, "z": ""}),
        ({"a": {"x": "1"}, "z": "abc"}, {"a": {"x": "1", "y": 2}, "z": 1}),
    ),
    "discriminated oneOf": Kind(
        an_object(
            {
                "shape": {
                    "oneOf": [
                        an_object({"kind": {"const": "circle"}, "radius": NUMBER}, "kind", "radius"),
                        an_object({"kind": {"const": "square"}, "side": NUMBER}, "kind", "side"),
                    ]
                }
            },
            "shape",
        ),
        ({"shape": {"kind": "circle", "radius": 1.5}}, {"shape": {"kind": "square", "side": 2}}),
        ({"shape": {"kind": "square", "radius": 1.5}}, {"shape": {"kind": "line"}}),
    ),
    "overlapping oneOf": Kind(
        an_object({"v": {"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "number", "minimum": 10}]}}, "v"),
        ({"v": 4}, {"v": 11}, {"v": 10.5}),
        ({"v": 3}, {"v": 12}),
    ),
    "patternProperties": Kind(
        an_object(
            {"env": {"type": "object", "patternProperties": {"^[A-Z]+$": STRING}, "additionalProperties": False}},
            patternProperties={"^x-": INTEGER},
        ),
        ({"env": {"PATH": "/bin"}, "x-a": 1}, {"env": {}}),
        ({"env": {"path": "/bin"}}, {"x-a": "1"}),
    ),
    "typed additionalProperties": Kind(
        an_object(
            {
                "counts": {"type": "object", "additionalProperties": INTEGER},
                "more": an_object({"a": STRING}, additionalProperties={"type": "array", "items": NUMBER}),
            },
            additionalProperties=BOOLEAN,
        ),
        ({"counts": {"a": 1, "b c": 2}, "more": {"a": "x", "b": [1, 2.5]}, "flag": True}, {}),
        ({"counts": {"a": "1"}}, {"more": {"b": "1"}}),
    ),
    "nullable": Kind(
        an_object(
            {
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [INTEGER, {"type": "null"}]},
                "c": {"type": "null"},
                "d": STRING,
            },
            "a",
        ),
        ({"a": None, "b": None, "c": None}, {"a": "x", "b": 1, "d": "y"}, {"a": None}),
        ({}, {"a": "x", "d": None}),
    ),
    "not": Kind(
        an_object({"v": {"not": STRING}, "w": {"type": "string", "not": {"enum": ["a"]}}}),
        ({"v": 1}, {"v": None}, {"v": [1, {"a": "b"}], "w": "b"}),
        ({"v": "x"}, {"w": "a"}),
    ),
    "uniqueItems": Kind(
        an_object(
            {
                "v": {"type": "array", "items": {}, "uniqueItems": True},
                "w": {"type": "array", "items": STRING, "uniqueItems": True},
            }
        ),
        ({"v": [3, 1, {"a": []}, [2]], "w": ["z", "a"]},),
        ({"v": [1, 1.0]}, {"w": ["a", "a"]}),
    ),
    "prefixItems": Kind(
        an_object(
            {
                "pair": {"type": "array", "prefixItems": [STRING, INTEGER], "items": False, "minItems": 2},
                "open": {"type": "array", "prefixItems": [STRING, INTEGER], "items": BOOLEAN},
                "short": {"type": "array", "prefixItems": [STRING, INTEGER]},
            }
        ),
        (
            {"pair": ["a", 1]},
            {"open": ["a", 1, True, False], "short": ["a"]},
            {"open": [], "short": ["a", 1, "b", None]},
        ),
        ({"pair": [1, "a"]}, {"pair": ["a", 1, 2]}, {"open": ["a", 1, 2]}),
    ),
    "unevaluatedProperties": Kind(
        an_object(
            {
                "v": {
                    "allOf": [an_object({"a": STRING}, "a")],
                    "properties": {"b": INTEGER},
                    "unevaluatedProperties": False,
                }
            },
            unevaluatedProperties=STRING,
        ),
        ({"v": {"a": "x", "b": 1}}, {"v": {"a": "x"}, "other": "text"}),
        ({"v": {"a": "x", "c": 1}}, {"other": 1}),
    ),
    "propertyNames": Kind(
        an_object({"v": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": INTEGER}}),
        ({"v": {"abc": 1}}, {"v": {}}),
        ({"v": {"ABC": 1}}, {"v": {"abc": "1"}}),
    ),
    "mixed enum": Kind(
        an_object(
            {
                "v": {"enum": ["a", 1, 2.5, True, None, [1], {"k": "v"}]},
                "w": {"enum": ["x", 3, None]},
                "f": {"enum": [1.5, 2]},
            }
        ),
        (
            *tuple({"v": value} for value in ("a", 1, 2.5, True, None, [1], {"k": "v"})),
            {"w": 3},
            {"w": None},
            {"f": 1.5},
            {"f": 2.0},
        ),
        ({"v": "b"}, {"v": False}, {"w": "y"}, {"f": 1}),
    ),
    "lookahead": Kind(
        an_object(
            {
                "v": {"type": "string", "pattern": "^(?=.*[0-9])(?!x)\\w+$"},
                "w": {"type": "string", "pattern": "^[\\u0041-\\u{5a}]\\cJ?$"},
            },
            "v",
        ),
        ({"v": "a1"}, {"v": "1"}),
        ({"v": "a"}, {"v": "x1"}),
    ),
    "shared definitions": Kind(
        an_object(
            {"from": {"$ref": "#/$defs/place"}, "to": {"$ref": "#/$defs/place"}, "name": {"$ref": "#/$defs/na~1me"}},
            "from",
            **{
                "$defs": {
                    "place": an_object({"x": NUMBER, "y": NUMBER}, "x", additionalProperties=False),
                    "na/me": {"type": "string", "minLength": 1},
                }
            },
        ),
        ({"from": {"x": 1}, "to": {"x": 0.5, "y": -2}, "name": "n"},),
        ({"from": {"y": 1}}, {"from": {"x": 1, "z": 2}}, {"from": {"x": 1}, "name": ""}),
    ),
    "const object": Kind(
        an_object(
            {
                "v": {"const": {"a": [1, None], "b": {"c": "d"}}},
                "w": {"const": [1]},
                "x": {"const": "fixed"},
                "y": {"const": None},
            },
            "x",
        ),
        ({"v": {"a": [1, None], "b": {"c": "d"}}, "w": [1], "x": "fixed", "y": None}, {"x": "fixed"}),
        ({"x": "other"}, {"x": "fixed", "v": {}}),
    ),
    "dependentRequired": Kind(
        an_object({"card": STRING, "address": STRING}, dependentRequired={"card": ["address"]}),
        ({}, {"address": "a"}, {"card": "c", "address": "a"}),
        ({"card": "c"},),
    ),
    "if then else": Kind(
        an_object(
            {"country": STRING, "zip": STRING, "code": {"type": ["integer", "string"]}},
            **{
                "if": {"properties": {"country": {"const": "US"}}, "required": ["country"]},
                "then": {"properties": {"zip": {"pattern": "^[0-9]{5}$"}}, "required": ["zip"]},
                "else": {"properties": {"code": STRING}},
            },
        ),
        ({"country": "US", "zip": "12345", "code": 7}, {"country": "FR", "code": "x"}, {}),
        ({"country": "US"}, {"code": 7}),
    ),
    "integer 1.0": Kind(
        an_object(
            {
                "n": INTEGER,
                "m": {"type": "integer", "minimum": 1},
                "e": {"enum": [1, 2]},
                "c": {"const": 3},
                "l": {"type": "array", "items": INTEGER},
            },
            "n",
        ),
        ({"n": 1.0}, {"n": -0.0, "m": 2.0, "e": 2.0, "c": 3.0, "l": [1.0, 2]}, {"n": 12345678901234567890123}),
        ({"n": 1.5}, {"n": "1"}, {"n": True}),
    ),
    "draft-07": Kind(
        an_object(
            {
                "node": {"$ref": "#/definitions/node", "description": "beside a reference"},
                "pair": {"type": "array", "items": [STRING, INTEGER], "additionalItems": BOOLEAN},
                "when": {"type": "string", "format": "date-time"},
            },
            **{
                "$schema": DRAFT_07,
                "definitions": {"node": an_object({"next": {"$ref": "#/definitions/node"}, "v": INTEGER}, "v")},
                "dependencies": {"pair": ["when"]},
            },
        ),
        ({"node": {"v": 1, "next": {"v": 2}}}, {"pair": ["a", 1, True], "when": "yesterday"}),
        ({"node": {}}, {"pair": ["a", 1]}),
    ),
    "formats": Kind(
        an_object(
            {
                name: {"type": "string", "format": name}
                for name in (
                    "date-time",
                    "date",
                    "time",
                    "email",
                    "uri",
                    "uuid",
                    "ipv4",
                    "binary",
                    "byte",
                    "duration",
                    "path",
                    "password",
                )
            }
        ),
        (
            {
                "date-time": "2026-01-02T03:04:05+01:00",
                "date": "x",
                "email": "?",
                "uri": "http://EXAMPLE.com",
                "uuid": "A",
            },
            {"byte": "é", "duration": "PT1S"},
        ),
    ),
    "defaults": Kind(
        an_object(
            {
                "limit": {"type": "integer", "default": 10},
                "name": {"type": "string", "default": 'it\'s "quoted" \\ and\nmore'},
                "tags": {"type": "array", "items": STRING, "default": ["a"]},
                "place": an_object({"x": INTEGER}, "x", default={"x": 1}),
                "named": {"$ref": "#/$defs/p", "default": {"y": 2}},
                "mode": {"enum": ["a", "b"], "default": "b"},
                "none": {"type": ["string", "null"], "default": None},
            },
            **{"$defs": {"p": an_object({"y": INTEGER})}},
        ),
        ({}, {"limit": 1, "place": {"x": 2}}, {"none": None, "named": {}, "tags": []}),
        ({"limit": None},),
    ),
    "no properties": Kind({"type": "object"}, ({},), ({"a": 1},)),
    "closed": Kind({"type": "object", "additionalProperties": False}, ({},), ({"a": 1},)),
    "a map": Kind(
        {"type": "object", "additionalProperties": {"type": "object"}}, ({"a": {}, "b": {"c": 1}}, {}), ({"a": 1},)
    ),
    "alternatives at the root": Kind(
        {
            "type": "object",
            "oneOf": [an_object({"a": STRING}, "a"), an_object({"b": INTEGER}, "b")],
            "properties": {"a": {}, "b": {}},
        },
        ({"a": "x"}, {"b": 1}),
        ({}, {"a": "x", "b": 1}),
    ),
    "required without a property": Kind(
        {"type": "object", "required": ["a"], "additionalProperties": True}, ({"a": [1]},), ({},)
    ),
    "booleans for schemas": Kind(
        an_object(
            {
                "yes": True,
                "no": False,
                "any": {},
                "list": {"type": "array", "items": True},
                "none": {"type": "array", "items": False},
            }
        ),
        ({"yes": {"a": 1}, "any": None, "list": [1, "a"], "none": []},),
        ({"no": 1}, {"none": [1]}),
    ),
    "types together": Kind(
        an_object(
            {
                "v": {
                    "type": ["string", "integer", "object", "array", "boolean"],
                    "properties": {"k": INTEGER},
                    "items": STRING,
                }
            }
        ),
        ({"v": "a"}, {"v": 1}, {"v": True}, {"v": {"k": 1, "l": 2}}, {"v": ["a"]}),
        ({"v": {"k": "1"}}, {"v": None}),
    ),
    "texts that look like code": Kind(
        an_object(
            {
                "a": {"type": "string", "description": '"""\nimport os\n"""', "title": "X); import os #"},
                "b": {"enum": ["'+__import__('os')+'", '"', "\\", "\n", "{{x}}", "\u2026", "\ud83d\ude00"]},
                "c": {"const": "'''\"\"\"\\"},
                "d": {"type": "string", "pattern": "'\"\\\\\n#", "default": "\\'\"\n"},
                "x'] = 1; import os #": {"type": "string", "examples": ["'"]},
            },
            title="Evil(object): pass\nimport os",
            description='Ends here \\"""\nimport os\nclass X: pass\n"""\\',
        ),
        (
            {"b": '"', "c": "'''\"\"\"\\", "x'] = 1; import os #": ""},
            {"b": "\u2026", "d": "'\"\\\n#"},
            {"a": "t", "b": "😀"},
        ),
    ),
}
