"""What each kind of change means to clients: a table of changes, with all that must be reported of each."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc.client.model import lists_from_json
from mcpc.release.comparison import Impact, Policy, PolicyError, compare, is_enough, next_version, read_policy
from mcpc.release.comparison.inclusion import MAX_DEPTH, MAX_STEPS, accepts
from mcpc.release.comparison.placed_schemas import UNUSABLE, closed
from mcpc.release.comparison.reports import FORMATS, as_changelog
from mcpc.release.comparison.rules import RULES
from mcpc.release.comparison.schemas import INPUT, OUTPUT, schema_changes
from support.needs import ROOT
from support.schema_pairs import Pairs, counterexamples

Json = Any

ROWS = json.loads((Path(__file__).parent / "comparison/changes.json").read_text("utf-8"))
SCHEMAS = json.loads((Path(__file__).parent / "comparison/inclusion.json").read_text("utf-8"))
TOOL = {"name": "t", "inputSchema": {"type": "object"}}


def server(part: str, given: Json) -> Json:
    """Return a server with one thing of it given: a tool, one of its schemas, an argument, a prompt, or facts."""
    member = {"input": "inputSchema", "argument": "inputSchema", "output": "outputSchema", "result": "outputSchema"}
    found = {"name": "s", "version": "1.0.0", "tools": [TOOL]}
    if part in ("lists", "server"):
        return {**found, **given}
    if part == "prompt":
        return {**found, "prompts": [{"name": "p", **given}]}
    if part in ("argument", "result"):
        given = {"type": "object", "properties": {"a": given}}
    return {**found, "tools": [{**TOOL, **({member[part]: given} if part in member else given)}]}


def reported(row: Json, policy: Policy | None = None) -> list[str]:
    old, new = (lists_from_json(server(row["part"], row[side])) for side in ("old", "new"))
    comparison = compare(old, new, policy or Policy())
    return [
        f"{each.verdict} {each.rule} {each.location}{f' -> {each.hint}' if each.hint else ''}"
        for each in comparison.changes
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["change"])
def test_a_change_gets_its_verdict(row: Json) -> None:
    assert sorted(reported(row)) == sorted(row["expect"])


def test_every_rule_has_a_row_in_the_table() -> None:
    shown = {text.split()[1] for row in ROWS for text in row["expect"]}
    assert sorted(RULES.keys() - shown) == [], "add a row to comparison/changes.json"


def test_the_same_version_has_no_changes() -> None:
    for row in ROWS:
        for side in ("old", "new"):
            assert reported({**row, "old": row[side], "new": row[side]}) == []


def test_the_reverse_of_a_breaking_change_is_not_the_same_change() -> None:
    """A verdict depends on the direction: nothing that breaks forwards is called by the same name backwards."""
    for row in ROWS:
        forwards = {text for text in row["expect"] if text.startswith("breaking")}
        backwards = {*reported({**row, "old": row["new"], "new": row["old"]})}
        both_ways = {text for text in forwards & backwards if "is another" not in text}
        assert not both_ways or row["change"] in BOTH_WAYS, (row["change"], both_ways)


@pytest.mark.parametrize("row", SCHEMAS, ids=lambda row: json.dumps([row["old"], row["new"]])[:80])
def test_a_schema_accepts_what_another_accepts(row: Json) -> None:
    answer = accepts(row["new"], row["old"])
    assert (answer.holds, bool(answer.reason)) == (row["accepted"], row["accepted"] is None)
    for schema in (row["old"], row["new"]):
        assert accepts(schema, schema).holds is not False


def test_alternatives_that_multiply_and_deep_schemas_are_undecided() -> None:
    many = {"allOf": [{"anyOf": [{"minLength": n}, {"maxLength": n}]} for n in range(MAX_STEPS)], "type": "string"}
    assert accepts({"anyOf": [{"minLength": 1}, {"maxLength": 2}]}, many).holds is None
    deep: Json = {"type": "string"}
    for _ in range(MAX_DEPTH + 1):
        deep = {"type": "object", "properties": {"a": deep}}
    assert accepts(deep, json.loads(json.dumps(deep).replace("string", "null"))).holds is None


BOTH_WAYS = {"a type is another", "the media type of a resource", "the media type of a template"}


def compared(policy: Policy = Policy(), *, version: str = "1.1.0") -> Any:  # noqa: B008 - it is frozen
    old = {**server("argument", {"enum": ["x", "y"]}), "prompts": [{"name": "p|<b>"}]}
    new = {**server("argument", {"enum": ["x"], "title": "\x1b[2J`"}), "version": version}
    return compare(lists_from_json(old), lists_from_json(new), policy)


@pytest.mark.parametrize(
    ("old", "level", "suggested"),
    [
        ("1.2.3", "major", "2.0.0"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "patch", "1.2.4"),
        ("1.2.3", "none", "1.2.3"),
        ("0.2.3", "major", "0.3.0"),
        ("0.2.3", "minor", "0.3.0"),
        ("0.2.3", "patch", "0.2.4"),
        ("v1.2.3-rc.1+x", "major", "2.0.0"),
        ("2026", "major", None),
        ("", "patch", None),
    ],
)
def test_the_next_version_number(old: str, level: str, suggested: str | None) -> None:
    assert next_version(old, level) == suggested


@pytest.mark.parametrize(
    ("new", "enough"),
    [("2.0.0", True), ("2.1.0", True), ("10.0.0", True), ("2.0.0-rc.1", True), ("1.9.9", False), ("next", None)],
)
def test_a_version_number_is_enough_for_the_changes(new: str, enough: bool | None) -> None:
    assert is_enough(new, "2.0.0") is enough
    assert compared(version=new).fits is enough


def test_a_project_accepts_changes_and_has_other_verdicts() -> None:
    policy = read_policy(
        {
            "accept": [
                {"rule": "input-schema-narrowed", "place": "tool:t/*", "reason": "y never worked"},
                {"rule": "tool-removed"},
            ],
            "severity": {"input-title-changed": "breaking"},
        }
    )
    found = compared(policy)
    verdicts = {each.rule: (each.verdict, each.accepted) for each in found.changes}
    assert verdicts["input-schema-narrowed"] == (Impact.BREAKING, "y never worked")
    assert verdicts["input-title-changed"] == (Impact.BREAKING, None)
    assert found.unused == ("tool-removed at *",)
    entries = {
        each["rule"]: each for each in json.loads(FORMATS["json"](found, frozenset([Impact.BREAKING])))["changes"]
    }
    assert not entries["input-schema-narrowed"]["fails"]
    assert entries["input-title-changed"]["fails"]


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"accept": [{"rule": "tool-remove"}]}, "did you mean `tool-removed`"),
        ({"accept": {}}, "list"),
        ({"accept": [{"place": "tool:t"}]}, "`rule`"),
        ({"accept": [{"rule": "tool-removed", "place": 1}]}, "texts"),
        ({"severity": {"tool-removed": "fatal"}}, "not a verdict"),
        ({"severities": {}}, "`severities` is unknown"),
    ],
)
def test_a_wrong_policy_is_an_error(table: Json, text: str) -> None:
    with pytest.raises(PolicyError, match=text):
        read_policy(table)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_report_cannot_command_a_terminal(name: str) -> None:
    text = FORMATS[name](compared(), frozenset([Impact.BREAKING]))
    assert "\x1b" not in text
    assert all(char == "\n" or char.isprintable() for char in text)


@pytest.mark.parametrize("name", [*FORMATS, "changelog"])
def test_a_report_is_exactly_this(name: str, golden: Callable[[Path, str], None]) -> None:
    same = lists_from_json(server("server", {}))
    reports = {"": compared(), "-same": compare(same, same, Policy())}
    for ending, found in reports.items():
        text = as_changelog(found) if name == "changelog" else FORMATS[name](found, frozenset([Impact.BREAKING]))
        golden(ROOT / "tests/golden/comparison" / f"{name}{ending}.txt", text)
    assert as_changelog(compared(), "Next").startswith("## Next\n")


def test_nothing_fails_that_is_not_asked_to() -> None:
    assert FORMATS["github"](compared(), frozenset()).startswith("::warning ")


PAIRS = int(os.environ.get("TESTS_SCHEMA_PAIRS", "40"))
SAMPLES = 300 if "TESTS_SCHEMA_PAIRS" in os.environ else 60


def record(figures: dict[str, int]) -> None:
    """Show what was counted, where `pytest -s` is asked for."""
    sys.stderr.write(f"{json.dumps(figures)}\n")


def sampled(old: Json, new: Json, seed: int) -> Json:
    """Return a sampled value that only the old schema accepts, in a list; the list is empty if there is none."""
    try:
        return [value for value, _ in zip(counterexamples(old, new, seed, SAMPLES), (1,), strict=False)]
    except UNUSABLE:
        return []


@pytest.mark.parametrize("usual", [True, False], ids=["usual", "any"])
def test_no_value_contradicts_that_a_schema_accepts_what_another_accepts(usual: bool) -> None:
    counts = {True: 0, False: 0, None: 0}
    for seed in range(PAIRS):
        old, new = Pairs(seed, is_usual=usual).pair()
        answer = accepts(new, old)
        counts[answer.holds] += 1
        assert bool(answer.reason) == (answer.holds is None)
        assert not answer.holds or sampled(old, new, seed) == [], (seed, old, new)
    record({str(answer): count for answer, count in counts.items()})
    assert counts[True] > PAIRS / 10


@pytest.mark.slow
def test_no_breaking_change_of_a_tool_is_missed_on_random_pairs() -> None:
    """What a caller of the old schema may send, and the new one refuses, is reported; for results the reverse."""
    missed, alarms, breaking = [], 0, 0
    for seed in range(PAIRS):
        old, new = Pairs(10_000_000 + seed, is_usual=True).pair()
        for side, narrow, wide in ((INPUT, old, new), (OUTPUT, new, old)):
            alarming = {Impact.BREAKING, Impact.UNDECIDED}
            verdicts = {each.verdict for each in schema_changes("t", side, old, new)}
            found = [value for value in sampled(closed(narrow), wide, seed) if isinstance(value, dict)]
            breaking += bool(found)
            if found and not verdicts & alarming:
                missed.append((seed, side.name, found))
            alarms += not found and bool(verdicts & alarming)
    record({"comparisons": 2 * PAIRS, "break by sampling": breaking, "reported beyond that": alarms})
    assert missed == []
