"""Tests of recorded cases: what is written is read back, secrets are not in it, and nothing else of a file changes."""

import json
import re

import pytest

from mcpc.reading import Source
from mcpc.reading.yaml_tree import read_yaml
from mcpc.workbench.testing import writing
from mcpc.workbench.testing.case_files import read_cases
from mcpc.workbench.testing.expectations import Judging, differences
from mcpc.workbench.testing.model import Outcome, Reply
from mcpc.workbench.testing.reports import gathered
from mcpc.workbench.testing.writing import RecordingError, append_case, cases_of_log, updates, with_cases

CASE = {"name": "greets", "tool": "greet", "arguments": {"name": "Ada"}, "expect": {"text": "Hello, Ada!"}}
TEXTS = (
    "yes",
    "1e5",
    "0o17",
    "a: b # c",
    "two\nlines",
    "two\nlines\n\n",
    " lead",
    "é\u2028\u200f",
    "\ud83d",
    "",
    "~",
    "- x",
)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_written_is_read_back(tmp_path, text):
    for _ in range(2):
        path = append_case(tmp_path, {**CASE, "arguments": {"name": text}})
    assert path == tmp_path / "tests/recorded.yaml"
    cases = read_yaml(path.read_text(encoding="utf-8"), "").value["tests"]
    assert [case["arguments"]["name"] for case in cases] == [text, text]
    assert [entry.name for entry in path.parent.iterdir()] == ["recorded.yaml"]


@pytest.mark.parametrize(
    "text", ("cases: []\n", "tests: [\n", "tests: [{name: a, tool: b}]\n", "- a\n", "{tests: [\n{name: a}]}\n")
)
def test_a_file_that_cannot_be_extended_is_refused(text):
    with pytest.raises(RecordingError):
        with_cases(text, [CASE])


@pytest.mark.parametrize("name", ("../a.yaml", "a.txt", "/a.yaml", ".yaml", "a/b.yaml", "", "a.yaml\n", "con\0.yaml"))
def test_only_files_of_the_folder_are_written(tmp_path, name):
    with pytest.raises(RecordingError):
        append_case(tmp_path, CASE, name)
    assert not (tmp_path / "tests").exists()


def test_links_are_not_followed(tmp_path):
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (project / "tests").symlink_to(other)
    with pytest.raises(RecordingError):
        append_case(project, CASE)
    assert not any(other.iterdir())


SECRETS = {
    "api_key": "x",
    "dbPassword": "x",
    "Authorization": "x",
    "tokens": 5,
    "note": "sk-ant-abcdefghijklmnopqrstuvwx",
    "header": "Bearer abcdefghijkl",
    "url": "postgres://ann:s3cr3tword@db.example.org/x",
    "list": [{"secret": "x"}],
}
OPEN = {"monkey": "x", "keyboard": "x", "author": "x", "max_tokens": True, "name": "Ada", "turkey": 1}


def test_secrets_are_replaced(tmp_path):
    written = append_case(tmp_path, {**CASE, "arguments": SECRETS}).read_text(encoding="utf-8")
    assert written.count("REDACTED") == len(SECRETS)
    assert not re.search(r": x\b|sk-ant|abcdefghijkl|s3cr3tword", written)


def test_other_values_are_not_replaced(tmp_path):
    assert "REDACTED" not in append_case(tmp_path, {**CASE, "arguments": OPEN}).read_text(encoding="utf-8")


def test_a_call_log_makes_cases():
    calls = (
        {"tool": "greet", "arguments": {"name": "Ada", "token": "t"}, "status": "success", "chain": []},
        {"tool": "greet", "arguments": {"name": "Ada", "token": "u"}, "status": "success", "chain": []},
        {"tool": "greet", "arguments": {"name": "x-1"}, "status": "error", "chain": []},
        {"tool": "inner", "arguments": {}, "status": "success", "chain": ["greet"]},
        {"resource": "file:///a", "arguments": {}, "status": "success"},
        {"http": "/x"},
        [],
    )
    lines = [json.dumps(call).encode() for call in calls]
    found = list(cases_of_log([*lines, b"{", b"\xff"], [re.compile("x-[0-9]")]))
    assert found == [
        {
            "name": "greet 1",
            "tool": "greet",
            "arguments": {"name": "Ada", "token": "REDACTED"},
            "expect": {"error": False},
        },
        {"name": "greet 2", "tool": "greet", "arguments": {"name": "REDACTED"}, "expect": {"error": True}},
        {"name": "file:///a 3", "resource": "file:///a", "expect": {"error": False}},
    ]


COMPLETIONS = {
    ("travel city", "p", '{"country": "FR"}'): {
        "complete": {"prompt": "travel", "argument": "city", "value": "p"},
        "arguments": {"country": "FR"},
    },
    ("a://{b}/c b", "", "{}"): {"complete": {"resource": "a://{b}/c", "argument": "b"}},
    ("a b", "Bearer abcdefghijkl", "{}"): {"complete": {"prompt": "a", "argument": "b", "value": "REDACTED"}},
}


@pytest.mark.parametrize("name, value, chosen", COMPLETIONS)
def test_completions_of_a_log_are_cases(name, value, chosen):
    given = {"value": value, "arguments": json.loads(chosen)}
    line = json.dumps({"completion": name, "chain": [], "arguments": given, "status": "success"})
    case = {"name": f"{name} 1", **COMPLETIONS[name, value, chosen], "expect": {"error": False}}
    assert [*cases_of_log([line.encode()])] == [case]


