"""Tests of case files: what is read of them, and every problem with its place."""

import json
from pathlib import Path

from mcpc.diagnostics.formats import render_text
from mcpc.reading import Source
from mcpc.workbench.testing import case_files
from mcpc.workbench.testing.case_files import case_sources, read_cases, unknown_targets
from mcpc.workbench.testing.model import CompletedArgument, Variant
from support.needs import ROOT

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


def test_a_completion_is_named_as_in_the_call_log():
    members = "resource: 'a://{b}', argument: b, value: x"
    (first,), problems = read(completion(members, "arguments: {c: d}", "expect: {values: [xy]}"))
    assert (problems, first.kind, first.target) == ([], "complete", "a://{b} b")
    assert first.completed == CompletedArgument("resource", "a://{b}", "b", "x")
    assert first.arguments == {"c": "d"}
    found = unknown_targets([first], {"complete": ["a://{b} bc"]})
    assert [(problem.code, problem.hint) for problem in found] == [("MCP605", "did you mean `a://{b} bc`?")]
