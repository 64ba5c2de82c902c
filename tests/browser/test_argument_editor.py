"""The argument editor in Chromium: what goes in comes out of the form as it was written."""

import json
import random
from collections.abc import Callable
from typing import Any

from support.argument_editor import failures, round_trips
from support.page_files import ARGUMENTS
from support.random_schemas import DRAFTS, Generator
from support.random_values import Values
from support.reference import real_tools
from support.scale import scaled

Json = Any

LIMIT = 32_000
"""The sources of the editor, in bytes."""
RANDOM, WRONG = 500, scaled(500, 100)
DEPTH = 8
SAMPLES: dict[str, list[Json]] = {
    "string": ["", "té\nxt", "<b>&amp;", "2026-11-27T22:40:31+01:00"],
    "integer": [0, -1, 12345678901234567890],
    "number": [1.0, -0.0, 2.5e-9],
    "boolean": [True, False],
    "null": [None],
}
"""Values by type, some of which JavaScript would change."""


def filled(schema: Json, root: Json, pick: random.Random, depth: int = 0) -> Json:
    """Return a value that a tool's schema asks for, with most of its optional properties."""
    if not isinstance(schema, dict) or depth > DEPTH:
        return {}
    if "$ref" in schema:
        target = root
        for token in schema["$ref"].split("/")[1:]:
            target = target[token]
        return filled(target, root, pick, depth + 1)
    for keyword in ("oneOf", "anyOf", "allOf"):
        if keyword in schema:
            return filled(pick.choice(schema[keyword]), root, pick, depth + 1)
    if "const" in schema or "enum" in schema:
        return pick.choice(schema.get("enum", [schema.get("const")]))
    return filled_type(schema, root, pick, depth)


def filled_type(schema: Json, root: Json, pick: random.Random, depth: int) -> Json:
    kind = pick.choice(schema["type"]) if isinstance(schema.get("type"), list) else schema.get("type")
    if kind == "array":
        return [filled(schema.get("items", {}), root, pick, depth + 1) for _ in range(pick.randrange(3))]
    if kind in SAMPLES:
        return pick.choice(SAMPLES[kind])
    required = schema.get("required", ())
    named = {
        name: part for name, part in schema.get("properties", {}).items() if name in required or pick.random() < 0.8
    }
    return {name: filled(part, root, pick, depth + 1) for name, part in named.items()}


def cases_of(tools: list[dict[str, Json]], each: int) -> list[tuple[Json, str]]:
    pick = random.Random(17)
    schemas = [tool["inputSchema"] for tool in tools]
    return [(json.dumps(one), json.dumps(filled(one, one, pick))) for one in schemas for _ in range(each)]


def spoiled(g: Generator, schema: Json) -> Json:
    """Return a schema in which some keywords have values of a wrong kind."""
    if isinstance(schema, list):
        return [spoiled(g, one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: g.value(2) if g.often(0.15) else spoiled(g, value) for name, value in schema.items()}


def test_the_sources_stay_small() -> None:
    assert sum(path.stat().st_size for path in ARGUMENTS.iterdir()) <= LIMIT


def test_values_of_real_tools_come_out_as_they_went_in_most_of_them_in_fields_of_their_type() -> None:
    tools = [tool for server in real_tools().values() for tool in server]
    cases = cases_of(tools, 3)
    results = round_trips(cases)
    assert not failures(cases, results)
    assert not any(result["json"] for result in results)
    assert sum(result["asJson"] for result in results) < 0.2 * sum(result["fields"] for result in results)


def random_cases(
    count: int, change: Callable[[Generator, Json], Json] = lambda _, schema: schema
) -> list[tuple[Json, str]]:
    """Return random schemas as text, each with a value that often fits."""
    found = []
    for seed in range(count):
        g = Generator(seed, list(DRAFTS)[seed % len(DRAFTS)])
        schema = g.whole()
        found.append((json.dumps(change(g, schema)), json.dumps(Values(g, schema).one())))
    return found


def test_values_of_random_schemas_come_out_as_they_went_in() -> None:
    cases = random_cases(RANDOM)
    results = round_trips(cases)
    assert not failures(cases, results)
    for result, (_, text) in zip(results, cases, strict=True):
        assert result["json"] is not isinstance(json.loads(text), dict)


def test_schemas_that_are_wrong_themselves_lose_nothing_either() -> None:
    cases = random_cases(WRONG, spoiled)
    assert not failures(cases, round_trips(cases))
