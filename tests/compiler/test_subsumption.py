"""Whether one schema accepts all that another accepts: a table of answers, and random pairs judged by sampling.

`TESTS_SUBSUMPTION=N` tries N random pairs of each sort, with more samples; without it there are a few.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mcpc.release.comparison.declared import closed
from mcpc.release.comparison.rules import Impact
from mcpc.release.comparison.schemas import INPUT, OUTPUT, schema_changes
from mcpc.release.subsumption import Answer, subsumes
from mcpc.release.subsumption.decision import BUDGET
from mcpc.release.subsumption.judge import FAILURES
from support.schema_pairs import Pairs, counterexamples, judge

Json = Any

ROWS = json.loads((Path(__file__).parent / "comparison/subsumption.json").read_text("utf-8"))
PAIRS = int(os.environ.get("TESTS_SUBSUMPTION", "40"))
SAMPLES = 300 if "TESTS_SUBSUMPTION" in os.environ else 60
FORMATS = jsonschema.FormatChecker(["date", "email", "ipv4", "time"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: json.dumps([row["old"], row["new"]])[:80])
def test_a_schema_accepts_what_another_accepts(row: Json) -> None:
    decision = subsumes(row["old"], row["new"])
    assert decision.answer == row["answer"], decision
    assert bool(decision.reason) == (decision.answer is Answer.UNDECIDED)
    if decision.answer is Answer.NO:
        for schema, valid in ((row["old"], True), (row["new"], False)):
            validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
            assert validator(schema, format_checker=FORMATS).is_valid(decision.witness) is valid


def test_a_schema_accepts_what_it_accepts() -> None:
    for row in ROWS:
        for schema in (row["old"], row["new"]):
            assert subsumes(schema, schema).answer is Answer.YES, schema


def test_work_is_limited() -> None:
    many = {"allOf": [{"anyOf": [{"pattern": f"^a{{{n}}}b"}, {"minLength": n}]} for n in range(30)], "type": "string"}
    wide = {"oneOf": [{"properties": {f"p{n}": {"type": "string"}}, "required": [f"p{n}"]} for n in range(40)]}
    deep: Json = {"type": "string"}
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}, "required": ["a"]}
    long = {"type": "string", "pattern": "^(a|b)*a(a|b){14}$"}
    for old, new in ((many, wide), (wide, many), (deep, {**deep, "minProperties": 2}), (long, {"pattern": "^(b|a)*c"})):
        assert subsumes(old, new, budget=BUDGET // 10).answer in Answer
    assert subsumes(long, {"pattern": "^(b|a)*a(b|a){14}$"}, budget=2_000).answer is Answer.UNDECIDED


def test_the_limit_of_work_is_also_that_of_judging_the_last_value() -> None:
    old, new = Pairs(40147, is_usual=False).pair()
    assert subsumes(old, new).answer is Answer.UNDECIDED


def record(figures: dict[str, int]) -> None:
    """Show what was counted, where `pytest -s` is asked for."""
    sys.stderr.write(f"{json.dumps(figures)}\n")


def sampled(old: Json, new: Json, seed: int) -> Json:
    """Return a sampled value that only the old schema accepts, in a list; the list is empty if there is none."""
    try:
        return [value for value, _ in zip(counterexamples(old, new, seed, SAMPLES), (1,), strict=False)]
    except FAILURES:
        return []


@pytest.mark.parametrize("usual", [True, False], ids=["usual", "any"])
def test_no_value_contradicts_an_answer_on_random_pairs(usual: bool) -> None:
    counts = dict.fromkeys(Answer, 0)
    for seed in range(PAIRS):
        old, new = Pairs(seed, is_usual=usual).pair()
        decision = subsumes(old, new)
        counts[decision.answer] += 1
        if decision.answer is Answer.YES:
            assert sampled(old, new, seed) == [], (seed, old, new)
        elif decision.answer is Answer.NO:
            assert judge(old, formats=True)(decision.witness), (seed, old, decision)
            assert not judge(new, formats=True)(decision.witness), (seed, new, decision)
    record({str(answer): count for answer, count in counts.items()})
    assert counts[Answer.YES] > PAIRS / 10
    assert counts[Answer.NO] > PAIRS / 20
    assert counts[Answer.UNDECIDED] < PAIRS * (0.1 if usual else 0.7)


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
