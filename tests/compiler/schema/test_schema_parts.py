"""Parts of the compiler of schemas by themselves: references, documents, other validators, and the way in by values."""

import json
from typing import Any

import pytest

from mcpc.reading import Source
from mcpc.schema import CompileRequest, SchemaError, compilation, compile_schema
from mcpc.schema import compile as compiled
from mcpc.schema.dialects import DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12, Dialect
from mcpc.schema.graph import components, cycles, is_cycle
from mcpc.schema.jsonschema_oracle import (
    DRAFTS,
    ReferenceValidator,
    TooLongError,
    check_by_metaschema,
    is_valid,
    panics_named,
)
from mcpc.schema.keywords import without_texts
from mcpc.schema.resources import (
    METASCHEMAS,
    Documents,
    Files,
    item_at,
    metaschema,
    parse_document,
    resolve_uri,
    unescape_token,
    uri_of_file,
)
from support.schemas import node_of


@pytest.mark.parametrize(
    ("base", "reference", "found"),
    [
        ("file:///a/b.json", "", ("file:///a/b.json", "")),
        ("file:///a/b.json", "#x%20y", ("file:///a/b.json", "x y")),
        ("file:///a/b.json", "c.json#/d", ("file:///a/c.json", "/d")),
        ("file:///a/b.json", "../c.json", ("file:///c.json", "")),
        ("file:///a/b.json", "/c#d#e", ("file:///c", "d#e")),
        ("urn:a", "urn:b#c", ("urn:b", "c")),
        ("https://h/a", "mailto:x", ("mailto:x", "")),
        ("https://h/a/b", "1x:y", ("https://h/a/1x:y", "")),
        ("https://h/a/b", "?q", ("https://h/a/b?q", "")),
    ],
)
def test_a_reference_is_resolved(base: str, reference: str, found: tuple[str, str]) -> None:
    assert resolve_uri(base, reference) == found


def test_tokens_of_pointers() -> None:
    assert [unescape_token(token) for token in ("a~1b~0c", "~01", "~10", "~2~", "~~0")] == [
        "a/b~c",
        "~1",
        "/0",
        "~2~",
        "~~",
    ]
    node = node_of(list(range(12)))
    tokens = ("0", "11", "12", "01", "-1", "1x", "", "9" * 9, "9" * 10, "\u0663")
    found = [item_at(node, token) for token in tokens]
    assert [item and item.value for item in found] == [0, 11, *[None] * 8]
    assert uri_of_file("a b/ü#.json") == "file:///a%20b/%C3%BC%23.json"


def test_every_metaschema_is_there() -> None:
    for uri in METASCHEMAS:
        node = metaschema(uri)
        named = node.get("$id")
        assert str(named.value).removesuffix("#") == uri
    assert metaschema("urn:none") is None


def test_files_are_found_by_path_and_by_name() -> None:
    texts = {"a.json": '{"$id": "urn:a#", "x": 1}', "b/c.json": '{"$id": "urn:a", "x": 2}', "d.json": '{"$id": 5}',
             "e.json": "[1", "f.txt": '{"$id": "urn:f"}', "g.json": '["$id"]'}  # fmt: skip
    files = Files([Source(path, text.encode()) for path, text in texts.items()])
    uris = (
        "file:///a.json",
        "file:///b/c.json",
        "urn:a",
        "urn:a#",
        "5",
        "file:///e.json",
        "file:///f.txt",
        "urn:f",
        "",
    )
    found = [files.get(uri) for uri in uris]
    assert [node and (node.span.path, node.value.get("x")) for node in found if node is None or isinstance(node.value, dict)] == [
        ("a.json", 1), ("b/c.json", 2), ("b/c.json", 2), *[None] * (len(uris) - 3),
    ]  # fmt: skip
    assert files.get("urn:a") is found[2]
    assert files.get("file:///a.json") is found[0]


def test_documents_are_parsed_once() -> None:
    documents = Documents({"urn:a": {"x": [1.5, None, "\ud800"]}, "urn:b": True})
    found = documents.get("urn:a")
    assert (found.span.path, found.value) == ("urn:a", {"x": [1.5, None, "\ufffd"]})
    assert documents.get("urn:a") is found
    assert [node and node.value for node in (documents.get("urn:b"), documents.get("urn:c"))] == [True, None]
    assert parse_document(found, "x") is found
    for value in (float("nan"), {"x": float("inf")}):
        with pytest.raises(ValueError, match="float"):
            parse_document(value, "x")


