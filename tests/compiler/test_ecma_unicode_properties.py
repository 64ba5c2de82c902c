"""Unicode properties in patterns: the names ECMA-262 has, and the code points a browser finds for them."""

import json
import subprocess
import unicodedata

import pytest

from mcpc.schema.ecma.code_point_sets import LAST, complement, contains, intersection, union
from mcpc.schema.ecma.unicode_properties import TABLES, code_points
from support.needs import needs

pytestmark = pytest.mark.sampled(3)

CHANGED = {"Diacritic", "Dia"} | {
    name
    for name in TABLES[None][1]
    if name.startswith("Changes_When_") or name in ("CWCF", "CWCM", "CWL", "CWT", "CWU")
}
"""Properties of which Unicode has revised what many old characters have; of others it revises some a year, and a
browser may be some years behind."""
SCRIPT = """
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
    ran = subprocess.run(["node", "-e", SCRIPT], input=json.dumps(names), capture_output=True, text=True, check=True)
    answers: list[list[int] | None] = json.loads(ran.stdout)
    return answers


def known_to_all() -> set[int]:
    """Return the points of the sample that were assigned in every version of Unicode that may be at hand."""
    return {point for point in SAMPLED if unicodedata.category(chr(point)) != "Cn"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "Script", "scx"])
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
