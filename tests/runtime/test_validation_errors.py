"""What a model is told about arguments that a schema refuses."""

import sys
import time
from typing import Any

import pytest

from mcpc_runtime.protocol.jsonrpc import encode, parse
from mcpc_runtime.protocol.validation_errors import (
    ALTERNATIVES,
    EXPECTED,
    MAX_LINE_BYTES,
    SENTENCES,
    UNEXPECTED,
    describe_errors,
    error_objects,
    explain_errors,
)
from support.packed_runtime import packed_runtime
from support.processes import run_program
from support.schemas import compiled, judge

# Alternatives: schema, value, the lines of that value.
URL = {
    "type": "object",
    "properties": {"kind": {"const": "url"}, "url": {"type": "string"}, "method": {"enum": ["GET"]}},
}
FILE = {"type": "object", "properties": {"kind": {"const": "file"}, "path": {"type": "string"}}}
CLOSED = {"additionalProperties": False}
TARGET = {"oneOf": [{**URL, **CLOSED, "required": ["kind", "url"]}, {**FILE, **CLOSED, "required": ["kind", "path"]}]}
OPEN = {"anyOf": [{**URL, "required": ["kind", "url"]}, {**FILE, "required": ["kind", "path"]}, {"type": "string"}]}
REFERRED = {
    "oneOf": [{"$ref": "#/$defs/u"}, {"allOf": [{"$ref": "#/$defs/f"}]}],
    "$defs": {"u": TARGET["oneOf"][0], "f": TARGET["oneOf"][1]},
}
UNTAGGED = {
    "anyOf": [
        {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat", "lon"]},
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    ]
}  # fmt: skip
EITHER = {"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["owner", "name"]}]}
NESTED = {
    "oneOf": [
        {"properties": {"kind": {"const": "one"}, "of": TARGET}, "required": ["kind", "of"]},
        {"properties": {"kind": {"const": "many"}, "of": {"items": TARGET}}, "required": ["kind", "of"]},
    ]
}
MEANT: list[tuple[Any, Any, list[str]]] = [
    (TARGET, {"kind": "url", "uri": "x"}, [
        '- / (kind "url"): missing required property "url" (unexpected "uri", did you mean "url"?)'
    ]),
    (REFERRED, {"kind": "file", "url": "x"}, [
        '- / (kind "file"): missing required property "path"; unexpected property "url"; known: "kind", "path"'
    ]),
    (OPEN, {"kind": "url", "uri": "x"}, [
        '- / (kind "url"): missing required property "url" (there is "uri", did you mean "url"?)'
    ]),
    (TARGET, {"kind": "ulr", "url": "x"}, [
        '- /kind: received "ulr" (string); expected one of "url", "file" (did you mean "url"?)'
    ]),
    (OPEN, {}, ['- /: missing required property "kind" ("url" or "file")']),
    (TARGET, {"url": "x", "method": "get"}, [
        '- /method (kind "url"): received "get" (string); expected "GET" (did you mean "GET"?)',
        '- /: missing required property "kind" ("url")',
    ]),
    (UNTAGGED, {"lat": 1, "long": 2}, ['- /: missing required property "lon" (there is "long", did you mean "lon"?)']),
    (EITHER, {"ID": 3}, [
        '- /: missing required property "id" or ("owner" and "name") (there is "ID", did you mean "id"?)'
    ]),
    (NESTED, {"kind": "many", "of": [{"kind": "file", "path": "x"}, {"kind": "url"}]}, [
        '- /of/1 (kind "url"): missing required property "url"'
    ]),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"maximum": 0}]}, 3, [
        "- /: received 3 (number); expected a value that one alternative accepts and no other, but alternatives 1 and 2 do"
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "lines"), MEANT)
def test_of_alternatives_the_one_that_was_meant_is_told(schema: Any, value: Any, lines: list[str]) -> None:
    modules = compiled(schema)
    _, errors = judge(modules, value)
    assert describe_errors("t", value, errors).split("\n")[1:] == lines, modules.collector


