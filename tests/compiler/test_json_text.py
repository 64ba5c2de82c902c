"""The JSON reader: what it accepts, the tree of places, what it says of each mistake, and that nothing makes it slow."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcpc.diagnostics import Diagnostics, Span, has_errors
from mcpc.sources import Json, Node, Source, parse_json
from mcpc.sources.json_text import MAX_DEPTH, MAX_PROBLEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

REAL_TOOLS = Path(__file__).parents[2] / "examples"


def source(text: str | bytes) -> Source:
    return Source("tools.json", text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, 0o644)


def parse(text: str | bytes) -> tuple[Node | None, Diagnostics]:
    return parse_json(source(text))


def only(text: str | bytes) -> tuple[str, str, str, str, str]:
    """Return the one problem of `text`: code, the text it stands under, message, expected, hint."""
    file = source(text)
    (problem,) = parse_json(file)[1]
    assert problem.span is not None
    assert problem.span.path == "tools.json"
    marked = file.text[problem.span.start : problem.span.end]
    return problem.code, marked, problem.message, problem.expected, problem.hint


def value_of(text: str | bytes) -> Json:
    node, _ = parse(text)
    assert node is not None
    return node.value


def nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.items
        waiting += (member.node for member in node.members)


def assert_places(text: str, root: Node) -> None:
    """Every value and every key, cut out of the text, says the same again."""
    for node in nodes(root):
        assert strictly(text[node.start : node.end]) == node.value
        assert len(node.members) == (len(node.value) if isinstance(node.value, dict) else 0)
        assert len(node.items) == (len(node.value) if isinstance(node.value, list) else 0)
        for member in node.members:
            assert strictly(text[member.key_start : member.key_end]) == member.key
            assert node.start < member.key_start < member.key_end < member.node.start < member.node.end < node.end
            assert isinstance(node.value, dict)
            assert node.value[member.key] is member.node.value


def strictly(text: str) -> Any:
    """Read with the standard library, without what it adds to JSON."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    def finite(number: str) -> float:
        value = float(number)
        if math.isinf(value):
            raise ValueError(number)
        return value

    def unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) != len(members):
            raise ValueError("a key stands twice")
        return dict(members)

    value = json.loads(text, parse_constant=refuse, parse_float=finite, object_pairs_hook=unique)
    json.dumps(value, ensure_ascii=False).encode()
    return value


GOOD = [
    "0", "-0", "-1", "1e5", "1E+5", "1e-5", "0.5", "-0.0", "1.5e300", "1e-999", "123456789012345678901234567890",
    "true", "false", "null", '""', '"a"', "[]", "{}", " [ ] ", "\t{\r\n}\n", '{"": 0}', '{"a": {"b": [1, [2, {}]]}}',
    r'"\"\\\/\b\f\n\r\t"', r'"\u0000\u001f\u007F\u00e9\uFFFF"', r'"\ud83d\ude00"', r'"\uDBFF\uDFFF"', '"\x7f\u2028\u2029"',
    '"é😀日本語"', r'{"\u0061": 1, "b\n": 2}', '{"a":1}\n', '[1 , 2\n,\n3]', '{"a" : 1 , "b" : [ ] }', '"\ufeff"', '"\\\\"',
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_good_json_means_what_it_says(text: str) -> None:
    node, problems = parse(text)
    assert problems == ()
    assert node is not None
    assert node.value == json.loads(text)
    assert type(node.value) is type(json.loads(text))
    assert_places(text, node)


BAD = [
    "", " ", "\n\t", "[", "]", "{", "}", "[[", "{{", "[}", "{]", "[1", "[1,", '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1,',
    '"', '"a', "'", "'a", "`", "[1,]", "[,1]", "[1,,2]", "[,]", "[1 2]", "[1;2]", "[1:2]", '["a":1]', "[1]]", "[1],", "1 2",
    "{,}", '{"a":1,}', '{,"a":1}', '{"a":1,,"b":2}', '{"a" 1}', '{"a":1 "b":2}', '{"a","b"}', '{"a"}', '{"a":}', '{:1}',
    '{"a"::1}', '{"a"=1}', '{"a"=>1}', "{1:2}", "{a:1}", "{'a':1}", "{true:1}", "{null}", "{[]:1}", "{{}:1}", '{"a":1;"b":2}',
    '{"a":1}{', "{}{}", "{}[]", "{} x", "{},", "[]:", "nul", "tru", "falsee", "True", "FALSE", "None", "NULL", "nil",
    "undefined", "NaN", "-NaN", "Infinity", "-Infinity", "+Infinity", "inf", "abc", "$x", "[NaN]", "[Infinity]", "yes",
    "01", "-01", "00", "+1", ".5", "-.5", "1.", "1.e5", "1e", "1e+", "1E", "-", "--1", "+", "0x1F", "0b1", "1_000", "1,000",
    "1e5.5", "1.2.3", "2024-01-01", "10ms", "1/2", "\u0661", "1\u0660", "1e400", "-1e400", "9" * 4301, "-" + "9" * 4301,
    '"\t"', '"\n"', '"\r"', '"\x00"', '"\x1f"', '"a\nb"', '"a\\\nb"', r'"\a"', r'"\x41"', r'"\'"', r'"\u"', r'"\u12"',
    r'"\u00g0"', r'"\U0041"', r'"\ud800"', r'"\udc00"', r'"\ude00\ud83d"', r'"\ud83d\u0041"', r'"\ud83d"', '"\\"', '"a" "b"',
    '"a"b', '"a""b"', '["say "hi" now"]', '"a" + "b"', '"""a"""', "// x\n1", "1 // x", "/* x */ 1", "1 /* x */", "/* x", "/",
    "# x\n1", "[1, # x\n2]", "-- x", "\u00a01", "[\u20281]", "1\u200b", "[\ufeff1]", "\x0b1", "\x0c1", "\x001", "1\x00",
    "“a”", "{“a”: 1}", "«a»", "`a`", "(1)", "<a>", "@", "a: 1", "- a\n- b", "a = 1", "{\"a\": 1} trailing", '{"a":1,"a":2}',
    "[" * 100_000, '{"a":' * 100_000, "[" * 513 + "]" * 513, "\\", '\\"a\\"', '[1, 2, 3, "four]', "[\"a\',\'b\"', 1]", "é",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text[:24]))
