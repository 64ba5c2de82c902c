"""Tests of expectations: which differences a reply has from what a case expects."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mcpc.diagnostics.formats import render_text
from mcpc.reading import Source
from mcpc.schema import compile
from mcpc.workbench.testing import case_files
from mcpc.workbench.testing.case_files import case_sources, read_cases, unanswerable, unknown_targets
from mcpc.workbench.testing.client import header_value
from mcpc.workbench.testing.expectations import Judging, at_pointer, compact, differences, same
from mcpc.workbench.testing.model import NOTHING, CompletedArgument, Mismatch, Reply, SentRequest, Variant
from mcpc.workbench.testing.reports import mismatch_lines
from support.needs import ROOT

OUTPUT = compile({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
STRUCTURED = {"n": 3, "list": [{"a/b": None}]}
SUCCESS = Reply(is_error=False, text="one\ntwo", structured=STRUCTURED, milliseconds=5)
REFUSED = Reply(is_error=True, text="no", problems=({"path": "/b"}, {"path": "/a"}))
UNKNOWN = Reply(is_error=True, text="Unknown tool", code=-32602)
TEXT_ONLY = Reply(is_error=False, text='{"n": 1}')

ROWS = (
    (SUCCESS, None),
    (SUCCESS, {"error": False, "text": "one\ntwo", "contains": ["one", "two"], "matches": "^t?one$|^two"}),
    (SUCCESS, {"matches": "(?m)^two$"}),
    (SUCCESS, {"text": "one", "contains": ["one", "six"]}),
    (SUCCESS, {"error": True}),
    (SUCCESS, {"error": -32602, "text": "x"}),
    (SUCCESS, {"json": {"": STRUCTURED, "/n": 3.0, "/list/0/a~1b": None}}),
    (SUCCESS, {"json": {"/n": True, "/list/1": None, "/x": None}}),
    (SUCCESS, {"structured": STRUCTURED, "within_ms": 6}),
    (SUCCESS, {"structured": {"n": 3}, "within_ms": 4}),
    (TEXT_ONLY, {"json": {"/n": 1}, "schema": False}),
    (TEXT_ONLY, {}),
    (Reply(is_error=False, structured={"n": "x"}), {"schema": True}),
    (REFUSED, {"error": True, "problems": ["/a", "/b"]}),
    (REFUSED, {"error": True, "problems": ["/a"]}),
    (REFUSED, None),
    (UNKNOWN, {"error": -32602, "contains": "Unknown"}),
    (UNKNOWN, {"error": True}),
    (UNKNOWN, {"error": -32603}),
    (Reply(is_error=False, structured={"n": 1}, questions=("elicitation/create: Who?",)), None),
)


SENT = SentRequest("POST", "/a?b=1", {"x": "1"}, b'{"c": [1]}')
SENDING = Reply(is_error=False, structured={"n": 1}, requests=(SENT,))
MORE = (
    (
        SENDING,
        {"request": {"method": "POST", "target": "/a?b=1", "headers": {"X": "1", "Y": None}, "body": {"c": [1]}}},
    ),
    (SENDING, {"request": {"method": "GET", "target": "/a", "headers": {"X": None, "Y": "1"}, "body": {"c": [2]}}}),
    (SENDING, {"request": [{"body": '{"c": [1]}'}]}),
    (SENDING, {"request": []}),
    (replace(SENDING, requests=(SENT, SENT)), {"request": [{}, {"body": "x"}]}),
    (replace(SENDING, unanswered=("GET /c",), unused=("status 204",)), None),
    (Reply(is_error=True, code=-32601, text="none"), {"error": -32602}),
    (Reply(is_error=True, text="no"), {"error": -32602}),
    (Reply(is_error=False, text="ok"), {"error": True}),
    (Reply(is_error=True, code=0, text="no"), {"error": False}),
    (Reply(is_error=False, text="[", result={"a": [1]}), {"json": {"/a/0": 2, "": {"a": [1]}}, "schema": False}),
    (Reply(is_error=False, text="["), {"json": {"/a": 2}, "schema": False}),
    (Reply(is_error=False, structured={"n": 1}, milliseconds=5.4), {"within_ms": 5.4}),
    (Reply(is_error=False, structured={"n": 1}, milliseconds=5.6), {"within_ms": 5.5}),
    (Reply(is_error=False, structured=[{}, 1, 2, 3]), {"structured": [{}, 1, 2, 3.0]}),
)


def test_differences_are_exactly_these(golden):
    told = ""
    for reply, expect in [*ROWS, *MORE]:
        case = {"name": "a", "tool": "t", **({} if expect is None else {"expect": expect})}
        (read,), _ = read_cases({"a.json": Source("a.json", json.dumps({"tests": [case]}).encode())})
        told += f"=== {json.dumps(expect)} of {reply.text!r} {compact(reply.structured)} {reply.code}\n"
        for each in differences(read, Judging(reply, OUTPUT)):
            place = each.node and (each.node.start, each.node.end)
            told += (
                f"{each.what}: {compact(each.expected)} | {compact(each.found)} | {place} | {compact(each.update)}\n"
            )
    golden(ROOT / "tests/golden/testing/differences.txt", told)


COMPLETION = {"values": ["a", "b"], "total": 2}


@pytest.mark.parametrize(
    ("structured", "expect", "found"),
    [
        (COMPLETION, {"values": ["a", "b"], "total": 2}, []),
        (COMPLETION, {"values": ["b", "a"], "total": 1, "hasMore": False}, ["values", "total", "hasMore"]),
        (NOTHING, {"total": 0}, ["total"]),
        ({"total": False}, {"total": 0}, ["total"]),
    ],
)
def test_members_of_a_completion_are_compared(structured, expect, found):
    case = {"name": "a", "complete": {"prompt": "p", "argument": "a"}, "expect": expect}
    (read,), problems = read_cases({"a.json": Source("a.json", json.dumps({"tests": [case]}).encode())})
    assert not problems
    reply = Reply(is_error=False, structured=structured)
    assert [mismatch.what for mismatch in differences(read, Judging(reply))] == found


def test_pointers():
    value = {"a": [1, {"": 2, "~": 3}]}
    assert [at_pointer(value, each) for each in ("", "/a/0", "/a/1/", "/a/1/~0")] == [value, 1, 2, 3]
    assert {at_pointer(value, each) for each in ("/a/2", "/a/-", "/a/00x", "/b/c")} == {NOTHING}


def test_equality_is_that_of_json():
    assert same({"a": 1, "b": [1.0]}, {"b": [1], "a": 1.0})
    assert not any(
        (same(1, True), same(None, NOTHING), same([], {}), same([1], [1, 2]), same({"a": 1}, {"a": 1, "b": 2}))
    )


def test_header_values():
    assert [header_value(each) for each in ("plain", True, 3)] == ["plain", "true", "3"]
    assert all(header_value(each).startswith("=?base64?") for each in ("ü", " a", "a\nb", "=?x"))


@pytest.mark.parametrize(("length", "caret"), [(10, 11), (67, 68), (68, None)])
def test_a_caret_is_below_the_first_difference_where_there_is_room(length, caret):
    lines = mismatch_lines(Mismatch("text", "x" * length + "a", "x" * length + "b"))
    assert lines[2:] == ([] if caret is None else [" " * (caret + 9) + "^"])


WHOLE = """\
env: {LANG: C, LEVEL: 1}
headers: {X-A: b}
settings: {UNITS: metric}
era: stateless
tests:
- name: first
  tool: greet
  arguments: {name: Ada}
  expect: {text: "Hello, Ada!"}
