"""Patterns that take long: which are found, with a text that shows it, and that none is found that does not."""

import itertools
import json
import random
import re
import time
from collections.abc import Iterator

import pytest

from mcpc.schema.ecma.ambiguity import ReDoSWitness
from mcpc.schema.ecma.backtracking import MAX_STEPS, backtracking
from mcpc.schema.ecma.machine import Machine
from mcpc.schema.ecma.translation import parse, translate, trimmed
from mcpc.schema.graph import cycles
from mcpc.schema.slow_patterns import slow_patterns
from support.reference import SCHEMA_SUITE, real_tools
from support.schemas import node_of

EXPONENTIAL = [
    "^(a+)+b",
    "^(a+)+$",
    "^(a*)*b",
    "^(a|aa)+$",
    "^(x+x+)+y",
    "^(.*)*$",
    "^((a?)*x)*y",
    "(?:a?){25}a{25}",
    "^(a|b|ab)*c$",
    r"^(\w+\s?)*$",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
    "^([a-z]+ ?){1,50}$",
    "^((ab)*|(cd)*)*$",
    '"(?:[^"\\\\]+|\\\\.)*"',
    "^abc(?=(a+)+b)",
    "^(?:(?:(?:a){1,}|.))*aa",
    "^x*(?:(?:a+)+b|[^])",
    r"^(?:\b\w+\b\W?)*!(?:\p{L}+)*$",
    r"^(?:(a+)\1?)+$",
]
POLYNOMIAL = {"foo.*bar.*baz": 3, "^.*.*.*x": 3, r"^(\w{1,30} ?){1,5}$": 5, "^a*a*a*$": 3}
ORDINARY = [
    "(a|a)*b",
    "(a+)+$",
    "(a*)*b",
    "(x+x+)+y",
    ".*.*.*x",
    r"\s*,?\s*,?\s*$",
    "(a|ab)*c",
    r"(\w|\d)+$",
    "(.*)*",
    r"\s+$",
    "^foo.*bar.*baz$",
    r"^\s*\w*\s*$",
    "^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$",
    r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    r"^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$",
    r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$",
    "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$",
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*))*))?$",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$",
    r"^/?(?:[^/]+/)*[^/]*$",
    '"(?:[^"\\\\]|\\\\.)*"',
    "^(?:(?!end).)*end",
    "^(?:(?!ab)[a-z]|ab)*$",
    "(?<=(a|a){3})b",
    r"\b\w+\b\s*\b\w+\b$",
    r"^(a+)\1+$",
    "^(a{0,10}){0,10}$",
    r"^([\s\S]*)*$",
    "",
    "a",
    "(",
]


@pytest.mark.parametrize("pattern", EXPONENTIAL)
@pytest.mark.sampled(4)
def test_an_exponential_pattern_is_found_with_a_text_that_shows_it(pattern: str) -> None:
    verdict = backtracking(pattern)
    assert (verdict.degree, verdict.cost) == (None, "O(2^n)")
    assert len(verdict.example) < 60
    assert Machine(trimmed(parse(pattern)), MAX_STEPS).count(verdict.example) >= MAX_STEPS


@pytest.mark.parametrize(("pattern", "degree"), POLYNOMIAL.items())
def test_a_pattern_of_a_high_power_is_found(pattern: str, degree: int) -> None:
    verdict = backtracking(pattern)
    assert (verdict.degree, verdict.cost) == (degree, f"O(n^{degree})")


@pytest.mark.parametrize("pattern", ORDINARY)
def test_nothing_is_found_in_ordinary_patterns(pattern: str) -> None:
    assert backtracking(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "longest", "is_found"),
    [
        ("^(a+)+$", 12, False),
        ("^(a+)+$", 16, False),
        ("^(a+)+$", 30, True),
        ("^(a+)+$", 0, False),
        ("^(([a-z]+)*)+$", 16, True),
        ("foo.*bar.*baz", 100, False),
        ("foo.*bar.*baz", 10_000, True),
        ("a+$", 10_000, False),
    ],
)
def test_a_bound_that_makes_it_harmless_ends_it(pattern: str, longest: int, is_found: bool) -> None:
    assert (backtracking(pattern, longest) is not None) is is_found


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        ({"pattern": "^(a+)+$"}, ["MCP118"]),
        ({"pattern": "^(a+)+$", "maxLength": 40}, ["MCP118"]),
        ({"pattern": "^(a+)+$", "maxLength": 12}, []),
        ({"pattern": "^(a+)+$", "maxLength": 12.0}, []),
        ({"pattern": "^(a+)+$", "maxLength": "12"}, ["MCP118"]),
        ({"pattern": "^(a+)+$", "enum": ["a", "aaa"]}, []),
        ({"pattern": "foo.*bar.*baz"}, ["MCP119"]),
        ({"pattern": r"^\s*\w*\s*$"}, ["MCP157"]),
        ({"pattern": r"^\s*\w*\s*$", "maxLength": 100}, []),
        ({"pattern": r"^(a+)\1$"}, ["MCP158"]),
        ({"pattern": r"^(a+)\1$", "maxLength": 100}, []),
        ({"pattern": "^" + "(?:a?b?)" * 1000 + "c"}, ["MCP159"]),
        ({"patternProperties": {"^a*b*a*$": True}, "propertyNames": {"maxLength": 20}}, []),
        (
            {"patternProperties": {"^(a+)+$": True, "^a+$": True, "^(x+x+)+y": True}, "maxLength": 3},
            ["MCP118", "MCP118"],
        ),
        ({"pattern": "(", "patternProperties": {"(": True}}, []),
        ({"pattern": 1, "patternProperties": 1}, []),
        ({}, []),
    ],
)
def test_a_slow_pattern_is_reported_where_it_stands(schema: dict[str, object], codes: list[str]) -> None:
    node = node_of(schema)
    problems = list(slow_patterns({member.key: member.node for member in node.members}))
    assert [problem.code for problem in problems] == codes
    assert all(problem.span and problem.span.start > 0 for problem in problems)