def test_which_alternative_was_meant_does_not_depend_on_the_order() -> None:
    modules = [compiled({"oneOf": branches}) for branches in (TARGET["oneOf"], TARGET["oneOf"][::-1])]
    for value in ({"kind": "url"}, {"kind": "file", "x": 1}, {"url": 1}, {"path": 1, "kind": "url"}):
        one, other = (describe_errors("t", value, judge(module, value)[1]) for module in modules)
        assert one == other, (value, one, other)


# Every keyword a collector may name: schema, instance, what the line ends with.
EVERY: dict[str, tuple[Any, Any, str]] = {
    "type": ({"type": ["null", "array", "object"]}, 1, "received 1 (number); expected null, array or object; make it [1]"),
    "enum": ({"enum": [1, None, "a"]}, [], 'received [] (array); expected one of 1, null, "a"'),
    "const": ({"const": {"a": [True]}}, None, 'received null (null); expected {"a": [true]}'),
    "minimum": ({"minimum": 2}, 1, "expected at least 2"),
    "maximum": ({"maximum": 2}, 3, "expected at most 2"),
    "exclusiveMinimum": ({"exclusiveMinimum": 2}, 2, "expected more than 2"),
    "exclusiveMaximum": ({"exclusiveMaximum": 2}, 2, "expected less than 2"),
    "multipleOf": ({"multipleOf": 0.1}, 0.25, "expected a multiple of 0.1"),
    "minLength": ({"minLength": 2}, "a", "expected at least 2 characters"),
    "maxLength": ({"maxLength": 1}, "ab", "expected at most 1 character"),
    "pattern": ({"pattern": "^\\d+$"}, "a", "expected text that matches the regular expression ^\\d+$"),
    "minItems": ({"minItems": 1}, [], "received [] (array of 0 items); expected at least 1 item"),
    "maxItems": ({"maxItems": 0}, [1], "received [1] (array of 1 item); expected at most 0 items"),
    "items": ({"prefixItems": [{}], "items": False}, [1, 2], "expected at most 1 item"),
    "uniqueItems": ({"uniqueItems": True}, [1, 1], "expected items that all differ"),
    "contains": ({"contains": {"const": 1}}, [], "expected at least one item of the kind that is required"),
    "minContains": ({"contains": {}, "minContains": 2}, [1], "expected at least 2 items of the kind that is required"),
    "maxContains": ({"contains": {}, "maxContains": 1}, [1, 2], "expected at most 1 item of the kind that is limited"),
    "minProperties": ({"minProperties": 1}, {}, "received {} (object of 0 properties); expected at least 1 property"),
    "maxProperties": ({"maxProperties": 0}, {"a": 1}, "expected at most 0 properties"),
    "required": ({"required": ['a"']}, {}, 'missing required property "a\\""'),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, 'missing property "b", which is required beside "a"'),
    "additionalProperties": ({"additionalProperties": False}, {"a": 1}, 'unexpected property "a"; leave it out'),
    "unevaluatedProperties": (
        {"allOf": [{"properties": {"b": {}}}], "unevaluatedProperties": False}, {"a": 1}, 'unexpected property "a"; known: "b"',
    ),
    "unevaluatedItems": ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "received 2 (number); expected nothing here, leave it out"),
    "propertyNames": (
        {"propertyNames": {"maxLength": 2}}, {"abc": 1}, 'a property may not have the name "abc"; expected at most 2 characters',
    ),
    "not": ({"not": {"const": 1}}, 1, 'received 1 (number); expected anything that does not match {"const": 1}'),
    "anyOf": ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, 'missing required property "a" or "b"'),
    "oneOf": ({"oneOf": [{}, {}]}, 1, "one alternative accepts and no other, but alternatives 1 and 2 do"),
    "false": (False, 1, "unexpected; nothing is accepted here, leave it out"),
    "depth": ({"items": {"$ref": "#"}}, None, "the value is nested too deeply"),
}  # fmt: skip


def test_every_template_is_tried() -> None:
    told = {*EXPECTED, *SENTENCES, *UNEXPECTED, *ALTERNATIVES, "required"} - {"alternatives"}
    assert set(EVERY) == told - {"format", "patternLength", "patternWork", "work"}  # see test_ecma_translation


