"""The tests of formats: the official suite, what it leaves out, hostile texts, and others' judgement of the same."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import idna
import pytest

from mcpc_runtime.validation.formats import FORMATS
from mcpc_runtime.validation.formats.domains import ALLOWED, CONTEXTS, is_permanently_valid
from support.needs import ROOT, needs
from support.reference import SCHEMA_SUITE
from support.scale import scaled

MISSES = json.loads(Path(__file__).with_name("format_misses.json").read_text())
"""By draft, `file: description of the test`, and why it is missed."""
COUNTS = {"draft2020-12": 764, "draft7": 676}


@pytest.mark.parametrize("draft", list(COUNTS))
def test_the_official_suite_passes_but_for_the_misses_that_are_listed(draft: str) -> None:
    tests, missed = 0, []
    for path in sorted((SCHEMA_SUITE / "tests" / draft / "optional/format").glob("*.json")):
        for group in json.loads(path.read_text()):
            test_of = FORMATS.get(group["schema"]["format"], lambda _: True)
            for test in group["tests"]:
                tests += 1
                data = test["data"]
                if (test_of(data) if type(data) is str else True) is not test["valid"]:
                    missed.append(f"{path.name}: {test['description']}")
    assert missed == list(MISSES[draft])
    assert tests == COUNTS[draft]


# Format, texts that have it, texts that do not.
CASES: list[tuple[str, list[str], list[str]]] = [
    ("date", ["2024-02-29", "0000-01-01", "9999-12-31"], ["2023-02-29", "2024-1-01", "2024-01-01T", "٢٠٢٤-01-01"]),
    ("date-time", ["2024-01-01t00:00:00z", "1990-12-31T23:59:60Z"], ["2024-01-01 00:00:00Z", "1990-12-31T12:59:60Z"]),
    ("duration", ["P1Y", "P3W", "PT1H", "P1DT1S"], ["P", "PT", "P1Y1D", "P1W1D", "PT1H1S", "P1,5D", "p1Y"]),
    ("email", ['"a b"@c.d', '"a\\"b"@c', "a@[IPv6:::1]", "a@b"], ['"a"b"@c', '"a\\"@c', "é@b.c", "a@b_c", "a@[x:y]"]),
    ("email", ["a" * 64 + "@b.c"], ["a" * 65 + "@b.c", "a@" + "b" * 64, "@", "a@", "a@@b"]),
    ("hostname", ["a", "A-1.b", "a" * 63, "xn--zca.xn--fiqs8s"], ["a_b", "a" * 64, "a.", "xn--a", "XN--ZC", "xn--0ea"]),
    ("idn-email", ["é@é.com", '"é"@b', "a@b。c"], ["é@-", "\ud800" * 22 + "@b", "é" * 33 + "@b"]),
    (
        "idn-hostname",
        ["bücher.de", "例え。テスト", "BÜCHER.de".lower()],
        ["BÜCHER.de", "ab--cd", "u\u0308ber", "☃.net"],
    ),
    ("ipv4", ["1.2.3.4", "0.0.0.0"], ["1.2.3.04", "1.2.3", "1.2.3.4.5", "1.2.3.٤"]),
    (
        "ipv6",
        ["::", "1::", "::1.2.3.4", "1:2:3:4:5:6:7:8"],
        ["1:2:3:4:5:6:7::8", ":", ":::", "::1%eth0", "1::2::3", ""],
    ),
    ("iri", ["http://é/ü?\ue000#ö", "a:b", "x://[::1]:"], ["http://é/\ue000", "é:b", "http://\ufffe", "/a", "a:b c"]),
    ("iri-reference", ["", "é", "//é:80", "?q", "#f"], ["é:b", "//a:b", "\\", "a\u0080", "\ud800"]),
    ("json-pointer", ["", "/", "/a~0~1b", "/é"], ["a", "/~", "/~2", "#/a"]),
    ("relative-json-pointer", ["0", "10#", "1/a~0"], ["", "01", "0a", "-1", "1##", "1/~"]),
    ("regex", [r"(?<é>a)\k<é>", r"\p{Script=Greek}", r"a{2}?", r"(?:a)*"], [r"\p{L", r"[b-a]", "a**", "}"]),
    ("time", ["23:59:60Z", "12:00:00.1+01:30"], ["24:00:00Z", "12:00:00", "12:00:00.Z", "12:00:60Z", "12:0:00Z"]),
    (
        "uri",
        ["a:", "http://a@b:80/c?d#e", "urn:a:b"],
        ["", ":", "a", "http://a b", "http://[::1", "http://a:b", "a:%4"],
    ),
    ("uri-reference", ["", "a/b:c", "//"], ["a:b:c d", "1:b", "%", "//a@b@c", "/[a]", "é"]),
    ("uri-template", ["", "{a}", "a{?b,c*}{/d:3}", "{%41.b}"], ["{", "}", "{}", "{a:0}", "{a b}", "{{a}}", "%", "a|"]),
    ("uuid", ["00000000-0000-0000-0000-00000000000F"], ["0" * 36, "g0000000-0000-0000-0000-000000000000", ""]),
]


@pytest.mark.parametrize(("name", "texts", "others"), CASES, ids=[row[0] for row in CASES])
def test_a_format_is_what_its_rfc_says(name: str, texts: list[str], others: list[str]) -> None:
    assert [text for text in texts if FORMATS[name](text) is not True] == []
    assert [text for text in others if FORMATS[name](text) is not False] == []


PIECES = [
    *'a01.:-/~@"\\[](){}?+*|^$#%é٠א\n\0=,;', "::", "%41", "\\\\", "(?:", "(?<a>", "(?<", "\\k<a>", "\\u{0}", "\\u{",
    "\\ud800", "\\p{L}", "\\p{", "{a}", "{1,", "a{1}", "xn--", "xn--a.", "\u200c", "\ud800", "e\u0301", "P1Y", "1Y",
    "12:", "+00:00", "\u3002", "http://", "(?=", "[^", "[a-", "\\b", "\\1", "\\99",
]  # fmt: skip
MEGABYTES = ["a", "1", ":", "(", "[a-", "%41", "\\u{0}", "xn--a.", "é", "\ud800"]
BEGINNINGS = ["", "P", "PT", "http:", "//[", "a@", '"', "[", "(", "{", "1", "/", "2020-01-01T", "12:00:00.", "é", "a{"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_no_text_raises_or_takes_more_than_linear_time(name: str) -> None:
    """A quadratic test would take minutes, and be ended by whoever runs the tests."""
    for number, piece in enumerate(PIECES):
        for beginning in BEGINNINGS[number % scaled(1, 3) :: scaled(1, 3)]:
            assert type(FORMATS[name](beginning + piece * (20_000 // len(piece)))) is bool
    for piece in MEGABYTES:
        assert type(FORMATS[name](piece * (1_000_000 // len(piece)))) is bool


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_no_mixture_of_texts_raises(name: str) -> None:
    source = random.Random(name)
    for _ in range(3_000):
        text = "".join(source.choice(PIECES) for _ in range(source.randint(0, 8)))
        assert type(FORMATS[name](text)) is bool


def test_nothing_is_imported_but_what_a_format_asks_for() -> None:
    """`re` alone would cost several times what all formats do."""
    program = """
