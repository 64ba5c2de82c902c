"""The tests of formats: the official suite, hostile texts, others' judgement of the same, and each format at its limits."""

import json
import random
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import idna
import pytest

from mcpc_runtime.protocol.validation import patterns
from mcpc_runtime.protocol.validation.formats import FORMATS, addresses, characters, domains, is_of_format, times, uris
from mcpc_runtime.protocol.validation.formats.domains import ALLOWED, CONTEXTS, is_permanently_valid
from support.expressions import check_expressions
from support.needs import ROOT, needs
from support.packed_runtime import packed_runtime
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
            name = group["schema"]["format"]
            for test in group["tests"]:
                tests += 1
                data = test["data"]
                is_valid = type(data) is not str or name not in FORMATS or is_of_format(name, data)
                if is_valid is not test["valid"]:
                    missed.append(f"{path.name}: {test['description']}")
    assert missed == list(MISSES[draft])
    assert tests == COUNTS[draft]


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
            assert type(is_of_format(name, beginning + piece * (20_000 // len(piece)))) is bool
    for piece in MEGABYTES:
        assert type(is_of_format(name, piece * (1_000_000 // len(piece)))) is bool


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_no_mixture_of_texts_raises(name: str) -> None:
    source = random.Random(name)
    for _ in range(3_000):
        text = "".join(source.choice(PIECES) for _ in range(source.randint(0, 8)))
        assert type(is_of_format(name, text)) is bool


def test_nothing_is_imported_but_what_a_format_asks_for() -> None:
    """`re` alone would cost several times what all formats do."""
    program = """
import sys
from mcpc_runtime.protocol.validation.formats import FORMATS, is_of_format
first = set(sys.modules)
for name in set(FORMATS) - {"idn-email", "idn-hostname"}:
    is_of_format(name, "a.b@c")
print(sorted({"re", "unicodedata", "ipaddress", "datetime", "enum"} & set(sys.modules)))
is_of_format("hostname", "xn--zca")
print("unicodedata" in sys.modules)
print([name for name in first if name.startswith("mcpc_runtime.protocol.validation.formats.")])
"""
    path = f"import sys; sys.path.insert(0, {str(packed_runtime())!r})\n"
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
    assert [
        text for text, answer in zip(texts, answers, strict=True) if is_of_format("regex", text) is not answer
    ] == []
    assert sum(answers) > 1_000


def test_a_character_is_valid_where_the_tables_of_idna_say_so() -> None:
    tables = idna.idnadata.codepoint_classes["PVALID"]
    for point in range(0x80, 0x110000):
        character = chr(point)
        if unicodedata.category(character) not in ("Cn", "Cs"):
            ours = character in ALLOWED or (character not in CONTEXTS and is_permanently_valid(character))
            assert ours == idna.intranges.intranges_contain(point, tables), hex(point)


GOLDEN = ROOT / "tests" / "golden" / "runtime" / "validation"
MODULES = [addresses, characters, domains, domains, characters, patterns, uris, uris, times, uris]


def accepted(function: Callable[[str], object], texts: Iterable[str]) -> list[str]:
    return [text for text in texts if function(text)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_values(golden: Callable[[Path, str], None], module: ModuleType) -> None:
    check_expressions(golden, GOLDEN / f"{module.__name__.rpartition('.')[2]}.txt", module, accepted=accepted)