@pytest.mark.parametrize(
    "entry", ({"completion": "ab"}, {"completion": "a b"}, {"completion": "a b", "arguments": {"value": 3}})
)
def test_completions_of_a_log_without_values_are_left_out(entry):
    assert [*cases_of_log([json.dumps(entry).encode()])] == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", "tests:\n- name: n\n"),
        (" \n", "tests:\n- name: n\n"),
        ("tests: []\n", None),
        ("tests:\n", None),
        ("tests:\n-   name: a\n    tool: b", "tests:\n-   name: a\n    tool: b\n- name: n\n"),
        ("tests:\n  - {name: a}\nenv: {}\n", "tests:\n  - {name: a}\n  - name: n\nenv: {}\n"),
        (
            "tests:\n- name: a\n  text: |\n    b\n\n\nenv: {}\n",
            "tests:\n- name: a\n  text: |\n    b\n\n\n- name: n\nenv: {}\n",
        ),
        ("tests: [{name: a}]\n", None),
    ],
)
def test_a_case_is_written_after_the_last_one(text, written):
    if written is None:
        with pytest.raises(RecordingError):
            with_cases(text, [{"name": "n"}])
    else:
        assert with_cases(text, [{"name": "n"}]) == written


def test_lines_and_cases_of_a_log_are_limited(monkeypatch):
    lines = [json.dumps({"tool": f"t{number}", "status": "success"}).encode() for number in range(3)]
    assert [case["name"] for case in cases_of_log([*lines, lines[0]])] == ["t0 1", "t1 2", "t2 3"]
    odd = [{"tool": 3}, {"tool": "t", "chain": ["a"]}, {"prompt": "p", "arguments": {"a": 1}}]
    assert [*cases_of_log(json.dumps(each).encode() for each in odd)] == [
        {"name": "p 1", "prompt": "p", "arguments": {"a": 1}, "expect": {"error": True}}
    ]
    monkeypatch.setattr(writing, "MAX_CASES", 2)
    assert [case["tool"] for case in cases_of_log(lines)] == ["t0", "t1"]
    monkeypatch.setattr(writing, "MAX_LINE", len(lines[0]))
    assert [*cases_of_log([lines[0] + b" "])] == []
    assert len([*cases_of_log(lines[:1])]) == 1
    assert writing.FILE_NAME.match("a" * 81 + ".yml")
    assert not writing.FILE_NAME.match("a" * 82 + ".yml")


REPLY = Reply(is_error=False, text="new: text\n# two", structured={"n": 2, "list": [1, "a"]})
BEFORE = """\
# head
tests:
- name: a   # comment
  tool: t
  expect:
    text: old   # stays
    json: {/n: 1, "/list/1": b}
    structured:
      n: 1
      list:
      - 1
    matches: new
# tail
"""
AFTER = """\
# head
tests:
- name: a   # comment
  tool: t
  expect:
    text: "new: text\\n# two"   # stays
    json: {/n: 2, "/list/1": "a"}
    structured:
      {"n": 2, "list": [1, "a"]}
    matches: new
# tail
"""


def updated(text: str, *replies: Reply, name: str = "tests/a.yaml") -> str | None:
    sources = {name: Source(name, text.encode())}
    cases, problems = read_cases(sources)
    assert not problems
    outcomes = [
        Outcome(case, variant, differences(case, Judging(reply)), reply)
        for case in cases
        for variant, reply in zip(case.variants, (replies or (REPLY,)) * 4, strict=False)
    ]
    return updates(gathered(outcomes), sources)[0].get(name)


def test_values_are_replaced_in_place():
    written = updated(BEFORE)
    assert written == AFTER
    assert updated(written) is None


def test_json_is_updated_in_place():
    text = '{"tests": [\n  {"name": "a", "tool": "t",  "expect": {"json": {"/n":1}, "text": "x"}}\n]}'
    assert updated(text, name="a.json") == text.replace('"/n":1', '"/n":2').replace('"x"', '"new: text\\n# two"')


def test_a_block_of_text_is_replaced():
    text = "tests:\n- name: a\n  tool: t\n  expect:\n    text: |\n      one\n      two\n\n- {name: b, tool: t}\n"
    assert updated(text) == text.replace("|\n      one\n      two\n", "|-\n      new: text\n      # two\n")
    one_line = Reply(is_error=False, text="one")
    assert updated(text, one_line) == text.replace("|\n      one\n      two\n", '"one"\n')


KEPT = (
    "tests:\n- {name: a, tool: t, expect: {contains: old}}\n",
    "tests:\n- {name: a, tool: t, expect: {matches: old, within_ms: 0.001}}\n",
    "tests:\n- {name: a, tool: t, expect: {json: {/missing: 1}}}\n",
    "tests:\n- {name: a, tool: t, expect: {text: &x old}}\n- {name: b, tool: t, expect: {contains: *x}}\n",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_says_the_intention_is_not_updated(text):
    assert updated(text) is None


def test_what_differs_between_eras_is_not_updated():
    text = "tests:\n- {name: a, tool: t, expect: {text: old}}\n"
    assert updated(text, REPLY, Reply(is_error=False, text="other")) is None
