"""What a model is told about arguments that a schema refuses."""

from __future__ import annotations

import subprocess
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
from support.needs import ROOT
from support.schemas import compiled, judge

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 2},
        "mode": {"type": "string"},
        "priority": {"enum": ["low", "normal", "high"]},
        "size": {"type": "integer", "minimum": 1},
        "steps": {"type": "array", "items": {"type": ["string", "null"]}},
        "dry": {"type": "boolean"},
    },
    "required": ["path"],
    "additionalProperties": False,
}

# Arguments, and the lines after the first.
LINES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ['- /: missing required property "path"']),
    (
        {"path": "ab", "priority": "hihg"},
        ['- /priority: received "hihg" (string); expected one of "low", "normal", "high" (did you mean "high"?)'],
    ),
    ({"path": "ab", "priority": "HIGH"}, [
        '- /priority: received "HIGH" (string); expected one of "low", "normal", "high" (did you mean "high"?)'
    ]),
    ({"path": "ab", "priority": 1}, ['- /priority: received 1 (number); expected one of "low", "normal", "high"']),
    ({"path": "a"}, ['- /path: received "a" (string of 1 character); expected at least 2 characters']),
    ({"path": 1.5}, ['- /path: received 1.5 (number); expected string; put it into quotes, "1.5"']),
    ({"path": None}, ["- /path: received null (null); expected string; leave it out if it is optional"]),
    ({"path": ["ab"]}, ['- /path: received ["ab"] (array); expected string; make it "ab"']),
    ({"path": {"a": 1}}, ['- /path: received {"a": 1} (object); expected string']),
    ({"path": "ab", "size": 2.5}, ["- /size: received 2.5 (number); expected integer"]),
    ({"path": "ab", "size": True}, ["- /size: received true (boolean); expected integer"]),
    ({"path": "ab", "size": "5"}, ['- /size: received "5" (string); expected integer; write it without quotes, 5']),
    ({"path": "ab", "size": "5.5"}, ['- /size: received "5.5" (string); expected integer']),
    ({"path": "ab", "size": "05"}, ['- /size: received "05" (string); expected integer']),
    ({"path": "ab", "dry": "False"}, [
        '- /dry: received "False" (string); expected boolean; write it without quotes, false'
    ]),
    ({"path": "ab", "steps": "x"}, ['- /steps: received "x" (string); expected array; make it ["x"]']),
    ({"path": "ab", "steps": 7}, ["- /steps: received 7 (number); expected array; make it [7]"]),
    ({"path": "ab", "steps": '["x"]'}, [
        r'- /steps: received "[\"x\"]" (string); expected array; give the array itself, not as text in quotes'
    ]),
    ({"pth": "ab"}, ['- /: missing required property "path" (unexpected "pth", did you mean "path"?)']),
    ({"file_path": "ab"}, ['- /: missing required property "path" (unexpected "file_path", did you mean "path"?)']),
    ({"xyzzy": 1}, [
        ('- /: missing required property "path"; unexpected property "xyzzy"; '
        'known: "path", "mode", "priority", "size", "steps", "dry"')
    ]),
    ({"pth": "ab", "seize": 1}, [
        ('- /: missing required property "path"; '
        'unexpected properties "pth" (did you mean "path"?), "seize" (did you mean "size"?)')
    ]),
    ({"path": "ab", "Path": 1}, [
        '- /: unexpected property "Path"; known: "path", "mode", "priority", "size", "steps", "dry"'
    ]),
    ({"path": "ab", "steps": [None, 1]}, [
        '- /steps/1: received 1 (number); expected string or null; put it into quotes, "1"'
    ]),
    ({"path": "ab", "steps": [1, "a", 2, 3, 4]}, [
        ('- /steps/0: received 1 (number); expected string or null; put it into quotes, "1" '
        "(the same at /steps/2, /steps/3 and 1 more)")
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "lines"), LINES)
def test_each_problem_has_a_line_one_can_act_on(arguments: dict[str, Any], lines: list[str]) -> None:
    _, errors = judge(compiled(SCHEMA), arguments)
    first, *others = describe_errors("open", arguments, errors).split("\n")
    assert others == lines
    count = "4 problems" if "and 1 more" in lines[0] else "1 problem"
    assert first == f"Invalid arguments for open: {count}; fix and call again"


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
        {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
            "required": ["lat", "lon"],
        },
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    ]
}
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
    (OPEN, {"kind": "ulr", "url": "x"}, [
        '- /kind: received "ulr" (string); expected one of "url", "file" (did you mean "url"?)'
    ]),
    (TARGET, {"kind": True}, ['- /kind: received true (boolean); expected one of "url", "file"']),
    (TARGET, {}, ['- /: missing required property "kind" ("url" or "file")']),
    (OPEN, {}, ['- /: missing required property "kind" ("url" or "file")']),
    (TARGET, {"url": "x", "method": "get"}, [
        '- /method (kind "url"): received "get" (string); expected "GET" (did you mean "GET"?)',
        '- /: missing required property "kind" ("url")',
    ]),
    (TARGET, "x", ['- /: received "x" (string); expected object']),
    (OPEN, 5, ['- /: received 5 (number); expected object or string; put it into quotes, "5"']),
    (UNTAGGED, {"lat": 1, "long": 2}, ['- /: missing required property "lon" (there is "long", did you mean "lon"?)']),
    (UNTAGGED, {"city": 1}, ['- /city: received 1 (number); expected string; put it into quotes, "1"']),
    (EITHER, {}, ['- /: missing required property "id" or ("owner" and "name")']),
    (EITHER, {"ID": 3}, [
        '- /: missing required property "id" or ("owner" and "name") (there is "ID", did you mean "id"?)'
    ]),
    (NESTED, {"kind": "many", "of": [{"kind": "file", "path": "x"}, {"kind": "url"}]}, [
        '- /of/1 (kind "url"): missing required property "url"'
    ]),
    (NESTED, {"kind": "one", "of": {"kind": "file", "path": 1}}, [
        '- /of/path (kind "file"): received 1 (number); expected string; put it into quotes, "1"'
    ]),
    ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, 0, [
        "- /: received 0 (number); expected at least 1"
    ]),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"maximum": 0}]}, 3, [
        "- /: received 3 (number); expected a value that one alternative accepts and no other, but alternatives 1 and 2 do"
    ]),
    ({"minLength": 3, "pattern": "^[a-z]+$"}, "A", [
        ('- /: received "A" (string of 1 character); expected at least 3 characters and '
        "text that matches the regular expression ^[a-z]+$")
    ]),
    ({"required": ["path1", "path2"]}, {"path1": 1}, ['- /: missing required property "path2"']),
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