@pytest.mark.parametrize("keyword", list(EVERY))
def test_every_keyword_says_what_it_wants(keyword: str) -> None:
    schema, instance, ending = EVERY[keyword]
    if keyword == "depth":
        for _ in range(5_000):
            instance = [instance]
    errors = judge(compiled(schema), instance)[1]
    assert [error[1] for error in errors] == [keyword]
    assert describe_errors("t", instance, errors).endswith(ending)


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_told_as_json_is_short_and_can_be_sent() -> None:
    values: list[Any] = ["a" * 10**6, ["a"] * 10**5, nested(50_000), 10**5_000, [10**5_000], "\ud800\u202e"]
    arguments = {f"k{number}": value for number, value in enumerate(values * 5)}
    errors: list[tuple[str, str, object]] = [(f"/{name}", "enum", [value]) for name, value in arguments.items()]
    told = error_objects({**arguments, "p" * 10**6: 1}, [*errors, ("/" + "p" * 10**6, "type", "string")])
    assert len(told) == 20
    assert len(encode(told)) < 20_000
    assert parse(encode(told)) == told
    assert told[0] == {"path": "/k0", "keyword": "enum", "expected": f'["{"a" * 198}…', "received": f'"{"a" * 199}…'}


def hostile_texts() -> list[str]:
    return [
        'a\n- /: \r\u2028\u202e\x1b[0m\ud800"\\\t' * 50,
        "\u202e" * 10**6,
        "\U0010ffff" * 10**4,
        "漢" * 10**5,
        "~1" * 10**4,
    ]


@pytest.mark.parametrize("text", hostile_texts(), ids=range(5))
def test_no_reply_becomes_large(text: str) -> None:
    keywords = [*EXPECTED, *SENTENCES, "additionalProperties", "required", text]
    errors: list[tuple[str, str, object]] = []
    for keyword in keywords:
        errors += [(f"/{text}/{keyword[:9]}{number}", keyword, text) for number in range(3)]
        errors += [(f"/{text}", keyword, [text] * 3), ("", "oneOf", {text: [text] * 100})]
    for arguments in ({}, {text: dict.fromkeys([text, "x"], text)}):
        for start in range(0, len(errors), 7):
            told = describe_errors(text, arguments, errors[start:])
            assert len(told.encode()) < 4096
            assert len(told.split("\n")) <= 6
            assert told.replace("\n", "").isprintable()
            assert all(len(line.encode()) < MAX_LINE_BYTES + 160 for line in told.split("\n"))


def test_a_million_complaints_are_told_at_once() -> None:
    errors: list[tuple[str, str, object]] = [(f"/{number}", "type", "string") for number in range(10**6)]
    begun = time.process_time()
    text, meta = explain_errors("t", [1] * 10**6, errors)
    assert time.process_time() - begun < 0.5
    assert text.startswith("Invalid arguments for t: more than 200 problems; fix and call again\n")
    assert "(the same at /1, /2 and 197 more)" in text
    assert len(meta["mcpc/problems"]) == 20  # type: ignore[arg-type]


def test_comparing_names_is_bounded() -> None:
    known: list[object] = [f"{'n' * 36}{number}" for number in range(10_000)]
    arguments = {f"{'m' * 38}{number}": 1 for number in range(1_000)}
    errors: list[tuple[str, str, object]] = [(f"/{name}", "additionalProperties", known) for name in arguments]
    begun = time.process_time()
    describe_errors("t", arguments, errors)
    assert time.process_time() - begun < 2


def test_the_modules_import_nothing_but_each_other() -> None:
    """A rejection must not cost what importing `difflib` or `re` does."""
    script = "import sys; before = set(sys.modules); import mcpc_runtime.protocol.validation_errors\n"
    script += "print(*sorted(set(sys.modules) - before))"
    run = run_program(
        [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {str(packed_runtime())!r})\n{script}"],
        check=True,
    )
    names = ("mcpc_runtime", "mcpc_runtime.protocol")
    own = [f"mcpc_runtime.protocol.{name}" for name in ("display", "validation_errors")]
    assert sorted({*run.stdout.split()} - {"__future__"}) == sorted((*names, *own))