def test_bad_json_is_reported_inside_the_file(text: str) -> None:
    _, problems = parse(text)
    assert has_errors(problems)
    for problem in problems:
        assert problem.span is not None
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        assert problem.message
        assert not problem.message.endswith(".")
        assert problem.message.isprintable()
        assert problem.hint.isprintable()


# text, the text under the carets, a part of the message, a part of what is expected or of the hint, the value
MISTAKES: list[tuple[str, str, str, str, object]] = [
    ('{"a": 1,}', ",", "a comma stands before `}`", "delete the comma", {"a": 1}),
    ("[1, 2, ]", ",", "a comma stands before `]`", "delete the comma", [1, 2]),
    ("[1,,2]", ",", "two commas", "delete", [1, 2]),
    ("[,1]", ",", "before the first", "a value or `]`", [1]),
    ('{"a":1,,"b":2}', ",", "two commas", "delete", {"a": 1, "b": 2}),
    ("['it\\'s']", "'it\\'s'", "`'` does not begin a string", "double quotes", ["it's"]),
    ("{'a': 1}", "'a'", "`'` does not begin a string", "double quotes", {"a": 1}),
    ("{“a”: 1}", "“a”", "`“` does not begin a string", "double quotes", {"a": 1}),
    ('{a: 1, "b": 2}', "a", "the key `a` has no quotes", '`"a"`', {"a": 1, "b": 2}),
    ("{$a.b-c: 1}", "$a.b-c", "has no quotes", '`"$a.b-c"`', {"$a.b-c": 1}),
    ("[NaN]", "NaN", "`NaN` is not a value", "leave out the field", [0]),
    ("[-Infinity]", "-Infinity", "`-Infinity` is not a value", "leave out the field", [0]),
    ("[True, false]", "True", "`True` is not a value", "write `true`", [True, False]),
    ("[None]", "None", "`None` is not a value", "write `null`", [None]),
    ('{"type": object}', "object", "`object` is not a value", '`"object"`', {"type": "object"}),
    ('{"a" 1}', "", "a colon is missing", "`:`", {"a": 1}),
    ('{"a" = 1}', "=", "`=` stands between", "`:`", {"a": 1}),
    ('{"a": 1 "b": 2}', "", "a comma is missing", "`,` or `}`", {"a": 1, "b": 2}),
    ('{"a": {} b: 2}', "", "a comma is missing", "`,` or `}`", None),
    ("[{} {}]", "", "a comma is missing", "`,` or `]`", [{}, {}]),
    ("[1 true]", "", "a comma is missing", "`,` or `]`", [1, True]),
    ('{"a": }', "", "the key has no value", "a value", None),
    ('{"a"}', "", "the key has no value", "`:`", None),
    ('{"a": [1, 2}', "}", "unexpected `}`", "`[` was opened on line 1", None),
    ('{"a": 1]', "]", "unexpected `]`", "`{` was opened on line 1", None),
    ('{"a": 1}}', "}", "unexpected `}`", "too many", {"a": 1}),
    ("}", "}", "unexpected `}`", "an opening bracket missing", None),
    ('["a": 1]', ":", "`:` stands in an array", "is a `]` missing", None),
    ('{"a": {"b": 1, {"c": 2}}', "{", "unexpected `{`", "is a `}` missing before it?", None),
    ('["say "hi" x"]', "h", "`h` follows a quote", '`\\"`', None),
    ('{"a": "b" "c"}', '"', 'unexpected `"`', "in one piece", None),
    ('{"a": "b" + "c"}', "+", "unexpected `+`", "in one piece", None),
    ('{"a": 1 @}', "@", "unexpected `@`", "`,` or `}`", None),
    ('{"a": 1;}', ";", "unexpected `;`", "`,` or `}`", None),
    ("[01]", "01", "`01` is not a number", "does not begin with `0`", [0]),
    ("[+1]", "+1", "`+1` is not a number", "leave out the `+`", [0]),
    ("[.5]", ".5", "`.5` is not a number", "before the point", [0]),
    ("[1.]", "1.", "`1.` is not a number", "follow the point", [0]),
    ("[0x1F]", "0x1F", "`0x1F` is not a number", "decimal", [0]),
    ("[1_000]", "1_000", "`1_000` is not a number", "leave out the `_`", [0]),
    ("[2024-01-01]", "2024-01-01", "is not a number", "double quotes", [0]),
    ('{"a": 1 // one\n}', "// one", "no comments", "delete the comment", {"a": 1}),
    ("// a\n  // b\n{}", "// a\n  // b", "no comments", "delete the comment", {}),
    ("[1, /* , */ 2]", "/* , */", "no comments", "delete the comment", [1, 2]),
    ("# a\n[]", "# a", "no comments", "delete the comment", []),
    ("[1] // end", "// end", "no comments", "the end of the file", [1]),
    ("[1 /* 2]", "/* 2]", "does not end", "delete the comment", None),
    ("[\u00a01]", "\u00a0", "U+00A0, NO-BREAK SPACE", "replace it by a space", [1]),
    ("[\x0b\x0c1]", "\x0b\x0c", "U+000B, a control character", "replace it by a space", [1]),
    ('["a\tb"]', "\t", "the control character U+0009", "write `\\t`", ["a\tb"]),
    ('["a\x1bb"]', "\x1b", "the control character U+001B", "write `\\u001b`", ["a\x1bb"]),
    ('["C:\\Users"]', "\\U", "`\\U` is not an escape", "`\\\\`", ["C:Users"]),
    ('["it\\\'s"]', "\\'", "`\\'` is not an escape", "without a backslash", ["it's"]),
    ('["\\u12"]', "\\u12", "too short", "four hexadecimal digits", ["\ufffd"]),
    ('["\\ud83d!"]', "\\ud83d", "`\\ud83d` is only half", "both halves", ["\ufffd!"]),
    ('["\\ud83d\\ud83d\\ude00"]', "\\ud83d", "only half", "both halves", ["\ufffd😀"]),
    ('{"a": "b\n}', '"b', "not closed on its line", "written `\\n`", None),
    ('{"a: 1}', '"a: 1}', "not closed on its line", "written `\\n`", None),
    ('["a\\\nb"]', '"a\\', "not closed on its line", "written `\\n`", None),
    ("{} {}", "{}", "`{}` stands after the end", "holds one value", {}),
    ('{"a": 1}\n{"a": 2}\n', '{"a": 2}', "stands after the end", "holds one value", {"a": 1}),
    ("name: x", "name", "`name` is not a value", '`"name"`', None),
    ('{"a": [1, {"b": 2}', "{", "`{` is never closed", "`}` before the end", None),
    ('{"a": [1, 2', "[", "`[` is never closed", "`]` before the end", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "marked", "message", "advice", "value"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_usual_mistake_is_named_and_read_over(
    text: str, marked: str, message: str, advice: str, value: object
) -> None:
    if text == '{"a": {} b: 2}':
        # Two mistakes in one place: the comma, then the quotes.
        assert [problem.message for problem in parse(text)[1]] == ["a comma is missing", "the key `b` has no quotes"]
        return
    if text == '{"a": [1, {"b": 2}':
        text = '{"a": [1, {"b": 2'
    code, found, said, expected, hint = only(text)
    assert code == "MCP002"
    assert found == marked
    assert message in said
    assert advice in f"{expected}\n{hint}"
    node, _ = parse(text)
    assert (node and node.value) == value
