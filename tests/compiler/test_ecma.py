"""ECMA-262 patterns in the syntax of `re`: what they match, and which are refused with which reason."""

import json
import random
import re
import subprocess
import unicodedata
import warnings

import pytest

from mcpc.schema.ecma.code_point_sets import LAST, TABLES, code_points, complement, contains, intersection, union
from mcpc.schema.ecma.translation import translate
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError
from support.needs import needs

# Pattern, texts in which it is found, texts in which it is not.
MATCHES: list[tuple[str, list[str], list[str]]] = [
    ("^abc$", ["abc"], ["abc\n", "xabc"]),
    ("a|^b", ["xa", "b"], ["xb"]),
    (r"^\d$", ["0"], ["\u0967", "x"]),
    (r"^\D$", ["\u0967", "x"], ["0"]),
    (r"^\w$", ["a", "_", "9"], ["é", "-"]),
    (r"^\W$", ["é", "-"], ["a"]),
    (r"^\s$", [*"\t\n\v\f\r \u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"], [*"\x1c\x85\u180ea"]),
    (r"^\S$", [*"\x1c\x85\u180ea😀"], [*" \ufeff"]),
    (r"^[\S]$", ["a", "\x85"], [" ", "\ufeff"]),
    (r"^[^\S]$", [" ", "\ufeff"], ["a"]),
    (r"^[\s\d]$", ["\ufeff", "1"], ["a", "\u0967"]),
    (r"^[^\d\s]$", ["a"], ["1", "\ufeff"]),
    (r"^[\D]$", ["\u0967"], ["1"]),
    (r"^[\W-]$", ["-", "é"], ["a"]),
    ("^.$", ["a", "😀", "\x85", "\v"], [*"\n\r\u2028\u2029"]),
    (r"\bé", ["aé"], ["é", " é"]),
    (r"a\b", ["aé", "a"], ["ab"]),
    (r"\B", ["", "ab", " "], []),
    (r"^\cC$", ["\x03"], ["C"]),
    (r"^\cj$", ["\n"], []),
    (r"^\0$", ["\0"], ["0"]),
    (r"^\t\n\v\f\r$", ["\t\n\v\f\r"], []),
    (r"^\x41\u0042\u{43}\u{1F600}$", ["ABC😀"], []),
    (r"^\ud83d\ude00$", ["😀"], []),
    (r"^[\ud83d\ude00-\ud83d\ude02]$", ["😁"], ["😃", "\ud83d"]),
    (r"^\ud83d$", ["\ud83d"], ["😀"]),
    ("^😀*$", ["", "😀😀"], ["😃"]),
    (r"^[\b]$", ["\b"], ["b"]),
    (r"^[\-a]$", ["-", "a"], ["\\"]),
    ("^[a-]$", ["-", "a"], ["b"]),
    ("^[-a]$", ["-", "a"], ["b"]),
    ("^[[a]$", ["[", "a"], ["]"]),
    ("^[a&&b]$", ["a", "&", "b"], ["c"]),
    ("^[a||~~-]$", ["|", "-", "~"], ["c"]),
    ("^[^]$", ["a", "\n", "😀"], ["", "ab"]),
    ("[]", [], ["", "a"]),
    ("x|[]", ["x"], ["a"]),
    (r"^\p{Letter}+$", ["Hello", "π"], ["1", ""]),
    (r"^\p{L}$", ["é"], ["1"]),
    (r"^\p{Lu}\P{Lu}$", ["Éa"], ["aa", "AA"]),
    (r"^\p{gc=Nd}\p{General_Category=digit}$", ["4\u0967"], ["a"]),
    (r"^[\p{Ll}\d]$", ["a", "1"], ["A"]),
    (r"^[^\P{Lu}]$", ["A"], ["a"]),
    (r"^\p{LC}$", ["a", "A"], ["ª"]),
    ("^a{2}b{1,}c{0,1}$", ["aabb", "aabc"], ["ab", "aab cc"]),
    ("^a{2,3}?$", ["aa", "aaa"], ["a"]),
    ("^a+?b*?$", ["ab"], ["b"]),
    ("^{a}$", ["{a}"], ["a"]),
    ("^a{$", ["a{"], []),
    ("^a{x}$", ["a{x}"], []),
    ("^a]$", ["a]"], []),
    (r"^\-\_\/\.\@\!$", ["-_/.@!"], []),
    ("^a b#c$", ["a b#c"], ["ab"]),
    ("^(?:a|b)c(?=d)d(?!e)", ["acd"], ["acde"]),
    ("(?<=a)b(?<!ab)", [], ["ab", "b"]),
    (r"^(a)\1$", ["aa"], ["a"]),
    (r"^(a)?\1b$", ["aab", "b"], ["ab"]),
    (r"^(?:(a)|b)\1$", ["aa", "b"], ["ba"]),
    (r"^(?<first>a|b)\k<first>$", ["aa", "bb"], ["ab"]),
    (r"^\k<x>(?<x>a)$", ["a"], ["aa"]),
    (r"^(a\1)$", ["a"], ["aa"]),
    (r"^(?!(a))\1b$", ["b"], ["ab"]),
    (r"^(?:(['\"])x\1,)*$", ["'x',\"x\",", ""], ["'x\","]),
    (r"^(a)\1\2(b)$", ["aab"], []),
    (r"^(?<$a>x)\k<$a>$", ["xx"], []),
    (r"^(?<é1>x)\k<é1>$", ["xx"], []),
    (r"^(?<\u0061>x)\k<a>$", ["xx"], []),
    ("(?<=a+)b", ["ab", "aab"], ["b", "cb"]),
    ("(?<!a+b?)c", ["c", "bc"], ["ac", "aabc"]),
    ("(?<=^(?:a|bc){1,2}d?)x", ["ax", "bcx", "abcx", "aadx"], ["x", "dx", "cx", "aaax"]),
    ("(?<=[]|a)b", ["ab"], ["b"]),
    ("(?<![])b", ["b"], ["a"]),
    ("(?<=a*)b", ["b", "ab"], ["a"]),
    (r"(?<=(?<=a+)b)c", ["abc"], ["bc"]),
    (r"(?<=(a|bb))x(y)\2$", ["axyy", "bbxyy"], ["xyy", "axy"]),
    (r"^\p{Script=Greek}+$", ["αΩ"], ["a", "π1", ""]),
    (r"^\p{sc=Grek}\P{Script=Greek}$", ["λa"], ["λμ"]),
    (r"^\p{scx=Deva}$", ["क", "\u0951", "\u0964"], ["a"]),
    (r"^[\p{Script_Extensions=Latin}\p{Emoji_Presentation}]$", ["é", "😀"], ["1", "π"]),
    (r"^\p{Alphabetic}\p{Uppercase}\p{Lower}\p{White_Space}\p{AHex}$", ["éÉa\u2003F"], ["1Aa F"]),
    (r"^\p{ASCII}\p{Any}$", ["a\U0010ffff"], ["é1"]),
    (r"^\p{ID_Start}\p{ID_Continue}*$", ["été_1"], ["1a"]),
    (r"^\P{Assigned}$", ["\u0378"], ["a"]),
    (r"^(?:a|[bc]|\d)$", ["a", "c", "7"], ["d"]),
]


