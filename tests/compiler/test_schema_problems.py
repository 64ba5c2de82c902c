"""What the compiler says of schemas that are wrong or foreign: all of it at once, each at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcpc.schema import CompileRequest, compile_schema
from mcpc.schema.dialects import DIALECTS
from mcpc.schema.metaschema import check_by_metaschema
from support.reference import schema_suite
from support.schemas import compiled, judge, node_of, problems_of

if TYPE_CHECKING:
    from mcpc.schema.dialects import Dialect

DRAFT_7 = "http://json-schema.org/draft-07/schema#"

# Schema as text, with the place of each problem between guillemets; codes in their order.
PROBLEMS: list[tuple[str, list[str]]] = [
    ('{"type": «"int"»}', ["MCP110"]),
    ('{"type": «7»}', ["MCP110"]),
    ('{"type": «[]»}', ["MCP110"]),
    ('{"type": ["string", «"string"»]}', ["MCP110"]),
    ('{"type": ["null", «null»]}', ["MCP110"]),
    ('{"properties": {"a": {"required": «true»}}}', ["MCP110"]),
    ('{"required": ["a", «1», «"a"»]}', ["MCP110", "MCP110"]),
    ('{"dependentRequired": {"a": «"b"»}}', ["MCP110"]),
    ('{"properties": «[]»}', ["MCP110"]),
    ('{"properties": {"a": «"string"»}}', ["MCP110"]),
    ('«[1]»', ["MCP110"]),
    ('{"items": «3»}', ["MCP110"]),
    ('{"allOf": «[]»}', ["MCP110"]),
    ('{"anyOf": «{}»}', ["MCP110"]),
    ('{"oneOf": [{}, «null»]}', ["MCP110"]),
    ('{"minLength": «-1», "maxLength": «1.5», "minItems": «"1"», "maxItems": «true»}', ["MCP110"] * 4),
    ('{"minimum": «"1"», "multipleOf": «0»}', ["MCP110"] * 2),
    ('{"enum": «"a"», "uniqueItems": «1»}', ["MCP110"] * 2),
    ('{"title": «1», "description": «null», "examples": «"x"», "deprecated": «"yes"»}', ["MCP110"] * 4),
    ('{"pattern": «1»}', ["MCP110"]),
    ('{"pattern": «"("», "patternProperties": {«"(?P<a>b)"»: «1»}}', ["MCP114", "MCP114", "MCP110"]),
    ('{"$ref": «1»}', ["MCP110"]),
    ('{"$schema": «1»}', ["MCP110"]),
    (f'{{"$schema": "{DRAFT_7}", "type": «"int"», "items": «[]»}}', ["MCP110"] * 2),
    ('{"$schema": «"http://json-schema.org/draft-04/schema#"»}', ["MCP112"]),
    ('{"$schema": «"urn:mine"», "type": "int"}', ["MCP112"]),
    (f'{{"properties": {{"a": {{"$schema": «"{DRAFT_7}"»}}}}}}', ["MCP112"]),
    ('{"$ref": «"#/$defs/b"», "$defs": {"a": {}}}', ["MCP113"]),
    ('{"$ref": «"#/allOf/1"», "allOf": [{}]}', ["MCP113"]),
    ('{"$ref": «"#/allOf/-1"», "allOf": [{}]}', ["MCP113"]),
    ('{"$ref": «"#/allOf/00"», "allOf": [{}]}', ["MCP113"]),
    ('{"$ref": «"other.json"»}', ["MCP113"]),
    ('{"$ref": «"https://example.com/a.json#/$defs/b"»}', ["MCP113"]),
    ('{"$ref": «"#there"»}', ["MCP113"]),
    ('{"$ref": «"other.json"»}', ["MCP113"]),
    ('{"$dynamicRef": «"#there"»}', ["MCP113"]),
    ('{"$id": "urn:a", "$ref": «"urn:b#/x"»}', ["MCP113"]),
    ('{"$id": «"a#b"», "$anchor": «"1a"», "$dynamicAnchor": «true», "$vocabulary": {"urn:v": «1»}}', ["MCP110"] * 4),
    ('{"$ref": "#/x-a", "x-a": «[]»}', ["MCP110"]),
    ('{«"additionalItems"»: false, «"$recursiveRef"»: "#"}', ["MCP103"] * 2),
    (f'{{"$schema": "{DRAFT_7}", «"unevaluatedItems"»: false, «"$anchor"»: "a"}}', ["MCP103"] * 2),
    ('{"exclusiveMinimum": «true», "exclusiveMaximum": «false», "items": «[{}]»}', ["MCP111"] * 3),
    ('{"$defs": {"unused": {"$dynamicRef": «"#a"»}}}', ["MCP113"]),
    ('{"$ref": "#/$defs/a", "$defs": {"a": {"$dynamicRef": «"#/$defs/b"»}, "b": {"$ref": «"#/$defs/a"»}}}', ["MCP117"] * 2),
    ('{«"requires"»: [], «"minlength"»: 1, «"addtionalProperties"»: false}', ["MCP103"] * 3),
    ('{"$ref": «"#"»}', ["MCP117"]),
    ('{"$defs": {"a": {"$ref": «"#/$defs/a"»}}}', ["MCP117"]),
    ('{"anyOf": [{"$ref": «"#/$defs/a"»}], "$defs": {"a": {"not": {"if": {"$ref": «"#"»}}}}}', ["MCP117"] * 2),
    ('{"const": «' + "[" * 65 + "]" * 65 + "»}", ["MCP008"]),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "codes"), PROBLEMS, ids=[row[0][:50] for row in PROBLEMS])
def test_every_problem_is_reported_at_its_place(marked: str, codes: list[str]) -> None:
    text = marked.replace("«", "").replace("»", "")
    places = []
    offset = 0
    for start, character in enumerate(marked):
        if character in "«»":
            places.append(start - offset)
            offset += 1
    problems = problems_of(text)
    assert [problem.code for problem in problems] == codes
    spans = [(problem.span.start, problem.span.end) for problem in problems if problem.span]
    assert spans == list(zip(places[::2], places[1::2], strict=True))


HINTS = [
    ({"type": "int"}, "did you mean `integer`?"),
    ({"type": "str"}, "did you mean `string`?"),
    ({"type": "bool"}, "did you mean `boolean`?"),
    ({"type": "list"}, "did you mean `array`?"),
    ({"type": "dict"}, "did you mean `object`?"),
    ({"type": "String"}, "did you mean `string`?"),
    ({"type": "numbers"}, "did you mean `number`?"),
    ({"type": None}, "did you mean `null`?"),
    ({"type": "xyz"}, ""),
    ({"type": {}}, ""),
    ({"requires": []}, "did you mean `required`?"),
    ({"min_length": 1}, "did you mean `minLength`?"),
    ({"ref": "#"}, "did you mean `$ref`?"),
    ({"required": True}, "list the names of required properties in `required` of the object around them"),
    ({"items": []}, "schemas by position are `prefixItems` since 2020-12; or say which draft it is: `$schema`"),
    ({"additionalItems": {}}, "it is one of draft 2019-09 and draft-07 and draft-06: say so with `$schema`"),
    ({"$defs": {"a": {"$anchor": "there"}}, "$ref": "#their"}, "did you mean `#there`?"),
    (
        {"$ref": "a.json"},
        "put the schema under `$defs` and refer to it as `#/$defs/...`, or put its file into the project",
    ),
]


@pytest.mark.parametrize(("schema", "hint"), HINTS)
def test_a_problem_says_what_was_meant(schema: Any, hint: str) -> None:
    assert [problem.hint for problem in problems_of(schema)] == [hint]


def test_a_message_names_what_was_found() -> None:
    (problem,) = problems_of({"minLength": "three"})
    assert problem.message == "`minLength` must be an integer that is not negative, found the string `three`"
    assert problem.expected == "an integer that is not negative"
    (problem,) = problems_of({"required": {"a": True}})
    assert problem.message == "`required` must be an array of property names, found an object"
    (problem,) = problems_of({"pattern": "(?i)a"})
    assert problem.message == "the pattern `(?i)a` cannot be compiled: `(?i` starts no group in ECMA-262"


def test_all_problems_are_reported_in_one_run() -> None:
    schema = {"type": "int", "properties": {"a": {"pattern": "("}, "b": {"$ref": "#/no"}, "c": {"items": []}}}
    assert [problem.code for problem in problems_of(schema)] == ["MCP110", "MCP114", "MCP113", "MCP111"]


def test_a_warning_does_not_keep_a_schema_from_compiling() -> None:
    modules, problems = compile_schema(node_of({"requires": ["a"]}))
    assert modules is not None
    assert [(problem.code, problem.severity) for problem in problems] == [("MCP103", "warning")]


@pytest.mark.parametrize(
    "key", ["x-requires", "nullable", "order", "discriminator", "xml", "note", "id", "propertyOrdering"]
)
def test_unknown_keywords_are_annotations(key: str) -> None:
    assert problems_of({key: 1}) == ()


def test_references_through_too_many_schemas_are_refused() -> None:
    steps = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(1_000)}
    assert [problem.code for problem in problems_of({"$ref": "#/$defs/d0", "$defs": {**steps, "d1000": {}}})] == [
        "MCP008"
    ]


def test_a_cycle_that_steps_into_the_value_is_fine() -> None:
    for keyword in ("properties", "patternProperties"):
        assert judge(compiled({keyword: {"a": {"$ref": "#"}}}), {"a": {}})[0]
    for keyword in ("items", "additionalProperties", "contains", "propertyNames"):
        assert problems_of({keyword: {"$ref": "#"}}) == ()


VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, 2.0, "", "string", "^a", [], ["string"], ["a", "a"], [1], [None], [True], [{}],
    [[]], [{}, 1], {}, {"a": 1}, {"a": "b"}, {"a": []}, {"a": ["b"]}, {"a": ["b", "b"]}, {"a": {}}, {"a": True},
    {"type": "string"}, {"type": "x"}, {"a": {"type": "x"}}, [{"type": "x"}], {"items": {"minLength": -1}},
]  # fmt: skip


@pytest.mark.parametrize("dialect", list(DIALECTS.values()), ids=lambda dialect: dialect.name)
def test_the_shape_check_agrees_with_the_metaschema(dialect: Dialect) -> None:
    extra = (
        {"$defs", "readOnly", "writeOnly"} if dialect.lone_reference else set()
    )  # what later drafts brought, and any draft may hold
    for keyword in set(dialect.keywords) - extra:
        for value in VALUES:
            node = node_of({keyword: value})
            codes = {problem.code for problem in compile_schema(node, CompileRequest(dialect=dialect))[1]}
            refused = check_by_metaschema(node, dialect) != ()
            if "MCP111" in codes or (keyword == "$schema" and "MCP112" in codes):
                continue
            assert ("MCP110" in codes) is refused, (keyword, value, codes, check_by_metaschema(node, dialect))


def test_the_metaschema_speaks_at_the_place() -> None:
    node = node_of({"type": "object", "properties": {"a": {"minLength": -1}}, "required": ["a", "a"]})
    spans = [(problem.span.start, problem.span.end) for problem in check_by_metaschema(node) if problem.span]
    text = '{"type": "object", "properties": {"a": {"minLength": -1}}, "required": ["a", "a"]}'
    assert [text[start:end] for start, end in spans] == ["-1", '["a", "a"]']


def test_a_schema_too_deep_for_the_metaschema_is_a_problem_and_no_crash() -> None:
    text = "{}"
    for _ in range(500):
        text = f'{{"not":{text}}}'
    assert {problem.code for problem in check_by_metaschema(node_of(text))} <= {"MCP008"}


def test_the_metaschema_accepts_the_suite() -> None:
    folder = schema_suite() / "tests/draft2020-12"
    text = (folder / "properties.json").read_text()
    assert all(check_by_metaschema(schema) == () for item in node_of(text).items if (schema := item.get("schema")))


def test_a_pattern_that_can_hang_the_server_is_told_unless_the_length_is_bounded() -> None:
    hostile = {"pattern": "^(a+)+$"}
    assert [problem.code for problem in problems_of(hostile)] == ["MCP118"]
    assert [problem.severity for problem in problems_of(hostile)] == ["error"]
    assert problems_of({**hostile, "maxLength": 10}) == ()
    assert [problem.code for problem in problems_of({"patternProperties": {"^(a+)+$": {}}})] == ["MCP118"]


def test_a_text_that_is_too_long_is_not_searched_for_its_complaints_either() -> None:
    modules = compiled({"maxLength": 10, "pattern": "^(a+)+$"})
    assert judge(modules, "a" * 60 + "!") == (False, [("", "maxLength", 10)])