def test_the_report_shows_a_text_and_what_to_repeat_in_it() -> None:
    node = node_of({"pattern": "^(?:\\n*)*$"})
    (problem,) = slow_patterns({member.key: member.node for member in node.members})
    assert problem.message == r"the pattern `^(?:\\n*)*$` can take O(2^n) steps for n characters"
    assert problem.hint.startswith(r"more repetitions of `\n` in `\n\n")
    assert problem.hint.endswith("bound the text with `maxLength`, or let the pattern read each text in one way only")


def patterns_in(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            elif key == "patternProperties" and isinstance(value, dict):
                yield from value
            yield from patterns_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from patterns_in(value)


def test_no_pattern_of_real_tools_and_of_the_official_suite_takes_long() -> None:
    found = set(patterns_in(real_tools()))
    for path in sorted(SCHEMA_SUITE.rglob("*.json")):
        found |= set(patterns_in(json.loads(path.read_text())))
    assert len(found) > 30
    assert [pattern for pattern in sorted(found) if backtracking(pattern)] == []


HOSTILE = [
    "(" * 99 + "a+" + ")+" * 99,
    "(?:a?b?)*" * 100,
    "|".join(f"(?:{first}{last})+" for first in "abcdefghijklmnop" for last in "abcdefghijklmnop"),
    "(?:" + "|".join(f"{first}{last}" for first in "abcdefghijklmnop" for last in "abcdefghijklmnop") + ")*$",
    "".join(f"(\\{number}\\{number}a?)" for number in range(1, 60)),
    "()" + "".join(f"(\\{number}\\{number})" for number in range(1, 90)),
    "((a{0,12}){0,12}){0,12}",
    "(?:.*){1,12}" * 50,
    r"(?:\p{L}|\p{Script=Greek}|\p{Lu}\p{Ll}|\p{N})*" * 10,
    "a*" * 2_000,
    "[^]" * 3_000 + "*",
    "(?:(?:a|b)*(?:[ab]|c)*(?:[bc]|a)*)*x" * 5,
]


@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_pattern_is_judged_in_bounded_time(pattern: str) -> None:
    begun = time.process_time()
    backtracking(pattern)
    assert time.process_time() - begun < 20


ATOMS = ["a", "b", "a", "[ab]", ".", "ab", "aa"]
ENDS = ["", "c", "a", "b", "\n"]


def random_pattern(source: random.Random, depth: int) -> str:
    choice = source.random()
    if depth == 0 or choice < 0.3:
        return source.choice(ATOMS)
    if choice < 0.55:
        return random_pattern(source, depth - 1) + random_pattern(source, depth - 1)
    if choice < 0.75:
        return f"(?:{random_pattern(source, depth - 1)}|{random_pattern(source, depth - 1)})"
    return f"(?:{random_pattern(source, depth - 1)})" + source.choice(["*", "+", "?", "{2}", "{0,3}", "*?", "{1,}"])


@pytest.mark.slow
def test_what_no_verdict_speaks_of_is_harmless_on_every_short_repetition() -> None:
    """An exponential pattern needs no other than short texts to show it if it has two letters."""
    source = random.Random(1991)
    pumps = ["".join(letters) for length in (1, 2, 3) for letters in itertools.product("ab", repeat=length)]
    exponential = 0
    for _ in range(100):
        pattern = source.choice(["^", ""]) + random_pattern(source, 4) + source.choice(["$", "c", "", ""])
        verdict = backtracking(pattern)
        if verdict is not None:
            exponential += verdict.degree is None
            continue
        machine = Machine(trimmed(parse(pattern)), 60_000)
        for pump, begin, end in itertools.product(pumps, ["", "a", "b"], ENDS):
            text = begin + pump * (24 // len(pump)) + end
            assert machine.count(text) < 60_000, (pattern, text)
    assert exponential > 2


def test_steps_are_counted_as_the_matcher_takes_them() -> None:
    """Texts are found and not found where `re` finds them: the machine follows the same ways."""
    source = random.Random(7)
    for _ in range(300):
        pattern = random_pattern(source, 4) + source.choice(["$", "c", "", r"\b", "(?=a)", "(?!b)", "(?<=ab)"])
        compiled, machine = re.compile(translate(pattern), re.ASCII), Machine(parse(pattern), 10**6)
        for letters in itertools.product("abc", repeat=4):
            text = "".join(letters)
            machine.count(text)
            found = any(machine.run(machine.code, start) for start in range(len(text) + 1))
            assert found is (compiled.search(text) is not None), (pattern, text)


def test_an_attack_is_a_text_with_repetitions() -> None:
    attack = ReDoSWitness(("x", "y", "z"), ("ab", "c"))
    assert [attack.text(0), attack.text(2), attack.ending("!").text(1)] == ["xyz", "xababyccz", "xabycz!"]


def test_loops_come_after_those_they_lead_to() -> None:
    assert cycles({0: [1], 1: [2, 0], 2: [3], 3: [3, 4], 4: []}) == [frozenset({3}), frozenset({0, 1})]
    assert cycles({}) == []
