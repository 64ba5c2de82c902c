"""The JSON reader: what it accepts, the tree of places, what it says of each mistake; nothing makes it slow."""

import ast
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.diagnostics import Diagnostics, Span
from mcpc.reading import Json, Node, Source, parse_json
from mcpc.reading.json_mistakes import quoted_text
from mcpc.reading.json_scanner import MAX_DIGITS, MAX_FLAWS, integer_value, number_value, string_value
from mcpc.reading.json_text import MAX_DEPTH, MAX_PROBLEMS, MAX_VALUES

GOLDEN = Path(__file__).parents[1] / "golden/sources"


def source(text: str | bytes) -> Source:
    return Source("tools.json", text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, 0o644)


def parse(text: str | bytes) -> tuple[Node | None, Diagnostics]:
    return parse_json(source(text))


def only(text: str | bytes) -> tuple[str, str, str, str, str]:
    """Return the one problem of `text`: code, the text it stands under, message, expected, hint."""
    file = source(text)
    (problem,) = parse_json(file)[1]
    assert problem.span.path == "tools.json"
    marked = file.text[problem.span.start : problem.span.end]
    return problem.code, marked, problem.message, problem.expected, problem.hint


def value_of(text: str | bytes) -> Json:
    node, _ = parse(text)
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
    r'"\"\\\/\b\f\n\r\t"', r'"\u0000\u001f\u007F\u00e9\uFFFF"', r'"\ud83d\ude00"', r'"\uDBFF\uDFFF"',
    '"\x7f\u2028\u2029"', '"é😀日本語"', r'{"\u0061": 1, "b\n": 2}', '{"a":1}\n', '[1 , 2\n,\n3]',
    '{"a" : 1 , "b" : [ ] }', '"\ufeff"', '"\\\\"',
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_good_json_means_what_it_says(text: str) -> None:
    node, problems = parse(text)
    assert problems == ()
    assert node.value == json.loads(text)
    assert type(node.value) is type(json.loads(text))
    assert_places(text, node)


CASES = [ast.literal_eval(line) for line in (GOLDEN / "json.cases").read_text().splitlines()]
BAD = [*CASES, "9" * 4301, "-" + "9" * 4301, "[" * 100_000, '{"a":' * 100_000, "[" * 513 + "]" * 513]


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text[:24]))
def test_bad_json_is_reported_inside_the_file(text: str) -> None:
    _, problems = parse(text)
    assert problems
    for problem in problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        assert problem.message
        assert not problem.message.endswith(".")
        assert problem.message.isprintable()
        assert problem.hint.isprintable()


def printed(text: str) -> str:
    """Return the problems of a text, each with the part of the text that it is about, and the value that was read."""
    node, problems = parse(text)
    lines = [ascii(text), f"  = {ascii(node.value) if node else 'nothing'}"]
    for problem in problems:
        place = f"{problem.span.start}-{problem.span.end} {text[problem.span.start : problem.span.end]!a}"
        lines.append(f"  {problem.code} {place}: {problem.message} | {problem.expected} | {problem.hint}")
    return "".join(f"{line}\n" for line in lines)


def test_what_is_said_of_each_mistake(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "json.txt", "\n".join(map(printed, CASES)))


def test_a_text_in_a_message_is_short_and_visible() -> None:
    assert quoted_text("a" * 40) == "a" * 40
    assert quoted_text("a" * 41) == "a" * 37 + "..."
    assert quoted_text("\u200ba\n", 3) == "U+200BaU+000A"


@pytest.mark.parametrize(
    ("count", "is_read", "is_cut"),
    [
        (MAX_PROBLEMS - 1, True, False),
        (MAX_PROBLEMS, True, True),
        (MAX_PROBLEMS + 1, False, True),
        (10_000, False, True),
    ],
)
def test_endless_mistakes_are_not_all_reported(count: int, is_read: bool, is_cut: bool) -> None:
    node, problems = parse("[" + "'a'," * count + "1]")
    assert (node is not None) is is_read
    assert len(problems) == min(count, MAX_PROBLEMS)
    assert (problems[-1].message == "too many problems; the rest of the file was not judged") is is_cut


@pytest.mark.parametrize("count", [MAX_VALUES, MAX_VALUES + 1])
def test_a_file_may_hold_many_values_but_not_more(count: int) -> None:
    node, problems = parse("[" + "1," * (count - 2) + "1]")
    assert (node is None) == (count > MAX_VALUES)
    assert [problem.code for problem in problems] == ["MCP008"] * (count > MAX_VALUES)


