"""What `mcpc diff` calls compatible, on random pairs of schemas that are judged by sampling.

`TESTS_SCHEMA_PAIRS=N` tries N pairs of each sort, with more samples; without it there are a few.
"""

import json
import os
import sys
from typing import Any

import pytest

from mcpc.release.comparison.inclusion import accepts
from mcpc.release.comparison.placed_schemas import UNUSABLE, closed
from mcpc.release.comparison.rules import Impact
from mcpc.release.comparison.schemas import INPUT, OUTPUT, schema_changes
from support.schema_pairs import Pairs, counterexamples

Json = Any

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
