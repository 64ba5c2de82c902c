"""Random schemas and values, judged by mcpc and by two other implementations: whoever differs has to be explained.

    python bench/differential.py [--pairs N] [--seed S] [--suite DIRECTORY]

Prints how many pairs were judged, how many were judged differently, and each difference as small as it can be made.
Exit status 1 if one of them is not explained by the standard (`oracles.explanation`).
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mcpc.schema import SchemaError
from mcpc.schema import compile as compiled
from support.oracles import RUST, Difference, answers, explanation, oracles
from support.random_schemas import DRAFTS, Generator
from support.random_values import Values
from support.suite_adapter import agreed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.schema import Validator

    Json = Any

VALUES = 25
"""As many values are judged by one random schema."""
REFUSABLE = {"MCP117", "MCP008"}
"""A schema that never ends, or would ask too much, is refused rightly: a random one may do either."""


@dataclass(slots=True)
class Tally:
    """What came of many pairs."""

    schemas: int = 0
    pairs: int = 0
    accepted: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def note(self, difference: Difference) -> None:
        why = explanation(difference)
        if why:
            self.explained[f"{difference.oracle}: {why}"] += 1
        else:
            self.differences.append(difference)


# Judging.


def judged(tally: Tally, schema: Json, draft: str, instances: Iterable[Json]) -> None:
    """Judge values by one schema, with all implementations."""
    validator = ours(tally, schema, draft)
    if validator is None:
        return
    tally.schemas += 1
    others = oracles(schema, draft)
    for instance in instances:
        answer = agreed(validator, instance)
        tally.pairs += 1
        tally.accepted += answer
        for oracle, judge in others.items():
            other = answers(judge, instance)
            if isinstance(other, str):
                tally.failed[f"{oracle}: {other[:40]}"] += 1
                continue
            tally.asked[oracle] += 1
            if other is not answer:
                tally.note(Difference(oracle, draft, schema, instance, answer))


def ours(tally: Tally, schema: Json, draft: str) -> Validator | None:
    """Return mcpc's validator; None if the schema may be refused, and is."""
    try:
        return compiled(schema, draft=draft)
    except SchemaError as error:
        codes = {problem.code for problem in error.diagnostics if problem.severity == "error"}
        if not codes <= REFUSABLE:
            raise AssertionError(f"{error.diagnostics}\n{json.dumps(schema)}") from error
        tally.refused.update(codes)
        return None


def run(pairs: int, seed: int, drafts: Iterable[str] = DRAFTS) -> Tally:
    """Judge so many pairs, the drafts in turn."""
    tally = Tally()
    names = tuple(drafts)
    number = 0
    while tally.pairs < pairs:
        draft = names[number % len(names)]
        generator = Generator(f"{seed}/{number}", draft)
        schema = generator.whole()
        values = Values(generator, schema)
        judged(tally, schema, draft, [values.one() for _ in range(VALUES)])
        number += 1
    return tally


# Making small.


def differing(oracle: str, draft: str, schema: Json, instance: Json) -> Difference | None:
    """Return the difference there is, if any; what was made too small may fail in any way."""
    try:
        answer = compiled(schema, draft=draft).accepts(instance)
        other = oracles(schema, draft)[oracle](instance)
    except Exception:  # noqa: BLE001 - whatever a broken schema brings about
        return None
    return Difference(oracle, draft, schema, instance, answer) if answer is not other else None


def smaller(value: Json) -> Iterator[Json]:
    """Yield values with one thing less than `value`."""
    if isinstance(value, dict):
        for name in value:
            yield {key: item for key, item in value.items() if key != name}
        for name, item in value.items():
            yield from ({**value, name: less} for less in smaller(item))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, item in enumerate(value):
            yield from ([*value[:at], less, *value[at + 1 :]] for less in smaller(item))
    if isinstance(value, dict) and value:
        yield True
        yield from (item for item in value.values() if isinstance(item, dict))