- resource: file:///a
  transport: stdio
  serial: true
  env: {LEVEL: 2}
  settings: {DEBUG: true}
"""


def read(text: str, name: str = "tests/a.yaml"):
    source = Source(name, text.encode("utf-8", "surrogateescape"))
    cases, problems = read_cases({name: source})
    return cases, [(problem.code, *source.position(problem.span.start)) for problem in problems]


def test_a_file_is_read_into_cases():
    (first, second), problems = read(WHOLE)
    assert problems == []
    assert (first.name, first.kind, first.target, first.arguments) == ("first", "tool", "greet", {"name": "Ada"})
    assert first.environment == (("LANG", "C"), ("LEVEL", "1"), ("UNITS", "metric"))
    assert first.variants == (Variant("stdio", "stateless"), Variant("http", "stateless"))
    assert (second.name, second.kind, second.target) == ("file:///a #2", "resource", "file:///a")
    assert first.headers == (("X-A", "b"),)
    assert (first.serial, second.serial) == (None, True)
    assert second.variants == (Variant("stdio", "stateless"),)
    assert dict(second.environment) == {"LANG": "C", "UNITS": "metric", "LEVEL": "2", "DEBUG": "true"}


def test_json_is_read_as_yaml_is():
    value = {"tests": [{"name": "a", "tool": "b", "arguments": {"x": [1, None, "ü"]}}]}
    cases = [read(json.dumps(value, indent=2), name)[0][0] for name in ("tests/a.json", "tests/a.yml")]
    assert cases[0].arguments == cases[1].arguments == value["tests"][0]["arguments"]


def case(*lines: str) -> str:
    return "tests:\n- name: a\n  tool: t\n" + "".join(f"  {line}\n" for line in lines)


def completion(members: str, *lines: str) -> str:
    return f"tests:\n- name: a\n  complete: {{{members}}}\n" + "".join(f"  {line}\n" for line in lines)


def test_every_problem_is_told_exactly_so(golden):
    told = ""
    for text in json.loads(Path(__file__).with_name("faulty_cases.json").read_text("utf-8")):
        sources = {"tests/a.yaml": Source("tests/a.yaml", text.encode())}
        told += f"=== {text!r}\n{render_text(read_cases(sources)[1], sources, colour=False)}\n"
    golden(ROOT / "tests/golden/testing/case-problems.txt", told)


def test_large_files_are_refused_and_names_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(case_files, "MAX_BYTES", 12)
    (tmp_path / "a.yaml").write_text("x" * 12)
    (tmp_path / "b.yaml").write_text("x" * 13)
    sources, problems = case_sources(tmp_path, "")
    assert ([*sources], [(each.code, each.span.path) for each in problems]) == (["a.yaml"], [("MCP601", "b.yaml")])
    assert case_sources(tmp_path / "none") == ({}, ())
    texts = {f"tests/{name}.yaml": Source(f"tests/{name}.yaml", case().encode()) for name in "ab"}
    cases, problems = read_cases(texts)
    assert ([each.file for each in cases], problems) == (["tests/a.yaml", "tests/b.yaml"], ())


def test_a_case_counts_more_than_its_file():
    text = "headers: {A: a, B: b}\nserial: true\nera: stateless\ntransport: http\ntests:\n- {tool: t}\n"
    text += "- {tool: t, headers: {A: c}, serial: false, era: both, transport: stdio, answers: [{action: accept}]}\n"
    (first, second), problems = read(text)
    assert (problems, first.headers, second.headers) == ([], (("A", "a"), ("B", "b")), (("A", "c"), ("B", "b")))
    assert (first.serial, second.serial, first.number, second.number) == (True, False, 1, 2)
    assert first.variants == (Variant("http", "stateless"),)
    assert second.variants == (Variant("stdio", "handshake"), Variant("stdio", "stateless"))
    assert ((first.answers, second.answers), first.arguments, second.name) == (
        ((), ({"action": "accept"},)),
        {},
        "t #2",
    )


def test_files_without_cases_are_passed_over(tmp_path):
    (tmp_path / "data.json").write_text('{"a": 1}')
    (tmp_path / "list.yaml").write_text("- 1\n")
    (tmp_path / "empty.yml").write_text("")
    (tmp_path / ".hidden.yaml").write_text("tests: [")
    (tmp_path / "notes.md").write_text("tests: [")
    (tmp_path / "folder.yaml").mkdir()
    sources, problems = case_sources(tmp_path)
    assert [*sources] == ["tests/data.json", "tests/empty.yml", "tests/list.yaml"]
    assert (read_cases(sources), problems) == (([], ()), ())


def test_bytes_that_are_not_text_have_their_place():
    assert read("tests: \udcff\n")[1][0] == ("MCP001", 1, 8)
    assert read("tests: \udcff\n", "tests/a.json")[1][0] == ("MCP001", 1, 8)


def test_calls_of_what_is_not_offered():
    text = "tests:\n- {name: a, tool: gret}\n- {name: b, prompt: x}\n- {name: c, tool: gret, expect: {error: -32602}}\n"
    cases, _ = read(text + "- {name: d, resource: x}\n- {name: e, tool: greet}\n")
    found = unknown_targets(cases, {"tool": ["greet"], "prompt": []})
    assert [(problem.code, problem.hint) for problem in found] == [
        ("MCP605", "did you mean `greet`?"),
        ("MCP605", "the server has no prompts"),
    ]
    assert unknown_targets(cases, {}) == ()


def test_responses_to_requests_that_go_to_a_fixed_address() -> None:
    given = "given: {response: {}}"
    cases, _ = read("tests:\n" + "".join(f"- {{name: {name}, tool: {name}, {given}}}\n" for name in ("a", "b", "c")))
    requests = {"a": "GET $BASE/x", "b": "GET https://a.example/x"}
    assert [each.message[:19] for each in unanswerable(cases, requests, {"BASE": ""})] == ["the requests of `b`"]
    assert [each.code for each in unanswerable(cases, {}, {})] == ["MCP605"] * 3


def test_a_completion_is_named_as_in_the_call_log():
    members = "resource: 'a://{b}', argument: b, value: x"
    (first,), problems = read(completion(members, "arguments: {c: d}", "expect: {values: [xy]}"))
    assert (problems, first.kind, first.target) == ([], "complete", "a://{b} b")
    assert first.completed == CompletedArgument("resource", "a://{b}", "b", "x")
    assert first.arguments == {"c": "d"}
    found = unknown_targets([first], {"complete": ["a://{b} bc"]})
    assert [(problem.code, problem.hint) for problem in found] == [("MCP605", "did you mean `a://{b} bc`?")]
