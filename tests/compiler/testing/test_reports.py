"""Results of a run, from outcomes to every format, compared with golden reports; and the texts of YAML that are written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc.reading import Source
from mcpc.workbench.testing.case_files import read_cases
from mcpc.workbench.testing.coverage import Item, coverage, coverage_lines, percentage
from mcpc.workbench.testing.model import NOTHING, Case, Fault, Mismatch, Outcome, Reply, Variant
from mcpc.workbench.testing.reports import FORMATS, Run, as_junit, describe_variants, gathered, mismatch_lines, place_of
from mcpc.workbench.testing.writing import redacted
from mcpc.workbench.testing.yaml_text import block_text, flow_value, list_item
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/testing"
TEXT = """\
tests:
- name: passes
  tool: greet
- name: fails & is long
  tool: greet
  expect:
    text: "one"
- {name: fails on HTTP, prompt: p, expect: {json: {/a: 1}}}
- {name: fails in one era, resource: "a://b"}
- {name: fails in two ways, tool: u}
- {name: passed alone, tool: u, transport: stdio}
"""
SOURCES = {
    name: Source(name, TEXT.replace("fails on", f"{name} on").encode()) for name in ("tests/b.yaml", "tests/a.yaml")
}
EVERY = tuple(Variant(transport, era) for transport in ("stdio", "http") for era in ("handshake", "stateless"))
STDIO, HTTP, HANDSHAKE = EVERY[:2], EVERY[2:], EVERY[::2]


def outcome(case: Case, variant: Variant) -> Outcome:
    node = case.expect.members[0].node if case.expect is not None else None
    text = Mismatch("text", "one", "o\u202ene" + "x" * 500, node, "two")
    wrong: dict[int, list[Mismatch]] = {
        2: [text, Mismatch("answers", "an answer for each question", "elicitation/create: Who?\nsecond line")],
        3: [Mismatch("json /a", 1, NOTHING, node)] if variant in HTTP else [],
        4: [Mismatch("error", "no error", "error -32602: no")] if variant in HANDSHAKE else [],
        5: [Mismatch("within_ms", "at most 5 ms", "7 ms")] if variant in (EVERY[0], EVERY[3]) else [],
    }
    mismatches = tuple(wrong.get(case.number, ()))
    log = "".join(f"line {number}\n" for number in range(10)) if case.number == 2 and variant in HTTP else ""
    reply = Reply(bool(mismatches), milliseconds=1.5, log=log)
    return Outcome(case, variant, mismatches, reply, is_repeated=case.number == 6)


def whole_run(**changes: Any) -> Run:
    cases, problems = read_cases(SOURCES)
    assert problems == ()
    outcomes = [outcome(case, variant) for case in cases for variant in case.variants]
    faults = [
        Fault("greet", {"a": "\u0000"}, "the call ends with error 1", "one\n" * 9, True, STDIO, EVERY),
        Fault("u", {}, "arguments that the schema refuses reach the handler", "", False, (EVERY[0],), EVERY),
    ]
    given = {"prefix": "sub/", "notes": ["a note\u202e"], "faults": faults, "command": "mcpc test x --fuzz-tool"}
    return Run(gathered(outcomes), SOURCES, 1.26, **{**given, **changes})


@pytest.mark.parametrize("name", [*FORMATS])
def test_a_report_is_exactly_this(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"report-{name}.txt", FORMATS[name](whole_run()))


def test_a_report_of_junit_is_exactly_this(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "report-junit.xml", as_junit(whole_run()))
    golden(GOLDEN / "report-junit-empty.xml", as_junit(Run([], {}, 0)))


def test_a_report_without_failures_is_one_line() -> None:
    run = whole_run(faults=(), notes=[])
    passed = Run([each for each in run.results if not each.failures], SOURCES, 0.04)
    assert FORMATS["text"](passed) == "4 cases, 12 calls: all passed in 0.0 s\n"
    assert FORMATS["github"](passed) == "4 cases, 12 calls: all passed in 0.0 s\n"
    assert FORMATS["text"](Run(passed.results[:1], SOURCES, 1)) == "1 case, 4 calls: all passed in 1.0 s\n"
    assert [each.passed_alone for each in run.results] == [*[False] * 5, True] * 2
    assert [(each.seconds, each.log[:6]) for each in run.results[:2]] == [(0.006, ""), (0.006, "line 0")]
    assert place_of(run.results[0], None, SOURCES) == ("tests/a.yaml", 2, 3)
    assert place_of(run.results[1], run.results[1].failures[0], SOURCES) == ("tests/a.yaml", 7, 11)


@pytest.mark.parametrize(
    ("variants", "of", "words"),
    [
        (EVERY, EVERY, ""),
        (STDIO, EVERY, "stdio only"),
        (HTTP, EVERY, "HTTP only"),
        (HANDSHAKE, EVERY, "handshake era only"),
        (EVERY[:1], EVERY, "stdio handshake"),
        (EVERY[:1], STDIO, "handshake era only"),
        (EVERY[:1], HANDSHAKE, "stdio only"),
        ((EVERY[3], EVERY[0]), EVERY, "HTTP stateless, stdio handshake"),
    ],
)
def test_ways_are_described(variants: tuple[Variant, ...], of: tuple[Variant, ...], words: str) -> None:
    assert describe_variants(variants, of) == words


LONG = "\n".join(f"line {number}" for number in range(40))
FOUND = LONG.replace("line", "other")


@pytest.mark.parametrize(
    ("what", "expected", "found", "lines"),
    [
        ("json /a", {"b": 1}, [None], ['expected {"b": 1}', "found    [null]"]),
        ("text", "abc", "abd", ['expected "abc"', 'found    "abd"', "            ^"]),
        ("text", "a", NOTHING, ['expected "a"', "found    nothing"]),
        ("contains", "abc", "abd", ['expected "abc"', 'found    "abd"']),
        ("answer", "an answer", "", ["expected an answer", "found    "]),
        ("error", "no error", "a\nb\nc", ["expected no error", "found    a", "         b", "         c"]),
        ("text", "a\nb\nc\nd", "a\nb\nx\nd", ["--- expected", "+++ found", "@@ -2,3 +2,3 @@", " b", "-c", "+x", " d"]),
        ("json", "a\nb", "a\nc", ['expected "a\\nb"', 'found    "a\\nc"']),
        ("json", "x" * 398, "x" * 399, [f'expected "{"x" * 398}"', f'found    "{"x" * 399}… (401 characters)']),
        ("json", "x" * 397, 1, [f'expected "{"x" * 397}"', "found    1"]),
    ],
)  # fmt: skip
def test_what_differs_is_shown(what: str, expected: Any, found: Any, lines: list[str]) -> None:
    assert mismatch_lines(Mismatch(what, expected, found)) == lines


def test_long_texts_are_cut() -> None:
    assert len(mismatch_lines(Mismatch("text", LONG, FOUND))) == 16
    assert mismatch_lines(Mismatch("error", "no error", LONG))[1:] == [
        "found    line 0",
        *(f"         line {number}" for number in range(1, 17)),
    ]
    assert mismatch_lines(Mismatch("error", "x", "y" * 401))[1] == f"found    {'y' * 400}"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "unit": {"enum": ["m", 1, None]},
        "point": {"$ref": "#/$defs/point"},
        "list": {"type": "array", "items": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}},
        "either": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/point"}, True, {"type": "nonsense"}]},
        "lost": {"$ref": "#/$defs/none"},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "required": ["unit"],
    "$defs": {
        "point": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "tree": {"type": "object", "properties": {"of": {"$ref": "#/$defs/tree"}}},
    },
}
LOOP = {
    "name": "loop",
    "inputSchema": {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
}
FACTS: dict[str, Any] = {
    "tools": [{"name": "t", "inputSchema": SCHEMA}, {"name": "other", "inputSchema": SCHEMA}, {"name": "bare"}, LOOP],
    "prompts": 0,
    "resources": [{"uri": "file:///a"}, {"uri": "file:///b"}],
    "completions": [
        {"ref": {"type": "ref/prompt", "name": "p"}, "argument": "a"},
        {"ref": {"type": "ref/resource", "uri": "a://{b}"}, "argument": "b"},
    ],
}
CASES = """\
tests:
- {name: a, tool: t, arguments: {unit: m, point: {x: 1}, list: [{id: 1}, 2], either: {x: 1}, lost: 1, tree: {of: {of: {}}}}}
- {name: b, tool: t, arguments: {unit: 1, either: no}}
- {name: c, resource: "file:///a"}
- {name: d, complete: {prompt: p, argument: a, value: typed}}
- {name: e, tool: bare}
- {name: g, tool: loop, arguments: {a: 1}}
- {name: f, resource: t}
"""


def test_coverage_is_exactly_this(golden: Callable[[Path, str], None]) -> None:
    cases, problems = read_cases({"a.yaml": Source("a.yaml", CASES.encode())})
    assert problems == ()
    items = coverage(FACTS, cases)
    golden(
        GOLDEN / "coverage.txt", "".join(f"{'used  ' if item.is_used else 'unused'} {item.name}\n" for item in items)
    )
    assert coverage({}, []) == []
    assert percentage(items) == 100 * sum(item.is_used for item in items) / len(items)


@pytest.mark.parametrize(("unused", "more"), [(20, []), (21, ["  … and 1 more"])])
def test_what_has_no_case_is_listed_up_to_a_limit(unused: int, more: list[str]) -> None:
    items = [Item("used", True), *(Item(f"i{number}", False) for number in range(unused))]
    head, *lines = coverage_lines(items)
    assert head == f"coverage: 1 of {unused + 1} definitions and branches (5 %)"
    assert lines == [*(f"  no case: i{number}" for number in range(20)), *more]
    assert percentage([]) == 100
    assert percentage(items[:1]) == 100


@pytest.mark.parametrize(
    ("value", "indent", "text"),
    [
        ({"name": "a", "tool": "b"}, "", "- name: a\n  tool: b\n"),
        ({"name": "a", "list": [1, {"b": "yes"}]}, "  ", "  - name: a\n    list:\n    - 1\n    - b: 'yes'\n"),
        ({"a": "x\ny\n"}, "  ", "  - a: |\n      x\n      y\n"),
        ({"a": "x\n\ny"}, " ", " - a: |-\n     x\n\n     y\n"),
        ({"a": "a\nb\n\n"}, "", "- a: |+\n    a\n    b\n\n"),
        ({"a": "a\x85b"}, "  ", '  - {"a": "a\\u0085b"}\n'),
        ({"a": {1: "\ud83d"}}, "", '- {"a": {"1": "\\ud83d"}}\n'),
        ({"a": "0o17", "b": "~", "c": "é"}, "", "- a: '0o17'\n  b: '~'\n  c: é\n"),
    ],
)
def test_an_item_of_a_list_is_written(value: dict[str, Any], indent: str, text: str) -> None:
    assert list_item(value, indent) == text


def test_a_block_and_a_value_are_written() -> None:
    assert block_text("a\n\nb", "    ") == "|-\n    a\n\n    b"
    assert block_text("a\nb\n", "  ") == "|\n  a\n  b"
    assert flow_value({"a": "é"}) == '{"a": "é"}'
    assert flow_value("\u2028") == '"\\u2028"' or json.loads(flow_value("\u2028")) == "\u2028"
    assert flow_value("\ud83d") == '"\\ud83d"'


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"token": "x", "tokens": 5, "token_count": None, "isToken": True}, {"token": "REDACTED", "tokens": "REDACTED", "token_count": None, "isToken": True}),
        ({"token": {"value": "x", "pin": 1.5}}, {"token": {"value": "x", "pin": "REDACTED"}}),
        ({"a": ["Bearer abcdefgh", "Bearer abcdefg", 7]}, {"a": ["REDACTED", "Bearer abcdefg", 7]}),
        ("postgres://ann:s3cr3tword@db.org/x", "postgres://ann:REDACTED@db.org/x"),
        (3, 3),
        (None, None),
    ],
)  # fmt: skip
def test_secrets_are_replaced(value: Any, found: Any) -> None:
    assert redacted(value) == found
