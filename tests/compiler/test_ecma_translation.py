"""Patterns on which `re` could take long: rewritten, proved to be linear, or guarded, and always with the same answers."""

import random
import re
import time
from collections.abc import Callable

import pytest

from mcpc.schema import compile as validator
from mcpc.schema.ecma.machine import Machine
from mcpc.schema.ecma.matcher import searching, table
from mcpc.schema.ecma.paths import is_linear, lookbehind_steps, safe_steps
from mcpc.schema.ecma.translation import parse, translate, trimmed
from mcpc.schema.ecma.tree import write_pattern
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError
from mcpc_runtime.protocol.validation.patterns import PatternMatcher

LINEAR = [
    "",
    "a",
    "^[a-z]+$",
    "[a-z]+@[a-z]+",
    r"\s+$",
    "(a+)+$",
    "(a*)*b",
    "(a|a)*b",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    r"^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$",
    "^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$",
    r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$",
    r"^(?!.*--)[a-z-]+$",
    r"^(['\"]).*\1$",
    r"^https?://[^\s/$.?#].[^\s]*$",
]
NOT_LINEAR = [
    "^(a+)+$",
    "^a*a*a*b$",
    "foo.*bar.*baz",
    r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    '"(?:[^"\\\\]|\\\\.)*"',
    "x.*y|a",
    r"^(a+)\1$",
    "^(?:a?){20}a{20}$",
    "^(?=(a|aa)+$)a*b$",
    "(?:ab|[a-c]){5000}x",
    r"\ba|a[ab]*c",
    "(?<=[ab]{20000}c)b",
]


@pytest.mark.parametrize("pattern", LINEAR)
def test_a_pattern_that_takes_linear_time_is_left_to_re(pattern: str) -> None:
    assert searching(pattern).guard is None


@pytest.mark.parametrize("pattern", NOT_LINEAR)
def test_any_other_is_guarded(pattern: str) -> None:
    guard = searching(pattern).guard
    assert guard.length < 5000


@pytest.mark.parametrize(
    ("pattern", "least"), [("(?<=[ab]{16}c)b", 10_000), ("^[a-z-]+(?<!-)$", 100_000), (r"^(a+)\1$", 100)]
)
def test_what_is_guarded_without_an_automaton_takes_texts_of_some_length(pattern: str, least: int) -> None:
    guard = searching(pattern).guard
    assert guard.length >= least


@pytest.mark.parametrize(
    "pattern", ["^(?:[a-z]?){70}$", r"^(?:\w+|-?){70}!", "(?:a?){65}c", r"(?:(?:\ba)?){3000}-", r"(?:\b){999999}x"]
)
def test_re_is_given_no_text_where_rounds_that_may_be_empty_are_not_counted(pattern: str) -> None:
    guard = searching(pattern).guard
    assert guard.length < 0


@pytest.mark.parametrize(("text", "is_valid"), [("a-" * 7 + "x", True), ("a-" * 7 + "y", False), ("ax", False)])
def test_many_rounds_that_read_nothing_are_matched_as_one(text: str, is_valid: bool) -> None:
    assert validator({"pattern": r"(?:\b){999999}x$"}).accepts(text) is is_valid


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[a-z]+@[a-z]+", r"[a-z]\@[a-z]"),
        (r"\d+$", r"\d\Z"),
        (".*foo.*", "foo"),
        ("(a+)+b", "ab"),
        ("^a+b+", r"\Aa+b"),
        ("b|a*", "b|"),
        ("x(?=a+)", "x(?=a)"),
        ("c{2,4}", "c{2}"),
        ("(a+)b\\1+", "(a+)b(?:(?(1)\\1))+"),
    ],
)
def test_repetitions_that_do_not_matter_are_left_out(pattern: str, expected: str) -> None:
    assert write_pattern(trimmed(parse(pattern))) == expected


def test_a_literal_is_looked_for_first_and_the_end_of_a_text_alone() -> None:
    assert searching("[a-z]+@[a-z]+").text == r"\@(?<=[a-z]\@)[a-z]"
    assert searching(r"\d{2}[a-z]$").end == 3
    assert searching("^a+$").is_at_beginning


PARTS = [
    "a",
    "b",
    "[ab]",
    ".",
    "ab",
    r"\w",
    r"\W",
    "^",
    "$",
    r"\b",
    r"\B",
    "[^a]",
    " ",
    "(?=a)",
    "(?!b)",
    "(?=.*b)",
    "(?!a$)",
]
COUNTS = ["*", "+", "?", "{2}", "{0,3}", "*?", "{1,}", "{2,}"]


