"""What a model is told about arguments that a schema refuses."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.protocol import complaint
from mcpc_runtime.protocol.complaint import TEMPLATES, describe
from schemas import compiled, judge

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 2},
        "mode": {"type": "string"},
        "priority": {"enum": ["low", "normal", "high"]},
        "size": {"type": "integer", "minimum": 1},
        "steps": {"type": "array", "items": {"type": ["string", "null"]}},
    },
    "required": ["path"],
    "additionalProperties": False,
}

# Arguments, and the lines after the first.
LINES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ['- /: missing required property "path"']),
    (
        {"path": "ab", "priority": "hihg"},
        ['- /priority: received "hihg" (string); expected one of "low", "normal", "high"'],
    ),
    ({"path": "a"}, ['- /path: received "a" (string); expected at least 2 character(s)']),
    ({"path": 1.5}, ["- /path: received 1.5 (number); expected string"]),
    ({"path": "ab", "size": 2.5}, ["- /size: received 2.5 (number); expected integer"]),
    ({"path": "ab", "size": True}, ["- /size: received true (boolean); expected integer"]),
    (
        {"pth": "ab"},
        [
            '- /pth: unexpected property; known: "path", "mode", "priority", "size", "steps"; did you mean "path"?',
            '- /: missing required property "path"',
        ],
    ),
    ({"path": "ab", "steps": [None, 1]}, ["- /steps/1: received 1 (number); expected string or null"]),
    (
        {"path": "ab", "xyzzy": 1},
        ['- /xyzzy: unexpected property; known: "path", "mode", "priority", "size", "steps"'],
    ),
]


@pytest.mark.parametrize(("arguments", "lines"), LINES)
def test_each_problem_has_a_line_one_can_act_on(arguments: dict[str, Any], lines: list[str]) -> None:
    _, errors = judge(compiled(SCHEMA), arguments)
    first, *others = describe("open", arguments, errors).split("\n")
    plural = "" if len(lines) == 1 else "s"
    assert first == f"Invalid arguments for open: {len(lines)} problem{plural}; fix and call again"
    assert others == lines


def test_the_deepest_come_first_and_five_are_told() -> None:
    errors: list[tuple[str, str, object]] = [
        ("", "required", "a"),
        ("/b", "type", "string"),
        *((f"/c/{number}", "minimum", 3) for number in range(9)),
        ("/d/e/f", "const", 1),
    ]
    lines = describe("t", {"b": 1, "c": list(range(9)), "d": {"e": {"f": 2}}}, errors).split("\n")
    assert lines[0] == "Invalid arguments for t: 12 problems; fix and call again"
    assert lines[1] == "- /d/e/f: received 2 (number); expected 1"
    assert [line.partition(":")[0] for line in lines[2:]] == ["- /c/0", "- /c/1", "- /c/2", "- /c/3"]


# Every keyword a collector may name: schema, instance, what the line ends with.
EVERY: dict[str, tuple[Any, Any, str]] = {
    "type": ({"type": ["null", "array"]}, 1, "received 1 (number); expected null or array"),
    "enum": ({"enum": [1, None, "a"]}, [], 'received [] (array); expected one of 1, null, "a"'),
    "const": ({"const": {"a": [True]}}, None, 'received null (null); expected {"a": [true]}'),
    "minimum": ({"minimum": 2}, 1, "expected at least 2"),
    "maximum": ({"maximum": 2}, 3, "expected at most 2"),
    "exclusiveMinimum": ({"exclusiveMinimum": 2}, 2, "expected more than 2"),
    "exclusiveMaximum": ({"exclusiveMaximum": 2}, 2, "expected less than 2"),
    "multipleOf": ({"multipleOf": 0.1}, 0.25, "expected a multiple of 0.1"),
    "minLength": ({"minLength": 2}, "a", "expected at least 2 character(s)"),
    "maxLength": ({"maxLength": 1}, "ab", "expected at most 1 character(s)"),
    "pattern": ({"pattern": "^\\d+$"}, "a", 'expected text that matches the regular expression "^\\\\d+$"'),
    "minItems": ({"minItems": 1}, [], "expected at least 1 item(s)"),
    "maxItems": ({"maxItems": 0}, [1], "received [1] (array); expected at most 0 item(s)"),
    "items": ({"prefixItems": [{}], "items": False}, [1, 2], "expected at most 1 item(s)"),
    "uniqueItems": ({"uniqueItems": True}, [1, 1], "expected items that all differ"),
    "contains": ({"contains": {"const": 1}}, [], "no item is of the kind that is required"),
    "minContains": ({"contains": {}, "minContains": 2}, [1], "expected at least 2 item(s) of the kind that is required"),
    "maxContains": ({"contains": {}, "maxContains": 1}, [1, 2], "expected at most 1 item(s) of the kind that is limited"),
    "minProperties": ({"minProperties": 1}, {}, "received {} (object); expected at least 1 properties"),
    "maxProperties": ({"maxProperties": 0}, {"a": 1}, "expected at most 0 properties"),
    "required": ({"required": ['a"']}, {}, 'missing required property "a\\""'),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, 'missing property "b", which is required beside "a"'),
    "additionalProperties": ({"additionalProperties": False}, {"a": 1}, "unexpected property; known: none"),
    "propertyNames": (
        {"propertyNames": {"maxLength": 2}},
        {"abc": 1},
        'a property may not have this name; its name must satisfy "maxLength" 2',
    ),
    "not": ({"not": {"const": 1}}, 1, 'received 1 (number); expected anything that does not match {"const": 1}'),
    "oneOf": ({"oneOf": [{}, {}]}, 1, "received 1 (number); matches more than one alternative, expected exactly one"),
    "false": (False, 1, "unexpected value; nothing is accepted here"),
    "depth": ({"items": {"$ref": "#"}}, None, "the value is nested too deeply"),
}  # fmt: skip


def test_every_template_is_tried() -> None:
    assert set(EVERY) == set(TEMPLATES)


@pytest.mark.parametrize("keyword", list(EVERY))
def test_every_keyword_says_what_it_wants(keyword: str) -> None:
    schema, instance, ending = EVERY[keyword]
    if keyword == "depth":
        for _ in range(5_000):
            instance = [instance]
    errors = judge(compiled(schema), instance)[1]
    assert [error[1] for error in errors] == [keyword]
    assert describe("t", instance, errors).endswith(ending)


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
    text = describe("t", {"a": value}, [("/a", "type", "boolean")])
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
    text = describe(hostile, {hostile: hostile, "b": hostile}, errors)
    assert len(text.split("\n")) == 5
    assert text.replace("\n", "").isprintable()
    text.encode()


def test_a_long_pointer_or_list_is_shortened() -> None:
    names = [f"name{number}" for number in range(10_000)]
    text = describe("t", {"n" * 10_000: 1}, [("/" + "n" * 10_000, "additionalProperties", names)])
    assert len(text) < 700
    assert "… (10000 in all)" in text


def test_a_pointer_that_leads_nowhere_harms_nothing() -> None:
    for pointer in ("/a/b/0", "/x", "/l/7", "/l/-", "/l/x", "/a~1b", "/²"):
        text = describe("t", {"a": {"b": []}, "l": [1]}, [(pointer, "type", "string")])
        assert "received null (null)" in text


def test_a_pointer_is_followed_through_its_escapes() -> None:
    assert "received 7 (number)" in describe("t", {"a/b~1": [0, 7]}, [("/a~1b~01/1", "type", "string")])


def test_an_unknown_keyword_is_named() -> None:
    assert describe("t", 1, [("", "newKeyword", 3)]).endswith("- /: received 1 (number); refused by newKeyword")


def test_the_module_imports_nothing() -> None:
    path = Path(str(complaint.__file__))
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["from __future__ import annotations"]
    script = (
        f"import sys; before = set(sys.modules); exec({path.read_text()!r}); print(sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-ISc", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() in ("[]", "['__future__']")
