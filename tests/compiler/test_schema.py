"""What compiled schemas accept and refuse, and what they complain of."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc.schema import compile as compile_validator
from support.reference import real_tools
from support.schemas import compiled, explained, functions, judge, node_of, problems_of

FOLDER = Path(__file__).with_name("schema")
DEEP = 100_000

# Schema, instances it accepts, instances it refuses.
SEMANTICS: list[tuple[Any, list[Any], list[Any]]] = json.loads((FOLDER / "semantics.json").read_text("utf-8"))


@pytest.mark.parametrize(("schema", "valid", "invalid"), SEMANTICS, ids=[json.dumps(row[0])[:60] for row in SEMANTICS])
def test_a_schema_accepts_what_it_should_and_nothing_else(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    modules = compiled(schema)
    for instance in valid:
        assert judge(modules, instance) == (True, []), explained(modules, instance)
    for instance in invalid:
        assert not judge(modules, instance)[0], explained(modules, instance)


# Schema, instance, complaints.
COMPLAINTS: list[tuple[Any, Any, list[Any]]] = json.loads((FOLDER / "complaints.json").read_text("utf-8"))


@pytest.mark.parametrize(("schema", "instance", "complaints"), COMPLAINTS)
def test_a_refusal_says_where_and_what(schema: Any, instance: Any, complaints: list[Any]) -> None:
    modules = compiled(schema)
    assert judge(modules, instance) == (False, [tuple(each) for each in complaints]), explained(modules, instance)


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


@pytest.mark.parametrize(
    ("keyword", "value", "most"),
    [
        ("required", lambda size: [f"p{number}" for number in range(size)], 20_000),
        ("dependentRequired", lambda size: {"p": [f"p{number}" for number in range(size - 1)]}, 20_000),
        ("patternProperties", lambda size: {f"^p{number}$": True for number in range(size)}, 2_000),
    ],
)
def test_so_many_names_or_patterns_may_stand_in_one_place(
    keyword: str, value: Callable[[int], object], most: int
) -> None:
    assert [problem.code for problem in problems_of({keyword: value(most)})] == []
    assert [problem.code for problem in problems_of({keyword: value(most + 1)})] == ["MCP008"]
