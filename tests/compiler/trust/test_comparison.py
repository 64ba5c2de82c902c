"""How two built files differ: every kind of difference, each with all that is found."""

from dataclasses import replace

import pytest

from mcpc.pack.manifest import FACTS
from mcpc.release.trust.comparison import Difference, compare_contents
from mcpc.release.trust.contents import ArtifactContents, PackedEntry

STORED, DEFLATED = (0o644, 0), (0o644, 8)
ONE = ArtifactContents(b"1", b"#!", {}, {}, {}, is_exact=True)
TWO = replace(ONE, data=b"2")
LAYOUT = ("(layout of the archive)", "changed")


def packed(data: bytes, stored: bytes = b"", header: tuple[object, ...] = DEFLATED) -> PackedEntry:
    return PackedEntry(data, stored or data, header)


SQUEEZED = (packed(b"a", b"1" * 8), packed(b"a", b"2" * 8))
PAIRS: dict[str, tuple[str, PackedEntry | None, PackedEntry | None, tuple[str, str]]] = {
    "missing": ("a", None, packed(b"a"), ("a", "missing")),
    "added": ("a", packed(b"a"), None, ("a", "added")),
    "header before data": ("a", packed(b"a", header=STORED), packed(b"b"), ("a", "header")),
    "data": ("a", packed(b"a"), packed(b"b"), ("a", "changed")),
    "compressed": ("a", *SQUEEZED, ("a", "compressed")),
    "compressed to another length": ("a", packed(b"a", b"1"), packed(b"a", b"12"), ("a", "compressed")),
    "seven bytes of a stream": ("a", packed(b"a", b"1" * 7 + b"0"), packed(b"a", b"2" * 7 + b"0"), ("a", "edited")),
    "stored bytes differ": ("a", packed(b"a", b"1", STORED), packed(b"a", b"2", STORED), ("a", "edited")),
    "same": ("a", packed(b"a"), packed(b"a"), LAYOUT),
    "nested, deflated": ("site/sources.zip", *SQUEEZED, ("site/sources.zip", "compressed")),
    "nested, stored": ("site/sources.zip", packed(b"", b"1", STORED), packed(b"", b"2", STORED), LAYOUT),
    "facts of the same meaning": (FACTS, packed(b"{}"), packed(b"{ }"), (FACTS, "changed")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_an_entry_that_differs(name: str) -> None:
    entry, one, other, expected = PAIRS[name]
    first, second = (
        replace(file, entries={} if each is None else {entry: each}) for file, each in ((ONE, one), (TWO, other))
    )
    assert compare_contents(first, second) == (Difference(*expected),)


def test_a_stream_may_differ_little_if_another_differs_much() -> None:
    first = replace(ONE, entries={"a": SQUEEZED[0], "b": packed(b"b", b"1")})
    second = replace(TWO, entries={"a": SQUEEZED[1], "b": packed(b"b", b"2")})
    assert compare_contents(first, second) == (Difference("a", "compressed"), Difference("b", "compressed"))


def test_facts_of_both_files_are_named_in_order() -> None:
    first = replace(ONE, entries={FACTS: packed(b"1")}, facts={"z": 1, "same": 2, "first": 3})
    second = replace(TWO, entries={FACTS: packed(b"2")}, facts={"z": 0, "same": 2, "second": 4})
    expected = [Difference(f"{FACTS}#{key}", "changed") for key in ("first", "second", "z")]
    assert [*compare_contents(first, second)] == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ONE, ONE, []),
        (replace(ONE, is_exact=False), ONE, []),
        (ONE, TWO, [LAYOUT]),
        (ONE, replace(TWO, program=b""), [("(program before the archive)", "changed")]),
        (ONE, replace(TWO, entries={"a": packed(b"a")}), [("a", "missing")]),
        (replace(ONE, is_exact=False), replace(TWO, entries={"a": packed(b"a")}), [LAYOUT, ("a", "missing")]),
        (ONE, replace(TWO, is_exact=False, entries={"a": packed(b"a")}), [("a", "missing")]),
    ],
)
def test_what_is_outside_the_entries(
    first: ArtifactContents, second: ArtifactContents, expected: list[tuple[str, str]]
) -> None:
    assert [*compare_contents(first, second)] == [Difference(*each) for each in expected]