import sys
from mcpc_runtime.validation.formats import FORMATS
first = set(sys.modules)
for name in set(FORMATS) - {"idn-email", "idn-hostname"}:
    FORMATS[name]("a.b@c")
print(sorted({"re", "unicodedata", "ipaddress", "datetime", "enum"} & set(sys.modules)))
FORMATS["hostname"]("xn--zca")
print("unicodedata" in sys.modules)
print([name for name in first if name.startswith("mcpc_runtime.validation.formats.")])
"""
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'runtime')!r})\n"
    run = subprocess.run([sys.executable, "-ISc", path + program], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "True", "[]"]


PARTS = [
    "a", "b", "1", "0", "9", ".", "*", "+", "?", "{", "}", "{1}", "{2,1}", "{1,2}", "{,2}", "{1,", "(", ")", "(?:",
    "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?<m>", "(?<$é>", "(?<1>", "\\k<n>", "\\k<m>", "\\k", "\\1", "\\2", "\\10",
    "\\0", "\\00", "\\01", "\\c", "\\cA", "\\c1", "\\x", "\\x4", "\\x41", "\\u", "\\u12", "\\u0041", "\\u{41}",
    "\\u{110000}", "\\u{0000000041}", "\\u{}", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\d", "\\W", "\\s", "\\b",
    "\\B", "\\-", "\\/", "\\_", "\\.", "\\]", "\\a", "\\p{L}", "\\P{Lu}", "\\p{Script=Greek}", "\\p{scx=Latn}",
    "\\p{gc=Nd}", "\\p{Foo}", "\\p{ASCII}", "\\pL", "\\p{L", "\\p", "[", "]", "[^", "-", "a-z", "z-a", "^", "$", "|",
    "/", "\n", "é", "😀", ",", "<", ">", "=", "!", "(?", "(?P<n>", "(?i)", "[\\d-a]", "[a-\\d]", "[\\b]", "[\\-]",
    "[\\B]", "[\\1]", "[\\k]", "(?<\\u0061>", "\\k<a>", "{0}", "\\",
]  # fmt: skip
SCRIPT = """
const given = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(given.map(text => { try { new RegExp(text, "u"); return true } catch { return false } })))
"""


def test_a_regex_is_what_javascript_takes_for_one() -> None:
    needs("node")
    source = random.Random(2212)
    texts = ["".join(source.choice(PARTS) for _ in range(source.randint(1, 7))) for _ in range(20_000)]
    ran = subprocess.run(["node", "-e", SCRIPT], input=json.dumps(texts), capture_output=True, text=True, check=True)
    answers = json.loads(ran.stdout)
    assert [text for text, answer in zip(texts, answers, strict=True) if FORMATS["regex"](text) is not answer] == []
    assert sum(answers) > 1_000


def test_a_character_is_valid_where_the_tables_of_idna_say_so() -> None:
    tables = idna.idnadata.codepoint_classes["PVALID"]
    for point in range(0x80, 0x110000):
        character = chr(point)
        if unicodedata.category(character) not in ("Cn", "Cs"):
            ours = character in ALLOWED or (character not in CONTEXTS and is_permanently_valid(character))
            assert ours == idna.intranges.intranges_contain(point, tables), hex(point)