TREE: Any = {
    "$id": "https://example.com/a.json",
    "$schema": "urn:other",
    "properties": {"a~/b": {"pattern": "^\\d$"}, "n": {"multipleOf": 0.1, "maximum": 5}, "m": {"patternProperties": {"^x": {"type": "null"}}}},
    "$defs": {"self": {"$ref": "https://example.com/a.json#/$defs/list"}, "list": {"items": {"enum": ["x" * 54]}}, "more": {"items": {"enum": ["x" * 57]}},
              "bad": {"$ref": "#/nowhere"}, "loop": {"$ref": "#/$defs/loop"}, "no": False},
}  # fmt: skip
REFUSALS: list[tuple[str, Any, Any]] = [
    ("/properties/a~0~1b", "5", None),
    ("/properties/a~0~1b", "\u0663", ((), '`pattern` is "^\\\\d$"')),
    ("/properties/a~0~1b", 5, None),
    ("/properties/n", 0.3, None),
    ("/properties/n", 0.35, ((), "`multipleOf` is 0.1")),
    ("/properties/n", 6, ((), "`maximum` is 5")),
    ("/properties/n", True, None),
    ("/properties/m", {"xa": 1, "y": 2}, (("xa",), '`type` is "null"')),
    ("/properties/m", {"xa": None}, None),
    ("/properties/m", [], None),
    ("/$defs/self", ["x" * 54, 2], ((1,), f'`enum` is ["{"x" * 54}"]')),
    ("/$defs/more", [3], ((0,), f'`enum` is ["{"x" * 57}"…')),
    ("/$defs/no", 1, ((), "nothing is accepted there")),
    ("/$defs/bad", 1, None),
    ("", {"n": 9}, (("n",), "`maximum` is 5")),
]


@pytest.mark.parametrize(("pointer", "value", "refusal"), REFUSALS)
def test_another_validator_says_where_and_why(pointer: str, value: Any, refusal: Any) -> None:
    assert ReferenceValidator(node_of(TREE), DRAFT_2020_12).refusal(pointer, value) == refusal


def test_another_validator_has_the_rules_of_the_draft() -> None:
    schema: Any = {
        "$id": "#x",
        "dependencies": {"a": ["b"]},
        "$ref": "#/definitions/a",
        "definitions": {"a": {}, "c": {"if": True, "then": False}},
    }
    found = {}
    for dialect in (DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12):
        validator = ReferenceValidator(node_of(schema), dialect)
        found[dialect.name] = [validator.refusal(pointer, {"a": 1}) is None for pointer in ("/definitions/c", "")]
    assert found == {
        "draft-06": [True, True],
        "draft-07": [False, True],
        "draft 2019-09": [False, True],
        "draft 2020-12": [False, True],
    }
    assert ReferenceValidator(node_of(False), DRAFT_07).refusal("", 1) == ((), "nothing is accepted there")


def test_another_validator_follows_so_many_references() -> None:
    validator = DRAFTS[DRAFT_2020_12.uri]({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "integer"}}})
    assert is_valid(validator, [1] * 10, 10)
    assert not is_valid(validator, ["a"], 1)
    with pytest.raises(TooLongError):
        is_valid(validator, [1] * 11, 10)
    reference = ReferenceValidator(node_of({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}}), DRAFT_2020_12)
    with pytest.raises(TooLongError):
        reference.refusal("", [1] * 50_000)
    assert reference.refusal("", [1] * 9) is None


class PanicException(BaseException):
    """As the native part of a library names it."""


def test_the_end_of_a_native_stack_has_a_name() -> None:
    with pytest.raises(RecursionError), panics_named():
        raise PanicException
    with pytest.raises(KeyError), panics_named():
        raise KeyError


@pytest.mark.parametrize(
    ("schema", "dialect", "found"),
    [
        ({"type": 5, "items": {"minLength": -1}}, DRAFT_2020_12, ["5", "-1"]),
        ({"required": ["a", "a"]}, DRAFT_07, ['["a", "a"]']),
        ({"allOf": [{}, {"type": "x"}]}, DRAFT_06, ['"x"']),
        ({"then": 5}, DRAFT_06, []),
        ({"then": 5}, DRAFT_07, ["5"]),
        ({"$anchor": 5}, DRAFT_2019_09, ["5"]),
        ([], DRAFT_2020_12, ["[]"]),
    ],
)
def test_a_metaschema_refuses_values_at_their_places(schema: Any, dialect: Dialect, found: list[str]) -> None:
    text = json.dumps(schema)
    spans = [problem.span for problem in check_by_metaschema(node_of(text), dialect) if problem.span]
    assert [text[span.start : span.end] for span in spans] == found


