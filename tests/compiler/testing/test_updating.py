"""Tests of updates: values are replaced in place, and a file in which anything else would change is left alone."""

import pytest

from mcpc.reading import Source
from mcpc.workbench.testing.case_files import read_cases
from mcpc.workbench.testing.expectations import Judging, differences
from mcpc.workbench.testing.model import Outcome, Reply
from mcpc.workbench.testing.reports import gathered
from mcpc.workbench.testing.writing import updates

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