def test_tokens_have_values() -> None:
    assert string_value(r'x"a\u00e9\ud83d\ude00\n"y', 1, 24) == ("aé😀\n", [])
    value, flaws = string_value('"' + "\\x" * (MAX_FLAWS + 1) + '"', 0, 2 * MAX_FLAWS + 4)
    assert (value, [(flaw.start, flaw.end) for flaw in flaws]) == (
        "x" * (MAX_FLAWS + 1),
        [(1 + 2 * number, 3 + 2 * number) for number in range(MAX_FLAWS)],
    )
    assert integer_value("a-12,", 1, 4) == (-12, [])
    for sign in ("", "-"):
        long, longer = sign + "1" * MAX_DIGITS, sign + "1" * (MAX_DIGITS + 1)
        assert integer_value(long, 0, len(long)) == (int(long), [])
        value, (flaw,) = integer_value(longer, 0, len(longer))
        assert (value, flaw.code, flaw.start, flaw.end) == (0, "MCP007", 0, len(longer))
        assert flaw.message == f"the integer has {MAX_DIGITS + 1} digits"
    assert number_value("a1.5,", 1, 4) == (1.5, [])
    value, (flaw,) = number_value("-1e999", 0, 6)
    assert (value, flaw.code, flaw.start, flaw.end) == (0.0, "MCP007", 0, 6)


def test_a_name_in_a_message_is_short_and_harmless() -> None:
    key = "\x1b[2J" + "k" * 10_000
    text = json.dumps({"a": 1})[:-1] + f", {json.dumps(key)}: 1, {json.dumps(key)}: 2}}"
    (problem,) = parse(text)[1]
    assert len(problem.message) < 100
    assert problem.message.isprintable()


def test_a_key_that_stands_twice() -> None:
    text = '{\n  "name": "a",\n  "n\\u0061me": "b",\n  "x": 1\n}'
    code, marked, message, _, hint = only(text)
    assert (code, marked) == ("MCP003", '"n\\u0061me"')
    assert "`name`" in message
    assert "line 2" in hint
    node, _ = parse(text)
    assert [member.key for member in node.members] == ["name", "name", "x"]
    last = node.get("name")
    assert last.value == "b"
    assert node.value == {"name": "b", "x": 1}


def test_integers_are_exact() -> None:
    longest = "9" * 4300
    assert value_of(f"[{longest}, -{longest}]") == [int(longest), -int(longest)]


def test_a_lower_limit_of_the_interpreter_is_reported_not_raised() -> None:
    usual = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert only("1" * 641)[0] == "MCP007"
        assert parse("1" * 640)[1] == ()
    finally:
        sys.set_int_max_str_digits(usual)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting(opening: str, closing: str) -> None:
    deepest = opening * (MAX_DEPTH - 1) + "[]" + closing * (MAX_DEPTH - 1)
    node, problems = parse(deepest)
    assert problems == ()
    assert repr(node)
    assert len({node, node}) == 1
    assert json.loads(deepest) == node.value
    code, _, message, _, _ = only(opening + deepest + closing)
    assert (code, message) == ("MCP008", "brackets are nested more than 512 deep")
    assert parse(opening + deepest + closing)[0] is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '"' + "\\x" * 500_000 + '"',
        '["' + "a\\n" * 500_000,
        '"' + "\\" * 1_000_001,
        "[" + "," * 1_000_000,
        "[" + "'a'," * 200_000,
        "[" + "1 " * 500_000,
        "{" + "a:1 " * 200_000,
        "/*" * 500_000,
        "//\n" * 500_000,
        "[" + "/*" * 500_000,
        " " * 2_000_000,
        "\u00a0" * 1_000_000,
        "1" * 2_000_000,
        "1" * 2_000_000 + "x",
        "0." + "1" * 2_000_000,
        "1e" + "1" * 2_000_000,
        "-" * 1_000_000,
        "a" * 1_000_000,
        "'" * 1_000_000,
        '"' * 1_000_000,
        "[" + "1," * 10 + " " * 1_000_000,
        "{" + '"a":1,' * 200_000 + '"a":1}',
    ],
    ids=lambda text: f"{text[:8]!r} x {len(text)}",
)
@pytest.mark.sampled(3)
def test_no_input_makes_reading_slow(text: str) -> None:
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < 12