def test_a_long_value_is_cut_in_a_message() -> None:
    def lengths(count: int) -> list[int]:
        text = check_by_metaschema(node_of({"minLength": "x" * count}))[0].message
        return [len(text.partition(": ")[2]), text.count("…")]

    shown = len("'' is not of type 'integer'")
    assert [lengths(200 - shown), lengths(201 - shown)] == [[200, 0], [201, 1]]


def test_a_schema_is_compiled_for_a_draft() -> None:
    schema: Any = {"items": [{"type": "string"}]}
    for draft in ("draft7", "draft6", "draft2019-09", "http://json-schema.org/draft-07/schema#"):
        validator = compiled(schema, draft=draft)
        assert (validator.accepts(["a"]), validator.errors([1])) == (True, [("/0", "type", "string")])
        assert validator.errors(["a"]) == []
    with pytest.raises(ValueError, match="draft9"):
        compiled(True, draft="draft9")
    for draft in (None, "draft2020-12"):
        with pytest.raises(SchemaError) as raised:
            compiled({**schema, "requires": 1, "type": "int"}, draft=draft)
        assert [problem.code for problem in raised.value.diagnostics] == ["MCP111", "MCP103", "MCP110"]
        assert len(str(raised.value).splitlines()) == 2
    remotes: Any = {"urn:b": {"type": "integer"}}
    assert compiled({"$ref": "urn:b"}, remotes=remotes).errors("a") == [("", "type", "integer")]
    assert [compiled({"format": "date"}, assert_format=asserts).accepts("x") for asserts in (False, True)] == [
        True,
        False,
    ]


def test_equal_schemas_are_compiled_once() -> None:
    compilation.compiled.clear()
    first, _ = compile_schema(node_of({"title": "once"}))
    assert compile_schema(node_of({"title": "once"}))[0] is first
    assert compile_schema(node_of({"title": "once"}), CompileRequest(closed=True))[0] is not first
    for schema in ({"requires": 1}, {"$ref": "urn:x"}):
        request = CompileRequest(remotes=Documents({"urn:x": {"title": "x"}}))
        found = compile_schema(node_of(schema), request)
        again = compile_schema(node_of(schema), request)
        assert found == again
        assert found[0] is not again[0]
    assert len(compilation.compiled) == 2


def test_schemas_that_differ_in_their_texts_are_compiled_once_and_no_others() -> None:
    texts: Any = {"title": "t", "description": "d"}
    # A name, a value or a keyword that nobody knows is no text; what is wrong is complained of after its like, too.
    kept: list[Any] = [
        *({"properties": texts}, {"dependentSchemas": texts}, {"dependentRequired": texts}, {"description": 1}),
        *({"const": texts}, {"enum": [texts]}, {"default": texts}, {"x": texts}, {"examples": [texts]}),
    ]
    assert [without_texts(schema) for schema in kept] == kept
    whole: Any = {**texts, "items": texts, "anyOf": [texts, True], "$defs": {"title": {**texts, "not": texts}}}
    plain = {"items": {}, "anyOf": [{}, True], "$defs": {"title": {"not": {}}}}
    before = json.dumps(whole)
    assert (without_texts(whole), json.dumps(whole)) == (plain, before)
    assert compile_schema(node_of(whole))[0] is compile_schema(node_of(plain))[0] is not None
    assert compile_schema(node_of({"type": "object", "properties": {}}))[1] == ()
    assert compile_schema(node_of({"type": "object", "properties": {"title": "t"}}))[0] is None


@pytest.mark.parametrize(("errors", "codes"), [(49, {"MCP103", "MCP110"}), (50, {"MCP110"}), (51, {"MCP110"})])
def test_a_schema_has_fifty_problems_at_most_errors_first(errors: int, codes: set[str]) -> None:
    schema = {"requires": 1, "properties": {str(number): {"type": "int"} for number in range(errors)}}
    found = compile_schema(node_of(schema))[1]
    assert (len(found), {problem.code for problem in found}) == (50, codes)


def test_components_come_after_those_they_lead_to() -> None:
    edges = {"a": ["b", "c"], "b": ["c", "d"], "c": ["b"], "d": ["e"], "e": [], "f": ["f", "a"], "g": ["d"]}
    found = components(edges)
    assert [set(component) for component in found] == [{"e"}, {"d"}, {"b", "c"}, {"a"}, {"f"}, {"g"}]
    assert [is_cycle(component, edges) for component in found] == [False, False, True, False, True, False]
    assert cycles(edges) == [frozenset("bc"), frozenset("f")]
    assert components({1: [2], 2: [3], 3: [1, 4], 4: [5], 5: [4]})[0] in ((4, 5), (5, 4))