def test_the_deepest_come_first_and_five_are_told() -> None:
    errors: list[tuple[str, str, object]] = [
        ("", "required", "a"),
        ("/b", "type", "string"),
        *((f"/c/{name}", "minimum", 3) for name in "abcdefghi"),
        ("/d/e/f", "const", 1),
    ]
    lines = describe_errors("t", {"b": 1, "c": dict.fromkeys("abcdefghi", 0), "d": {"e": {"f": 2}}}, errors).split("\n")
    assert lines[0] == "Invalid arguments for t: 12 problems; fix these first and call again"
    assert lines[1] == "- /d/e/f: received 2 (number); expected 1"
    assert [line.partition(":")[0] for line in lines[2:]] == ["- /c/a", "- /c/b", "- /c/c", "- /c/d"]


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


@pytest.mark.parametrize(
    "value",
    [
        "a" * 10**6,
        ["a"] * 10**5,
        {f"k{number}": number for number in range(10**4)},
        nested(50_000),
        10**5_000,
        {"a" * 10**6: 1},
    ],
    ids=["string", "array", "object", "deep", "integer", "key"],
)
def test_a_long_value_is_shortened(value: Any) -> None:
    text = describe_errors("t", {"a": value}, [("/a", "type", "boolean")])
    assert len(text) < 200
    assert text.startswith("Invalid arguments for t: 1 problem; fix and call again\n- /a: received ")
    assert text.endswith("; expected boolean")


def test_nothing_breaks_its_line_or_reorders_it() -> None:
    hostile = 'a\n- /: \r\u2028\u202e\x1b[0m\ud800"\\\t'
    errors: list[tuple[str, str, object]] = [
        (f"/{hostile}", "additionalProperties", [hostile]),
        ("/b", "enum", [hostile]),
        ("", "required", hostile),
        ("", hostile, hostile),
    ]
    text = describe_errors(hostile, {hostile: hostile, "b": hostile}, errors)
    assert len(text.split("\n")) == 4
    assert text.replace("\n", "").isprintable()
    text.encode()


def test_a_long_pointer_or_list_is_shortened() -> None:
    names = [f"name{number}" for number in range(10_000)]
    text = describe_errors("t", {"n" * 10_000: 1}, [("/" + "n" * 10_000, "additionalProperties", names)])
    assert len(text) < 700
    assert "… (10000 in all)" in text


def test_what_is_told_as_json_is_short_and_can_be_sent() -> None:
    values: list[Any] = ["a" * 10**6, ["a"] * 10**5, nested(50_000), 10**5_000, [10**5_000], "\ud800\u202e"]
    arguments = {f"k{number}": value for number, value in enumerate(values * 5)}
    errors: list[tuple[str, str, object]] = [(f"/{name}", "enum", [value]) for name, value in arguments.items()]
    told = error_objects({**arguments, "p" * 10**6: 1}, [*errors, ("/" + "p" * 10**6, "type", "string")])
    assert len(told) == 20
    assert len(encode(told)) < 20_000
    assert parse(encode(told)) == told
    assert told[0] == {"path": "/k0", "keyword": "enum", "expected": f'["{"a" * 198}…', "received": f'"{"a" * 199}…'}


def test_a_tag_is_no_problem_of_its_own() -> None:
    value = {"kind": "url", "uri": "x"}
    _, errors = judge(compiled(TARGET), value)
    assert ("", "oneOf", {"kind": ["url"]}) in errors
    assert [problem["keyword"] for problem in error_objects(value, errors)] == ["additionalProperties", "required"]  # type: ignore[index,call-overload]


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
    run = subprocess.run(
        [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'runtime')!r})\n{script}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    names = ("mcpc_runtime", "mcpc_runtime.protocol")
    own = [f"mcpc_runtime.protocol.{name}" for name in ("display", "suggestions", "validation_errors")]
    assert sorted({*run.stdout.split()} - {"__future__"}) == sorted((*names, *own))