def test_a_large_file_is_read_fast() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string", "minLength": 1}}, "required": ["path"]}
    tools = [{"name": f"tool_{n}", "description": 'Says "é".\n' * 4, "inputSchema": schema} for n in range(9_000)]
    text = json.dumps({"tools": tools})
    assert len(text) > 2_000_000
    began = time.process_time()
    node, problems = parse(text)
    assert time.process_time() - began < 12
    assert problems == ()
    assert node.value == {"tools": tools}
    assert sum(1 for _ in nodes(node)) > 99_000


def test_a_node_knows_its_kind_and_its_members() -> None:
    node, _ = parse('{"o": {}, "a": [], "s": "", "i": 1, "f": 1.5, "t": true, "n": null}')
    kinds = {member.key: member.node.kind for member in node.members}
    expected = ["object", "array", "string", "number", "number", "boolean", "null"]
    assert list(kinds.values()) == expected
    assert node.kind == "object"
    assert node.get("x") is None
    member = node.members[2]
    assert member.key_span == Span("tools.json", 19, 22)
    assert member.node.span == Span("tools.json", 24, 26)
    assert member.node.get("s") is None
    assert node.span == Span("tools.json", 0, 67)


def test_a_byte_order_mark_is_a_warning() -> None:
    text = '\ufeff{"a": 1}'
    node, (problem,) = parse(text)
    assert (node.value, node.start) == ({"a": 1}, 1)
    assert (problem.code, problem.severity, problem.span) == ("MCP010", "warning", Span("tools.json", 0, 1))
    assert [problem.code for problem in parse("\ufeff")[1]] == ["MCP010", "MCP002"]


def test_a_byte_that_is_not_utf8_is_shown_and_read_over() -> None:
    file = source('{"é": "not'.encode() + b'\xe9", "b": "\xff\xfe"}')
    node, (first, second) = parse_json(file)
    assert node.value == {"é": "not\ufffd", "b": "\ufffd\ufffd"}
    assert (first.code, first.message) == ("MCP001", "the byte 0xE9 is not UTF-8")
    assert first.hint == "save it as UTF-8; in Windows-1252 this would be `é`"
    assert first.span == Span("tools.json", 10, 11)
    assert (second.message, second.span) == ("the bytes 0xFF 0xFE are not UTF-8", Span("tools.json", 20, 22))


@pytest.mark.parametrize("data", [b"\x80", b"[\xc3]", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80", b'"\xe2\x82"'])
def test_malformed_utf8(data: bytes) -> None:
    assert "MCP001" in {problem.code for problem in parse(data)[1]}


def test_a_file_in_another_encoding_does_not_flood_the_report() -> None:
    text = "[" + ", ".join(['"é"'] * 1000) + "]"
    assert [problem.code for problem in parse(text.encode("latin-1"))[1]] == ["MCP001"] * 10


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_wide_encodings_are_named(encoding: str) -> None:
    node, (problem,) = parse('{"a": 1}'.encode(encoding))
    assert node is None
    assert (problem.code, problem.message) == ("MCP001", "the file is encoded in UTF-16 or UTF-32")


def outcome(text: str) -> tuple[bool, Any]:
    try:
        return True, strictly(text)
    except (ValueError, RecursionError):
        return False, None


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


@settings(max_examples=200, deadline=None)
@given(VALUES, st.sampled_from([None, 0, 1, "\t"]), st.booleans())
def test_random_json_is_read_as_the_standard_library_reads_it(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    node, problems = parse(text)
    assert problems == ()
    assert node.value == json.loads(text)
    assert_places(text, node)


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from("[]{}\",:\\u0d8ae.+-1 \n\t/*#'tfn\u00a0é"), max_size=20) | st.text(max_size=10))
def test_random_text_is_judged_as_the_standard_library_judges_it(text: str) -> None:
    assert_agreement(text)


@settings(max_examples=500, deadline=None)
@given(VALUES, st.data())
def test_json_with_one_change_is_judged_as_the_standard_library_judges_it(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 2))
    new = data.draw(st.sampled_from(["", ",", ":", "}", "]", "{", "[", '"', "'", "\\", "x", "0", " ", "//", "\t"]))
    assert_agreement(text[:at] + new + text[at + length :])


def assert_agreement(text: str) -> None:
    if any("\ud800" <= char <= "\udfff" for char in text) or text.startswith("\ufeff"):
        return
    node, problems = parse(text)
    is_good, value = outcome(text)
    assert (not problems) == is_good
    for problem in problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
    if is_good:
        assert node.value == value
        assert_places(text, node)