def minimal(difference: Difference, seconds: float = 20.0) -> Difference:
    """Return a difference of which no part can be left out."""
    until = time.monotonic() + seconds
    wanted = bool(explanation(difference))
    while time.monotonic() < until:
        for candidate in candidates(difference):
            less = differing(*candidate)
            if less and bool(explanation(less)) is wanted:
                difference = less
                break
        else:
            break
    return difference


def candidates(difference: Difference) -> Iterator[tuple[str, str, Json, Json]]:
    """Yield what there may be with a little less of the schema or of the value."""
    oracle, draft, schema, instance = difference.oracle, difference.draft, difference.schema, difference.instance
    yield from ((oracle, draft, less, instance) for less in smaller(schema) if isinstance(less, dict))
    yield from ((oracle, draft, schema, less) for less in smaller(instance))


# The official suite's schemas, each with all of the suite's values.


def cases(suite: Path, draft: str) -> Iterator[tuple[Json, list[Json]]]:
    """Yield every schema of the suite, and the values it is tested with, but where `format` decides."""
    for path in sorted((suite / "tests" / draft).rglob("*.json")):
        if path.name == "format-assertion.json":
            continue
        for case in json.loads(path.read_text(encoding="utf-8")):
            yield case["schema"], [test["data"] for test in case["tests"]]


def remotes(suite: Path) -> dict[str, Json]:
    """Return what the suite's schemas refer to, by URI."""
    folder = suite / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(folder).as_posix()}": json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.json"))
    }


def run_suite(suite: Path, draft: str, share: int = 1) -> Tally:
    """Judge every value of the suite by every schema of it; of `share` values only each first one."""
    tally = Tally()
    documents = remotes(suite)
    all_cases = list(cases(suite, draft))
    pool = {json.dumps(value): value for _, values in all_cases for value in values}
    for number, (schema, _) in enumerate(all_cases):
        try:
            validator = compiled(schema, draft=draft, remotes=documents)
            other = RUST[draft](
                schema, validate_formats=False, retriever=lambda uri: copy.deepcopy(documents[uri.rstrip("#")])
            ).is_valid
        except (SchemaError, ValueError) as error:
            tally.failed[f"{type(error).__name__}: {error}"[:80]] += 1
            continue
        tally.schemas += 1
        for value in list(pool.values())[number % share :: share]:
            answer = agreed(validator, value)
            tally.pairs += 1
            tally.accepted += answer
            if other(value) is not answer:
                tally.note(Difference("jsonschema-rs", draft, schema, value, answer))
    return tally


def main() -> int:
    """Judge and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draft", choices=tuple(DRAFTS), action="append")
    parser.add_argument("--suite", type=Path, help="the official suite: its schemas, each with all its values")
    options = parser.parse_args()
    began = time.monotonic()
    drafts = options.draft or tuple(DRAFTS)
    if options.suite:
        tallies = {
            draft: run_suite(options.suite, draft) for draft in drafts if (options.suite / "tests" / draft).is_dir()
        }
    else:
        tallies = {", ".join(drafts): run(options.pairs, options.seed, drafts)}
    for name, tally in tallies.items():
        sys.stdout.write(report(name, tally, time.monotonic() - began))
    return 1 if any(tally.differences for tally in tallies.values()) else 0


def report(name: str, tally: Tally, seconds: float) -> str:
    """Return what came of many pairs."""
    share = tally.accepted / max(1, tally.pairs)
    rate = len(tally.differences) / max(1, tally.pairs)
    lines = (
        f"{name}: {tally.schemas:,} schemas, {tally.pairs:,} pairs, {share:.0%} accepted, {seconds:.0f} s",
        f"  judged also by {dict(tally.asked)}; no answer {dict(tally.failed.most_common(8))}",
        f"  schemas refused {dict(tally.refused)}",
        f"  explained {dict(tally.explained)}",
        f"  {len(tally.differences)} disagreements that are not ({rate:.6%})",
        *(str(minimal(difference)) for difference in tally.differences[:10]),
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