def random_pattern(source: random.Random, depth: int) -> str:
    choice = source.random()
    if depth == 0 or choice < 0.25:
        return source.choice(PARTS)
    inner = random_pattern(source, depth - 1)
    if choice < 0.6:
        return inner + random_pattern(source, depth - 1)
    if choice < 0.75:
        return f"(?:{inner}|{random_pattern(source, depth - 1)})"
    if choice < 0.82:
        return f"{source.choice(['(?=', '(?!'])}{inner})"
    return f"(?:{inner}){source.choice(COUNTS)}"


def patterns(seed: int, count: int) -> list[str]:
    source = random.Random(seed)
    made = (random_pattern(source, source.randint(1, 4)) for _ in range(2 * count))
    return [pattern for pattern in made if not is_refused(pattern)][:count]


def is_refused(pattern: str) -> bool:
    try:
        translate(pattern)
    except PatternError:
        return True
    return False


def looks_for(pattern: str) -> Callable[[str], object]:
    """Return what a generated module does with `re`."""
    how = searching(pattern)
    compiled = re.compile(how.text, re.ASCII)
    if how.end:
        return lambda text: compiled.search(text, len(text) - how.end)
    return compiled.match if how.is_at_beginning else compiled.search


def test_rewritten_patterns_and_automata_find_what_re_finds() -> None:
    source = random.Random(5)
    automata = 0
    for pattern in patterns(4, 700):
        plain, quick = re.compile(translate(pattern), re.ASCII).search, looks_for(pattern)
        rows = table(trimmed(parse(pattern)))
        automata += rows is not None
        matcher = PatternMatcher(rows, [10**12], 0)
        for _ in range(40):
            text = "".join(source.choices("ab \n-é"[: source.randint(1, 6)], k=source.randint(0, 9)))
            expected = plain(text) is not None
            assert (quick(text) is not None) is expected, (pattern, text)
            assert rows is None or (matcher.search(text) is True) is expected, (pattern, text)
    assert automata > 600


def test_what_is_proved_linear_is_so_on_every_repetition() -> None:
    source = random.Random(6)
    proved = 0
    for pattern in patterns(7, 250):
        root = trimmed(parse(pattern))
        if not is_linear(root):
            continue
        proved += 1
        machine = Machine(root, 10**6)
        for _ in range(8):
            before, pump = "".join(source.choices("ab ", k=source.randint(0, 2))), "".join(source.choices("ab ", k=3))
            short, long = [machine.count(before + pump * times + source.choice("ab\n!")) for times in (40, 80)]
            assert long <= 2.6 * short + 300, (pattern, before, pump)
    assert proved > 100


def test_no_short_text_takes_more_steps_than_is_said() -> None:
    source = random.Random(8)
    tried = 0
    for pattern in patterns(9, 400):
        root = trimmed(parse(pattern))
        if is_linear(root):
            continue
        steps = safe_steps(root, 20_000)
        machine = Machine(root, 10**6)
        for _ in range(10):
            text = "".join(source.choices("ab ", k=source.randint(0, 3))) * 40
            text = text[: source.randint(0, max(len(steps) - 1, 0))]
            tried += 1
            # an instruction is no step of a way: those between two characters are several
            assert machine.count(text) <= 30 * steps[len(text)] + 200, (pattern, text)
    assert tried > 100


@pytest.mark.parametrize(
    "pattern",
    [
        "(?<=[ab]{7}c)b",
        "(?<!-)b",
        "^[a-z-]+(?<!-)$",
        "(?<=(?:[ab][ab]|[ac]b)(?:[ab]b|ac)c)b",
        "(?:(?<=[ab]{7}c)b|b(?<=[ab]{7}c))c",
        "(?<=[ab]{60}c)b",
        "(?<=(?=[ab])[ab](?=[ab])[ab]c)b",
        "^(?:a(?<=[ab]{3}a)|b)+c",
    ],
)
def test_a_character_takes_no_more_steps_than_look_behinds_are_counted_for(pattern: str) -> None:
    source = random.Random(3)
    root = trimmed(parse(pattern))
    machine = Machine(root, 10**7)
    for _ in range(100):
        text = ("".join(source.choices("abc-", k=source.randint(1, 4))) * 300)[:300]
        assert machine.count(text) <= 300 * 6 * lookbehind_steps(root), (
            text
        )  # a step takes as long as some instructions


EMAIL = r"^[^\s@]+@[^\s@]+\.[^\s@]+$"


