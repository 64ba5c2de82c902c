"""mcpc against two other implementations: random schemas, the official suite's schemas, and those of real tools.

Whatever they judge differently has to be explained by the standard (`oracles.explanation`), or the test fails and
shows the smallest schema and value of it.
"""

import copy
import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis_jsonschema import from_schema

from mcpc.schema import compile as compiled
from support import oracles
from support.needs import ROOT
from support.random_schemas import DRAFTS, Generator
from support.random_values import Values
from support.reference import SCHEMA_SUITE, real_tools
from support.scale import scaled
from support.suite_adapter import agreed

Tally = Any

SPEC = importlib.util.spec_from_file_location("differential", ROOT / "bench/differential.py")
assert SPEC is not None and SPEC.loader is not None
differential = sys.modules["differential"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(differential)
PAIRS = scaled(20_000, 8_000)
SHARE = 40
"""Of the suite's values every so-manieth is judged by each of its schemas."""
EXAMPLES = 6
"""As many valid values are made for each schema of a real tool, and as many again that were changed."""


def nothing_unexplained(tally: Tally) -> None:
    shown = "\n".join(str(differential.minimal(difference)) for difference in tally.differences[:3])
    assert not tally.differences, shown


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_random_schemas_mean_the_same_to_all(draft: str) -> None:
    tally = differential.run(PAIRS // len(DRAFTS), 0, [draft])
    nothing_unexplained(tally)
    assert 0.25 < tally.accepted / tally.pairs < 0.75
    assert min(tally.asked.values()) > 0.9 * tally.pairs
    assert sum(tally.explained.values()) < 0.02 * tally.pairs
    assert tally.schemas > 2 * sum(tally.refused.values())


def test_random_schemas_have_every_keyword() -> None:
    for name, draft in DRAFTS.items():
        found: set[str] = set()
        for number in range(400):
            generator = Generator(f"all/{number}", name)
            found.update(keyword for keyword, _ in oracles.keywords_in(generator.whole()))
        assert set(oracles.PYTHON[name].VALIDATORS) - NOT_MADE <= found, draft


NOT_MADE = {"$dynamicRef", "$recursiveRef", "additionalItems", "dependencies", "prefixItems", "extends", "disallow"}
"""Keywords that a draft does not have although `jsonschema` asks for them in it."""


@pytest.mark.slow
@pytest.mark.parametrize("draft", ["draft2020-12", "draft7"])
def test_the_suites_schemas_mean_the_same_of_all_its_values(draft: str) -> None:
    tally = differential.run_suite(SCHEMA_SUITE, draft, SHARE)
    nothing_unexplained(tally)
    assert not tally.failed
    assert tally.pairs > 5_000


def real_schemas() -> Iterator[tuple[str, Any]]:
    for server, tools in real_tools().items():
        for tool in tools:
            for kind in ("inputSchema", "outputSchema"):
                if kind in tool:
                    yield f"{server}/{tool['name']}/{kind}", tool[kind]


@pytest.mark.parametrize("part", range(4))
@pytest.mark.sampled(4)
def test_values_made_for_real_tools_are_accepted_by_all(part: int) -> None:
    """Each valid value is accepted, and every changed one judged alike."""
    tally = differential.Tally()
    for number, (name, schema) in enumerate(real_schemas()):
        if number % 4 == part:
            judge_examples(tally, name, schema)
    nothing_unexplained(tally)
    assert tally.pairs >= 2 * tally.schemas > 0
    assert tally.pairs > EXAMPLES * 20


def judge_examples(tally: Tally, name: str, schema: Any) -> None:
    draft = "draft7" if "draft-07" in str(schema.get("$schema")) else "draft2020-12"
    values = Values(Generator(name, draft), schema)
    validator = compiled(schema, draft=draft)

    @settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(from_schema(copy.deepcopy(schema)))  # it puts what is referred to into what it is given
    def judged(value: Any) -> None:
        assert agreed(validator, value), f"{name} refuses {value!r}: {validator.errors(value)}"
        differential.judged(tally, schema, draft, [value, values.changed(value)])

    judged()


@pytest.mark.slow
def test_a_difference_is_found_made_small_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An implementation that takes `uniqueItems` for nothing, instead of one that is right."""
    right = oracles.PYTHON["draft2020-12"]

    def weakened(schema: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in schema.items() if name != "uniqueItems"}

    def without_unique(schema: Any) -> Any:
        return right(oracles.rewritten(schema, weakened))

    monkeypatch.setitem(oracles.PYTHON, "draft2020-12", without_unique)
    tally = differential.run(4_000, 0, ["draft2020-12"])
    assert tally.differences
    smallest = differential.minimal(tally.differences[0])
    assert smallest.schema == {"uniqueItems": True}
    assert len(smallest.instance) == 2
    assert "mcpc refuses, jsonschema accepts; NOT EXPLAINED" in str(smallest)


@pytest.mark.parametrize(
    ("oracle", "schema", "instance", "why"),
    [
        ("jsonschema-rs", {"pattern": "^.*bar$"}, "foo\rbar", "`.` and line ends"),
        ("jsonschema", {"pattern": "^.$"}, "\u2028", "`.` and line ends"),
        ("jsonschema", {"pattern": "b$"}, "b\n", "`$` before a last line end"),
        ("jsonschema", {"pattern": r"\d"}, "\u0661", "character classes of Unicode"),
        ("jsonschema", {"multipleOf": 0.1}, 0.3, "division of binary fractions"),
        ("jsonschema", {"patternProperties": {"": {}}, "additionalProperties": False}, {"a": 1}, "the empty pattern"),
        ("jsonschema", {"pattern": "^a"}, "b", ""),
        ("jsonschema", {"multipleOf": 2}, 3, ""),
    ],
)
def test_an_explanation_explains_only_what_it_is_about(oracle: str, schema: Any, instance: Any, why: str) -> None:
    answer = compiled(schema).accepts(instance)
    other = oracles.oracles(schema, "draft2020-12")[oracle](instance)
    assert (other is not answer) is bool(why)
    wrong = oracles.Difference(oracle, "draft2020-12", schema, instance, answer if why else not answer)
    assert oracles.explanation(wrong) == why