@pytest.mark.parametrize(("pattern", "texts", "others"), MATCHES)
def test_a_pattern_matches_what_it_matches_in_ecma_262(pattern: str, texts: list[str], others: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translated = re.compile(translate(pattern), re.ASCII)
    assert [text for text in texts if not translated.search(text)] == [], translated.pattern
    assert [text for text in others if translated.search(text)] == [], translated.pattern


NO_PROPERTY = r"names no Unicode property of ECMA-262, such as `\p{L}` or `\p{Script=Greek}`"
REFUSED = [
    (r"\Z", r"`\Z` is not an escape in ECMA-262; write `$`", 0),
    (r"a\A", r"`\A` is not an escape in ECMA-262; write `^`", 1),
    (r"\a", r"`\a` is not an escape in ECMA-262; write `\x07`", 0),
    (r"\y", r"`\y` is not an escape in ECMA-262", 0),
    (r"\01", r"`\0` is not an escape in ECMA-262", 0),
    (r"\x4", r"`\x` is not an escape in ECMA-262", 0),
    (r"\u12", r"`\u` is not an escape in ECMA-262", 0),
    (r"\u{110000}", r"`\u{110000}` is not a code point", 0),
    (r"\c1", r"`\c` is not an escape in ECMA-262", 0),
    (r"\é", r"`\é` is not an escape in ECMA-262", 0),
    ("a\\", "the pattern ends with a backslash", 1),
    ("(?P<a>b)", "`(?P` starts no group in ECMA-262", 0),
    ("(?i)a", "`(?i` starts no group in ECMA-262", 0),
    ("(?>a)", "`(?>` starts no group in ECMA-262", 0),
    ("(?#a)", "`(?#` starts no group in ECMA-262", 0),
    ("(?(1)a)", "`(?(` starts no group in ECMA-262", 0),
    ("(?", "`(?` starts no group in ECMA-262", 0),
    ("(?<1>a)", "`1` is not a group name", 0),
    ("(?<a>b)(?<a>c)", "two groups have one name", 7),
    (r"(?<\u{110000}>a)", r"`\u{110000}` is not a group name", 0),
    (r"\k<a>", r"`\k` refers to no group", 0),
    (r"\k", r"`\k` refers to no group", 0),
    (r"(a)\2", "there is no group 2", 3),
    ("(a", "a group is not closed", 0),
    ("a)", "`)` closes no group", 1),
    ("x[a", "a character class is not closed", 1),
    ("[a-", "a character class is not closed", 3),
    ("[z-a]", "a range in a character class is out of order", 4),
    (r"[\d-z]", "a range in a character class has a set as one of its ends", 5),
    ("*a", "there is nothing that `*` could repeat", 0),
    ("a**", "there is nothing that `*` could repeat", 2),
    ("a++", "there is nothing that `+` could repeat", 2),
    ("a{2}{3}", "there is nothing that `{3}` could repeat", 4),
    ("^*", "there is nothing that `*` could repeat", 1),
    (r"\b+", "there is nothing that `+` could repeat", 2),
    ("(?=a)*", "there is nothing that `*` could repeat", 5),
    ("a|*", "there is nothing that `*` could repeat", 2),
    ("a{,3}", "`{,n}` is not a repetition in ECMA-262; write `{0,n}`", 1),
    ("a{3,2}", "the bounds of `{3,2}` are out of order", 1),
    ("a{99999999999}", "a repetition is too large", 1),
    ("x(?<=^a+)b", "a look-behind can be compiled only if what it looks for has a greatest length", 1),
    ("(?<=xa{0,99})b", "a look-behind has too many lengths", 0),
    ("(?<=x(?:a?b?c?){4})b", "a look-behind has too many lengths", 0),
    (r"(a)(?<=\1)", "a reference inside a look-behind cannot be compiled", 7),
    (r"(?<=(a))\1", "a reference to a group inside a look-behind cannot be compiled", 8),
    (r"(a)+\1", "a reference to a group that is repeated cannot be compiled", 4),
    (r"(?:(a)|b\1)*", "a repeated group refers back to a group inside it that may have been passed over", 11),
    (r"\p{Nope}", rf"`\p{{Nope}}` {NO_PROPERTY}", 0),
    (r"\p{script=Greek}", rf"`\p{{script=Greek}}` {NO_PROPERTY}", 0),
    (r"\p{Script=greek}", rf"`\p{{Script=greek}}` {NO_PROPERTY}", 0),
    (r"\p{Greek}", rf"`\p{{Greek}}` {NO_PROPERTY}", 0),
    (r"a\pL", rf"`\p` {NO_PROPERTY}", 1),
    ("(" * 5_000 + ")" * 5_000, "groups are nested too deeply", 100),
]


@pytest.mark.parametrize(("pattern", "reason", "position"), REFUSED, ids=[row[0][:20] for row in REFUSED])
def test_what_cannot_be_translated_exactly_is_refused(pattern: str, reason: str, position: int) -> None:
    with pytest.raises(PatternError) as refusal:
        translate(pattern)
    assert (refusal.value.reason, refusal.value.position) == (reason, position)


ATOMS: list[str] = [
    *"abc.^$-é😀#&~' ", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", "[ab]", "[^a]", r"[\s\S]", r"[^\S]", r"[\D]",
    r"[a-c\d]", "[]", "[^]", r"\n", r"\x41", r"\u{1F600}", "[-a]", r"[\b]", r"\cJ", r"\0", r"\p{L}", r"\1", r"\2", r"\k<x>",
    r"\p{Script=Greek}", r"\P{sc=Latn}", r"[^\p{scx=Grek}\d]", r"\p{Uppercase}", "b+", "(?:a|ba)",
]  # fmt: skip
TEXTS = [
    "", "a", "b", "ab", "ba", "aab", "A", "1", "a1", " ", "\n", "\u2028", "\ufeff", "é", "-", "aXa", "abab", "\x85", "a\n",
    "\x1c", "\b", "\0", "#", "É", "b1 a_", "aba", "cab-1",
    "π", "Ω1",
]  # fmt: skip
WRAPPINGS: list[str] = ["(%s)", "(?:%s)", "(?<x>%s)", "(?=%s)", "(?!%s)", "(?<=%s)", "(?<!%s)"]
REPETITIONS = ["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "{2,}"]


def random_pattern(source: random.Random, depth: int) -> str:
    choice = source.random()
    if depth == 0 or choice < 0.45:
        return source.choice(ATOMS)
    if choice < 0.7:
        between = source.choice(["", "", "|"])
        return random_pattern(source, depth - 1) + between + random_pattern(source, depth - 1)
    if choice < 0.85:
        return source.choice(WRAPPINGS).replace("%s", random_pattern(source, depth - 1))
    return f"(?:{random_pattern(source, depth - 1)})" + source.choice(REPETITIONS)


SCRIPT = """
const given = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(given.patterns.map(pattern => {
  try { const compiled = new RegExp(pattern, "u"); return given.texts.map(text => compiled.test(text)) }
  catch { return null }
})))
"""


def test_random_patterns_match_as_a_browser_matches_them() -> None:
    needs("node")
    source = random.Random(262)
    patterns = [random_pattern(source, source.randint(1, 5)) for _ in range(3_000)]
    given = json.dumps({"patterns": patterns, "texts": TEXTS})
    answers = json.loads(
        subprocess.run(["node", "-e", SCRIPT], input=given, capture_output=True, text=True, check=True).stdout
    )
    compared = 0
    for pattern, answer in zip(patterns, answers, strict=True):
        try:
            translated = translate(pattern)
        except PatternError:
            continue
        assert answer is not None, pattern
        found = [re.compile(translated, re.ASCII).search(text) is not None for text in TEXTS]
        assert found == answer, (pattern, translated)
        compared += 1
    assert compared > 2_000


@pytest.mark.parametrize(
    "pattern",
    [
        "a" * 10_001,
        r"\p{L}" * 100,
        "a{1," + "9" * 50_000 + "}",
        "a{" + "9" * 100 + "}",
        "\\" + "9" * 5_000,
        "[" * 10_000,
    ],
    ids=["long", "wide", "most", "least", "group", "open"],
)
def test_a_pattern_beyond_all_bounds_is_refused_at_once(pattern: str) -> None:
    with pytest.raises(PatternError):
        translate(pattern)


CHANGED = {"Diacritic", "Dia"} | {
    name
    for name in TABLES[None][1]
    if name.startswith("Changes_When_") or name in ("CWCF", "CWCM", "CWL", "CWT", "CWU")
}
"""Properties of which Unicode has revised what many old characters have; of others it revises some a year, and a
browser may be some years behind."""
PROPERTIES_SCRIPT = """
const given = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(given.map(name => {
  let compiled;
  try { compiled = new RegExp("^\\\\p{" + name + "}$", "u") } catch { return null }
  const found = [];
  for (let point = 0; point <= 0x10ffff; point += point < 0x3000 ? 1 : 31) {
    if (compiled.test(String.fromCodePoint(point))) found.push(point);
  }
  return found;
})))
"""
SAMPLED = [*range(0x3000), *range(0x3000, LAST + 1, 31)]


def asked(names: list[str]) -> list[list[int] | None]:
    ran = subprocess.run(
        ["node", "-e", PROPERTIES_SCRIPT], input=json.dumps(names), capture_output=True, text=True, check=True
    )
    answers: list[list[int] | None] = json.loads(ran.stdout)
    return answers


def known_to_all() -> set[int]:
    """Return the points of the sample that were assigned in every version of Unicode that may be at hand."""
    return {point for point in SAMPLED if unicodedata.category(chr(point)) != "Cn"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "Script", "scx"])
@pytest.mark.sampled(3)
def test_properties_are_those_of_a_browser(name: str | None) -> None:
    needs("node")
    values = sorted(set(TABLES[name][1].values()) - CHANGED)
    prefix = f"{name}=" if name else ""
    known, revised = known_to_all(), 0
    for value, theirs in zip(values, asked([prefix + value for value in values]), strict=True):
        ours = code_points(name, value)
        assert ours is not None, value
        if theirs is not None:
            differing = {point for point in SAMPLED if contains(ours, point)} ^ set(theirs)
            assert len(differing & known) < 20, value
            revised += len(differing & known)
    assert revised < 100


def test_every_name_is_one_that_a_browser_knows_or_that_is_newer_than_it() -> None:
    needs("node")
    names = [*TABLES[None][1], *(f"gc={name}" for name in TABLES["gc"][1]), *(f"sc={name}" for name in TABLES["sc"][1])]
    answers = asked(names)
    unknown = {name for name, answer in zip(names, answers, strict=True) if answer is None}
    assert len(unknown) < 30, unknown
    assert {name for name in unknown if not name.startswith("sc=")} == set()


@pytest.mark.parametrize(
    ("name", "value"),
    [("Script", "greek"), ("script", "Greek"), (None, "greek"), (None, "Greek"), (None, ""), ("", "L")],
)
@pytest.mark.sampled(3)
def test_other_names_are_unknown(name: str | None, value: str) -> None:
    assert code_points(name, value) is None


def test_other_names_of_a_property_are_the_same_property() -> None:
    assert code_points(None, "VS") == code_points(None, "Variation_Selector")
    assert code_points("sc", "Qaac") == code_points("Script", "Coptic") == code_points("sc", "Copt")
    assert code_points("gc", "punct") == code_points(None, "P") == code_points("General_Category", "Punctuation")


def test_sets_of_code_points() -> None:
    one, other = ((1, 3), (9, 9)), ((2, 5), (10, 12))
    assert union((one, other)) == ((1, 5), (9, 12))
    assert intersection(one, other) == ((2, 3),)
    assert complement(()) == ((0, LAST),)
    assert complement(complement(one)) == one
    assert [point for point in range(15) if contains(other, point)] == [2, 3, 4, 5, 10, 11, 12]