@pytest.mark.parametrize(
    ("pattern", "text", "is_valid"),
    [
        (EMAIL, "jo@example.com", True),
        (EMAIL, "jo@" + "example." * 1000 + "com", True),
        (EMAIL, "jo@" + "example." * 1000 + "@", False),
        ("^a*a*a*b$", "a" * 50_000 + "b", True),
        ("^a*a*a*b$", "a" * 1_000_000, False),
        ("^(?=.*[0-9].*x)(?:a|b|ab)*[0-9]x$", "ab" * 20_000 + "0x", True),
        (r"^\b\w+\b\s*\b\w+\b$", "ab" * 20_000 + " é", False),
    ],
)
def test_a_long_text_is_judged_as_a_short_one(pattern: str, text: str, is_valid: bool) -> None:
    judge = validator({"pattern": pattern})
    assert judge.accepts(text) is is_valid
    assert [keyword for _, keyword, _ in judge.errors(text)] == ([] if is_valid else ["pattern"])


@pytest.mark.parametrize(
    ("schema", "value", "complaint"),
    [
        ({"pattern": "^a*a*b$"}, "a" * 999_999 + "b", ("", "patternLength", 100_000)),
        (
            {"properties": {"x/y": {"pattern": "^a*a*b$"}}},
            {"x/y": "a" * 999_999 + "b"},
            ("/x~1y", "patternLength", 100_000),
        ),
        ({"not": {"pattern": "^a*a*b$"}}, "a" * 999_999 + "b", ("", "patternLength", 100_000)),
        ({"items": {"pattern": EMAIL}}, ["jo@example.com"] * 100_000, ("/0", "patternWork", 100_000)),
        (
            {"patternProperties": {"^a*a*b$": False}},
            {"a" * 999_999 + "b": 1},
            ("/" + "a" * 200, "patternLength", 100_000),
        ),
        ({"pattern": r"^(a+)\1$"}, "a" * 5_000, ("", "patternLength", 221)),
    ],
)
def test_what_would_take_too_long_is_refused(schema: object, value: object, complaint: tuple[object, ...]) -> None:
    judge = validator(schema)
    begun = time.process_time()
    assert not judge.accepts(value)
    ((pointer, keyword, most),) = judge.errors(value)
    assert time.process_time() - begun < 2
    assert (pointer, keyword) == complaint[:2]
    if complaint[2] == 100_000:
        assert most == complaint[2]


def test_a_refusal_spends_nothing_of_the_next_value() -> None:
    judge = validator({"pattern": "^a*a*b$"})
    for _ in range(3):
        assert not judge.accepts("a" * 999_999 + "b")
        assert judge.accepts("a" * 90_000 + "b")
        assert judge.accepts("a" * 90 + "b")


def test_an_automaton_of_very_many_states_is_kept_within_bounds() -> None:
    """Each character needs a state that no other did: what is made is counted, and so is what is kept."""
    source = random.Random(3)
    judge = validator({"pattern": "^(?:a|b)*(?:a|b)*c(?:a|b){40}a(?:a|b)*$"})
    text = "c" + "".join(source.choices("ab", k=90_000))
    begun = time.process_time()
    assert not judge.accepts(text)
    assert judge.errors(text) == [("", "patternWork", 100_000)]
    assert time.process_time() - begun < 2


HUGE = (1 << 61) - 1


@pytest.mark.parametrize(
    "values",
    [
        [HUGE * number for number in range(1, 30_000)],
        [-HUGE * number for number in range(1, 30_000)],
        [[HUGE * number] for number in range(1, 30_000)],
        [{"a": HUGE * number} for number in range(1, 30_000)],
        [number << 40 for number in range(30_000)],
    ],
)
def test_numbers_with_equal_hashes_are_compared_in_no_more_time(values: list[object]) -> None:
    """A set of numbers that all have the hash 0 takes minutes."""
    for schema in ({"uniqueItems": True}, {"uniqueItems": True, "items": {"type": ["integer", "array", "object"]}}):
        judge = validator(schema)
        begun = time.process_time()
        assert judge.accepts(values)
        assert not judge.accepts([*values, values[0]])
        assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("values", "are_unique"),
    [
        ([1, 1.0], False),
        ([1, True], True),
        ([0, False, None, "", [], {}], True),
        ([10**22, 1e22], False),
        ([-0.0, 0], False),
        (["1", 1], True),
        (["0x1", 1], True),
        (["[1]", [1]], True),
        ([["a,b"], ["a", "b"]], True),
        ([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], False),
        ([["'a'"], ["a"]], True),
        ([None, None], False),
        ([1.5, 1.5], False),
    ],
)
def test_values_are_unique_as_json_compares_them(values: list[object], are_unique: bool) -> None:
    assert validator({"uniqueItems": True}).accepts(values) is are_unique
