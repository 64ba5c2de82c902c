"""What compiled schemas accept and refuse, and what they complain of."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from mcpc.schema import compile as compile_validator
from support.reference import real_tools
from support.schemas import compiled, explained, functions, judge, node_of, problems_of

DEEP = 100_000
BIG = 10**30

# Schema, instances it accepts, instances it refuses.
SEMANTICS: list[tuple[Any, list[Any], list[Any]]] = [
    (True, [None, 1, {}], []),
    (False, [], [None, 1, {}]),
    ({}, [None, True, [], {"a": 1}], []),
    ({"type": "null"}, [None], [False, 0, "", [], {}]),
    ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ({"type": "integer"}, [0, 1.0, -3, BIG, 1e300], [2.5, True, False, "1", None, float("inf")]),
    ({"type": "number"}, [0, 2.5, BIG], [True, "1", None]),
    ({"type": "string"}, ["", "a"], [1, None, ["a"]]),
    ({"type": "array"}, [[], [1]], [{}, "a"]),
    ({"type": "object"}, [{}, {"a": 1}], [[], "a", None]),
    ({"type": ["string", "null"]}, ["", None], [0, False, []]),
    ({"type": ["integer", "number"]}, [1, 1.5], [True, "1"]),
    ({"type": ["integer", "string"], "minimum": 2, "minLength": 2}, [2, 2.0, "ab"], [1, "a", 2.5, None]),
    ({"const": 1}, [1, 1.0], [True, 2, "1"]),
    ({"const": 0}, [0, 0.0, -0.0], [False, None, ""]),
    ({"const": False}, [False], [0, None]),
    ({"const": True}, [True], [1, 1.0]),
    ({"const": None}, [None], [0, False, ""]),
    (
        {"const": [1, {"a": False}]},
        [[1, {"a": False}], [1.0, {"a": False}]],
        [[True, {"a": False}], [1, {"a": 0}], [1]],
    ),
    ({"const": {"a": 2}}, [{"a": 2}, {"a": 2.0}], [{}, {"a": 2, "b": 1}, {"a": "2"}]),
    ({"const": {"a": [0]}}, [{"a": [0]}, {"a": [0.0]}], [{"a": [False]}, {"a": [0, 0]}, {"b": [0]}]),
    ({"const": []}, [[]], [{}, None, [1]]),
    ({"const": 2**60 + 1}, [2**60 + 1], [2**60, float(2**60)]),
    ({"enum": ["a", "b"]}, ["a", "b"], ["c", 1, None, ["a"], {"a": 1}]),
    ({"enum": list("abcdefgh")}, ["a", "h"], ["i", 1, None, [], {}]),
    ({"enum": [0, 1, 2]}, [0, 1.0, 2], [True, False, 3, "1", []]),
    ({"enum": [2, 3, 4, 5, 6, 7, 8]}, [2, 8.0], [True, 9, "2", [], {}]),
    ({"enum": [0, 1, 2, 3, 4, 5, 6]}, [0, 1.0], [True, False, "2", [], {}]),
    ({"enum": [None, True, "x", 1.5, []]}, [None, True, "x", 1.5, []], [False, 1, 0, "y", {}]),
    ({"enum": []}, [], [None, 1]),
    ({"type": "string", "enum": ["a", 1, None]}, ["a"], [1, None, "b"]),
    ({"type": "string", "enum": ["a", "b"], "maxLength": 1}, ["a"], [1, "ab"]),
    ({"type": "integer", "enum": [1, 2.0]}, [1, 2], [True, 1.5]),
    ({"minimum": 2}, [2, 2.5, BIG, "a", True], [1, 1.9, -BIG]),
    ({"exclusiveMinimum": 2}, [2.1, 3, None], [2, 2.0]),
    ({"maximum": BIG}, [BIG, 1e29], [BIG + 1]),
    ({"exclusiveMaximum": 0.5}, [0.4, False], [0.5, 1]),
    ({"multipleOf": 2}, [0, 4, -2, 4.0, "a", 1e300], [3, 4.5]),
    ({"multipleOf": 0.1}, [0.3, 1.1, 0.7, 3, BIG], [0.35, 1e-9]),
    ({"multipleOf": 0.01}, [19.99, 4.35, 1.1], [19.999]),
    ({"multipleOf": 1e-8}, [1e-8, 12391239123, 3e-8], [1e-9]),
    ({"multipleOf": 10}, [1e23, 10**40], [10**40 + 1, float("inf")]),
    ({"multipleOf": 1e300}, [1e300, 2 * 10**300], [1e299, 10**300 + 1]),
    ({"minLength": 2}, ["ab", "😀😀", 1], ["a", "😀", ""]),
    ({"maxLength": 1.0}, ["a", "😀", "", []], ["ab"]),
    ({"minLength": 0}, ["", "a"], []),
    ({"pattern": "b"}, ["abc", 1], ["acd"]),
    ({"pattern": "^a$"}, ["a"], ["a\n", "ba"]),
    ({"required": ["a", "b"]}, [{"a": 1, "b": None}, [], "a"], [{"a": 1}, {}]),
    ({"properties": {"a": {"type": "integer"}}}, [{}, {"a": 1}, {"b": "x"}, []], [{"a": "x"}]),
    ({"properties": {"a": False}}, [{}, {"b": 1}], [{"a": None}]),
    ({"properties": {"": {"const": 1}}}, [{"": 1}], [{"": 2}]),
    ({"additionalProperties": False}, [{}, 1], [{"a": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}, {"a": 1, "b": 1}]),
    (
        {"properties": {"a": {}, "b": {}}, "required": ["a", "b"], "additionalProperties": False},
        [{"a": 1, "b": 2}],
        [{"a": 1}, {"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}],
    ),
    ({"properties": {"a": {}}, "required": ["b"], "additionalProperties": False}, [], [{"b": 1}, {"a": 1}, {}]),
    ({"additionalProperties": {"type": "string"}, "properties": {"a": {}}}, [{"a": 1, "b": "x"}], [{"b": 1}]),
    (
        {"patternProperties": {"^x": {"type": "string"}}, "properties": {"a": {}}, "additionalProperties": False},
        [{"x1": "s", "a": 1}, {}],
        [{"x1": 1}, {"b": 1}],
    ),
    ({"patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 5}}}, [{"ab": 3}], [{"ab": 1}, {"ab": 6}]),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}, {}, "abc"], [{"abc": 1}]),
    ({"propertyNames": False}, [{}], [{"a": 1}]),
    ({"propertyNames": {"enum": ["a"]}}, [{"a": 1}], [{"b": 1}]),
    ({"minProperties": 1, "maxProperties": 2}, [{"a": 1}, []], [{}, {"a": 1, "b": 2, "c": 3}]),
    ({"dependentRequired": {"a": ["b", "c"], "d": []}}, [{}, {"a": 1, "b": 1, "c": 1}, {"d": 1}], [{"a": 1, "b": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}, "c": False}}, [{}, {"a": 1, "b": 1}], [{"a": 1}, {"c": 1}]),
    ({"items": {"type": "string"}}, [[], ["a"], {"0": 1}], [[1], ["a", None]]),
    ({"items": False}, [[]], [[1]]),
    ({"prefixItems": [{"type": "string"}, {"type": "integer"}]}, [[], ["a"], ["a", 1, None]], [[1], ["a", "b"]]),
    ({"prefixItems": [{}], "items": {"type": "integer"}}, [["a"], ["a", 1]], [["a", "b"]]),
    ({"prefixItems": [{}, {}], "items": False}, [[], [1, 2]], [[1, 2, 3]]),
    ({"minItems": 1, "maxItems": 2}, [[1], "abc"], [[], [1, 2, 3]]),
    ({"uniqueItems": True}, [[1, True, "1", [1], [True]], [{"a": 1}, {"a": True}]], [[1, 1.0], [[0], [0.0]]]),
    (
        {"uniqueItems": True},
        [[], "aa", [{}, []], [0, False, None]],
        [[{"a": 1, "b": 2}, {"b": 2, "a": 1}], [None, None]],
    ),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"contains": {"type": "string"}}, [["a", 1], "x"], [[], [1]]),
    ({"contains": {"type": "string"}, "minContains": 2, "maxContains": 3}, [["a", "b", 1]], [["a"], list("abcd")]),
    ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, [[], [1]], [[1, 1]]),
    ({"minContains": 3}, [[]], []),
    ({"contains": True, "minContains": 0}, [[], [1]], []),
    ({"allOf": [{"minimum": 2}, {"maximum": 4}]}, [3, "a"], [1, 5]),
    ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, ["a", 2, None], [1]),
    ({"oneOf": [{"type": "string"}, {"minLength": 2}]}, ["a", 1], ["ab"]),
    ({"oneOf": [{"minimum": 2}, {"maximum": 4}, {"const": 9}]}, [1, 5], [3, 9, "a"]),
    ({"not": {"type": "string"}}, [1, None], ["a"]),
    ({"not": {"not": {"required": ["a"]}}}, [{"a": 1}, 1], [{}]),
    ({"if": {"minimum": 5}, "then": {"multipleOf": 2}, "else": {"multipleOf": 3}}, [6, 3, "a"], [7, 4]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    ({"if": {"required": ["a"]}, "else": {"required": ["b"]}}, [{"a": 1}, {"b": 1}], [{}]),
    ({"if": False, "then": False, "else": {"type": "string"}}, ["a"], [1]),
    ({"if": {"type": "string"}}, ["a", 1], []),
    ({"then": False, "else": False}, [1], []),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, ["a"], [1]),
    ({"$ref": "#/$defs/a", "minLength": 2, "$defs": {"a": {"type": "string"}}}, ["ab"], [1, "a"]),
    ({"properties": {"$ref": {"type": "string"}}}, [{"$ref": "a"}], [{"$ref": 1}]),
    ({"$ref": "#/$defs/a~1b%25c%7E0", "$defs": {"a/b%c~": {"const": 1}}}, [1], [2]),
    ({"$ref": "#/definitions/a/items", "definitions": {"a": {"items": {"const": 1}}}}, [1], [2]),
    ({"$ref": "#/allOf/1", "allOf": [{}, {"const": 1}]}, [1], [2]),
    ({"$ref": "#/x-more/0", "x-more": [{"const": 1}]}, [1], [2]),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": False}}, [], [1]),
    (
        {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        [{"a": {"a": {}}}],
        [{"a": {"b": 1}}, {"b": 1}],
    ),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"enum": ["x" * 200, "y"]}}}, ["x" * 200, "y"], ["x"]),
    ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}, ["a"], [1]),
    ({"format": "date-time", "contentEncoding": "base64", "x-order": 1, "nullable": True}, ["?", 1], []),
    ({"title": "t", "description": "d", "default": 3, "examples": [1], "deprecated": True, "$comment": "c"}, [1], []),
    (
        {"properties": {"n" * 100: {"minLength": 2}}, "required": ["n" * 100]},
        [{"n" * 100: "ab"}],
        [{"n" * 100: "a"}, {}],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), SEMANTICS, ids=[json.dumps(row[0])[:60] for row in SEMANTICS])
def test_a_schema_accepts_what_it_should_and_nothing_else(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    modules = compiled(schema)
    for instance in valid:
        assert judge(modules, instance) == (True, []), explained(modules, instance)
    for instance in invalid:
        assert not judge(modules, instance)[0], explained(modules, instance)


# Schema, instance, complaints.
KIND_A = {"properties": {"kind": {"const": "a"}, "url": {"type": "string"}}, "required": ["kind", "url"]}
KIND_B = {"properties": {"kind": {"const": "b"}, "n": {"type": "integer"}}, "required": ["kind", "n"]}
COMPLAINTS: list[tuple[Any, Any, list[tuple[str, str, object]]]] = [
    ({"type": "string", "minLength": 3}, 1, [("", "type", "string")]),
    ({"type": ["string", "null"]}, 1, [("", "type", ["string", "null"])]),
    ({"required": ["a", "b"]}, {}, [("", "required", "a"), ("", "required", "b")]),
    ({"properties": {"a/b~": {"const": 1}}}, {"a/b~": 2}, [("/a~1b~0", "const", 1)]),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"b/": 1}, [("/b~1", "additionalProperties", ["a"])]),
    ({"additionalProperties": {"minimum": 3}}, {"a~": 1}, [("/a~0", "minimum", 3)]),
    ({"patternProperties": {"a": {"enum": [1, "x"]}}}, {"xa": 2}, [("/xa", "enum", [1, "x"])]),
    ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, [("/b", "propertyNames", ["pattern", "^a"])]),
    ({"propertyNames": False}, {"b": 1}, [("/b", "propertyNames", ["false", None])]),
    ({"properties": {"a": False}}, {"a": 1}, [("/a", "false", None)]),
    ({"items": {"items": {"type": "string"}}}, [["a"], ["b", 1]], [("/1/1", "type", "string")]),
    ({"prefixItems": [{}, {"type": "null"}], "items": False}, [1, 2, 3], [("/1", "type", "null"), ("", "items", 2)]),
    ({"prefixItems": [{}], "items": {"const": 0}}, [9, 0, 5], [("/2", "const", 0)]),
    ({"minItems": 2, "uniqueItems": True}, [1], [("", "minItems", 2)]),
    ({"contains": {"const": 1}}, [], [("", "contains", 1)]),
    ({"contains": {"const": 1}, "minContains": 2}, [1], [("", "minContains", 2)]),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, [("", "dependentRequired", ["a", "b"])]),
    ({"not": {"const": 1}}, 1, [("", "not", {"const": 1})]),
    ({"not": {"enum": ["x" * 300]}}, "x" * 300, [("", "not", None)]),
    ({"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]}, [], [("", "type", ["string", "integer", "null"])]),
    ({"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}]}, "d", [("", "enum", ["a", "b", "c"])]),
    ({"anyOf": [{"type": "null"}, {"type": "string", "minLength": 2}]}, "a", [("", "minLength", 2)]),
    ({"oneOf": [KIND_A, KIND_B]}, {"kind": "a"}, [("", "required", "url"), ("", "oneOf", {"kind": ["a"]})]),
    ({"oneOf": [KIND_A, KIND_B]}, {"kind": "b", "n": "x"}, [("/n", "type", "integer"), ("", "oneOf", {"kind": ["b"]})]),
    ({"properties": {"t": {"anyOf": [KIND_A, KIND_B]}}}, {"t": {"kind": "z"}}, [("/t/kind", "enum", ["a", "b"])]),
    ({"oneOf": [{"minimum": 1}, False, {"minimum": 2}]}, 3, [("", "oneOf", [0, 2])]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, [("", "required", "b")]),
    ({"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"items": {"type": "null"}, "$comment": "c"}}},
     {"a": [1]}, [("/a/0", "type", "null")]),
    ({"items": {"$ref": "#"}, "type": "array"}, [[], [3]], [("/1/0", "type", "array")]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "instance", "complaints"), COMPLAINTS)
def test_a_refusal_says_where_and_what(schema: Any, instance: Any, complaints: list[Any]) -> None:
    modules = compiled(schema)
    assert judge(modules, instance) == (False, complaints), explained(modules, instance)


def test_what_is_expected_is_a_literal() -> None:
    modules = compiled({"not": {"const": 1}, "oneOf": [{"enum": [1]}, {"propertyNames": False}], "contains": True})
    instances: list[Any] = [1, [], {"a": 1}]
    wanted = [expected for instance in instances for _, _, expected in judge(modules, instance)[1]]
    assert len(wanted) > len(instances)
    assert [ast.literal_eval(repr(expected)) for expected in wanted] == wanted


def nested(levels: int, innermost: object = None) -> object:
    value = [] if innermost is None else innermost
    for _ in range(levels):
        value = [value]
    return value


def family(levels: int) -> dict[str, Any]:
    tree: dict[str, Any] = {"name": "x"}
    for _ in range(levels):
        tree = {"name": "x", "kids": [tree]}
    return tree


FAMILY = {
    "$ref": "#/$defs/person",
    "$defs": {
        "person": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/person"}}},
            "required": ["name"],
        }
    },
}


def test_recursive_schemas_judge_recursive_values() -> None:
    modules = compiled(FAMILY)
    assert judge(modules, family(100))[0]
    spoiled = family(100)
    spoiled["kids"][0]["kids"][0]["name"] = 1
    assert judge(modules, spoiled)[1] == [("/kids/0/kids/0/name", "type", "string")]


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        (FAMILY, family(DEEP)),
        ({"type": "array", "items": {"$ref": "#"}}, nested(DEEP)),
        ({"uniqueItems": True}, [nested(DEEP), nested(DEEP)]),
        ({"anyOf": [{"const": 1}, {"items": {"$ref": "#"}}], "type": "array"}, nested(DEEP)),
        ({"not": {"items": {"$ref": "#"}}}, nested(DEEP)),
    ],
)
def test_a_value_nested_too_deeply_is_refused(schema: Any, instance: Any) -> None:
    accepts, errors = functions(compiled(schema))
    assert accepts(instance) is False
    assert errors(instance) == [("", "depth", None)]


def test_both_functions_give_up_at_the_same_depth() -> None:
    modules = compiled({"anyOf": [{"const": 1}, {"items": {"$ref": "#"}}], "type": "array"})
    answers = [judge(modules, nested(levels))[0] for levels in range(0, 700, 7)]
    assert answers == sorted(answers, reverse=True)
    assert True in answers and False in answers


def test_depth_alone_harms_nothing_that_looks_no_deeper() -> None:
    rows: list[tuple[Any, bool]] = [
        ({"type": "array"}, True),
        ({"const": [[]]}, False),
        ({"enum": [[[1]]]}, False),
        ({"items": {"items": {}}}, True),
    ]
    for schema, valid in rows:
        assert judge(compiled(schema), nested(DEEP))[0] is valid


@pytest.mark.parametrize(
    "wrap", ['{"items":%s}', '{"not":%s}', '{"anyOf":[%s]}', '{"oneOf":[%s]}', '{"properties":{"a":%s}}']
)
def test_a_schema_of_any_depth_the_reader_takes_is_compiled(wrap: str) -> None:
    text = '{"type":"integer"}'
    for _ in range(250):
        text = wrap % text
    modules = compiled(text)
    for instance in (1, "a", nested(250, 1), nested(250, "a"), {"a": {"a": 1}}):
        judge(modules, instance)
    assert len(modules.collector) < 60 * len(text) + 5_000


CLOSABLE = {"type": "object", "properties": {"path": {}}}


def test_closed_refuses_what_the_root_does_not_name() -> None:
    assert judge(compiled(CLOSABLE, closed=True), {"pth": 1}) == (False, [("/pth", "additionalProperties", ["path"])])
    assert judge(compiled(CLOSABLE, closed=True), {"path": {"any": 1}})[0]
    assert judge(compiled(CLOSABLE), {"pth": 1})[0]
    assert not judge(compiled({}, closed=True), {"pth": 1})[0]
    assert judge(compiled({"type": "object"}, closed=True), {})[0]
    assert judge(compiled(True, closed=True), {"a": 1})[0]


@pytest.mark.parametrize(
    "said",
    [
        {"additionalProperties": True},
        {"additionalProperties": {}},
        {"patternProperties": {"^x": {}}},
        {"$ref": "#/$defs/a"},
        {"allOf": [{}]},
        {"anyOf": [{}]},
        {"oneOf": [{}]},
        {"if": {}},
        {"dependentSchemas": {"path": {}}},
    ],
)
def test_closed_leaves_a_root_alone_that_says_itself_what_it_takes(said: dict[str, Any]) -> None:
    modules = compiled({**CLOSABLE, **said, "$defs": {"a": {}}}, closed=True)
    assert judge(modules, {"pth": 1})[0], explained(modules, {"pth": 1})


def test_the_input_schemas_of_real_servers_compile_but_for_their_dialect() -> None:
    count = 0
    for tools in real_tools().values():
        for tool in tools:
            schema = tool["inputSchema"]
            dialect = schema.pop("$schema", None)
            assert problems_of(schema) == (), tool["name"]
            assert judge(compiled(schema), [])[1] == [("", "type", "object")]
            blocked = [problem.code for problem in problems_of({"$schema": dialect, **schema})] if dialect else []
            assert blocked in ([], ["MCP112"])
            count += 1
    assert count == 77


def test_a_node_keeps_its_place_in_what_is_said() -> None:
    node = node_of('{"type": "int"}')
    assert node.get("type") is not None
    (problem,) = problems_of('{"type": "int"}')
    assert problem.span is not None
    assert (problem.span.start, problem.span.end) == (9, 14)


def test_work_that_doubles_with_every_level_of_the_value_ends() -> None:
    step = {"items": {"$ref": "#/$defs/t"}, "type": "array"}
    modules = compiled(
        {"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [{**step, "maxItems": 3}, {**step, "minItems": 1}]}}}
    )
    assert judge(modules, nested(60, 1)) == (False, [("", "work", None)])


def test_a_recursive_schema_takes_values_of_many_parts() -> None:
    step = {"type": "array", "items": {"$ref": "#/$defs/t"}}
    validator = compile_validator({"$defs": {"t": step}, "$ref": "#/$defs/t"})
    value: list[Any] = [[[] for _ in range(300)] for _ in range(300)]
    assert validator.accepts(value)
    assert validator.errors(value) == []
    value[299][299] = 1  # type: ignore[call-overload]
    assert not validator.accepts(value)
    assert validator.errors(value) != []


def tagged(kind: Any, **others: Any) -> dict[str, Any]:
    properties = {"kind": kind, "size": {"type": "integer"}, **others}
    return {"type": "object", "required": ["kind"], "properties": properties, "additionalProperties": False}


TAGS = [
    [tagged({"const": "a"}), tagged({"const": "b"}, url={"type": "string"})],
    [tagged({"enum": ["a", "c"]}), tagged({"const": "b"}, url={"type": "string"})],
    [tagged({"const": "a"}), tagged({"enum": ["a", "b"]}, url={"type": "string"})],
    [tagged({"const": "a"}), {**tagged({"const": "b"}), "required": []}],
    [tagged({"const": "a"}), {"type": ["object", "null"]}],
    [tagged({"const": 1}), tagged({"const": True})],
    [tagged({"const": "a", "type": "integer"}), tagged({"const": "b"})],
]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("alternatives", TAGS)
def test_asking_by_a_tag_decides_as_asking_all(keyword: str, alternatives: list[Any]) -> None:
    modules = compiled({"properties": {"v": {keyword: alternatives}}})
    alone = [functions(compiled(alternative))[0] for alternative in alternatives]
    kinds: list[Any] = ["a", "b", "c", "d", 1, True, None, [], {}, "x" * 99]
    values = [
        {"kind": kind, **others}
        for kind in kinds
        for others in ({}, {"size": 1}, {"size": "1"}, {"url": "u"}, {"z": 1})
    ]
    for value in [*values, {}, {"size": 1}, [], None, "a"]:
        accepting = [accepts(value) for accepts in alone].count(True)
        wanted = accepting == 1 if keyword == "oneOf" else accepting > 0
        assert judge(modules, {"v": value})[0] is wanted, explained(modules, value)
