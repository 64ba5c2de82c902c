"""Hidden characters by property: what is refused, and what scripts and emoji need."""

import sys

import pytest
import regex

from mcpc.reading.hidden_characters import HIDDEN, describe_hidden, hidden_characters, remove_characters

SHOWN = {
    "emoji": "❤️ 👩‍💻 👨‍👩‍👧‍👦 ✔︎ 🏳️‍🌈 👩🏽‍🚀 ❤️‍🔥",
    "keycaps": "1️⃣ #️⃣",
    "Persian": "می‌خواهم",
    "Hindi": "क्‍ष क्‌ष",
    "Mongolian": "ᠠ᠋",
    "Arabic signs of numbers": "\u0600123",
    "line breaks": "a\nb\r\n\tc",
    "accents": "é e\u0301 日本語 한국어 עברית",
}
REFUSED = [0xAD, 0x3164, 0x2800, 0x2062, 0x2028, 0x2029, 0x34F, 0x180E, 0x17B4, 0xFFF9, 0xFFFB, 0xE000, 0xFFFE, 0x1D173]
REFUSED += [0x1BCA0, 0xE0100, 0xE01EF, 0xFE00, 0xFE0F, 0x200D, 0x200C, 0x202E, 0x61C, 0x115F, 0xFFA0, 0xFFF0, 0xE0FFF]
REFUSED += [0x10FFFF, 0xF0000, 0xE0041, 0x206A, 0xD800, 0, 0x9F]


@pytest.mark.parametrize("name", SHOWN)
def test_what_people_write_is_allowed(name: str) -> None:
    assert hidden_characters(SHOWN[name]) == []


@pytest.mark.parametrize("code", REFUSED, ids=lambda code: f"U+{code:04X}")
def test_what_cannot_be_seen_is_found_and_named(code: int) -> None:
    assert hidden_characters(f"é {chr(code)}b") == [chr(code)]
    assert describe_hidden(chr(code))


ROWS = ["\u202e", "\U000e0041", "\ud800", "\ufe00", "\u200d", "\ufffe", "\ue000", "\u2028", "\u00ad", "\ufff9"]


def test_each_set_has_a_description_of_its_own() -> None:
    assert [describe_hidden(character) for character in ROWS] == [said for _, said in HIDDEN]
    assert len({describe_hidden(character) for character in [*ROWS, "\x00"]}) == len(HIDDEN) + 1
    assert describe_hidden("\x00") == describe_hidden("\x9f")
    text = "".join(ROWS)
    assert hidden_characters(f"é {text} {text}") == ROWS
    assert hidden_characters("b\x01a\x00\x01") == ["\x01", "\x00"]
    assert remove_characters(f"a{text}b", ROWS[1:]) == f"a{ROWS[0]}b"


@pytest.mark.parametrize(
    "text",
    ["a\u200db", "a\u200c", "❤️️", "❤\ufe0f\ufe0f", "1\ufe0f", "क्\u200d\u200d", "👩\u200d", "a\ufe0f", "ж\u200d"],
    ids=ascii,
)
def test_joiners_and_selectors_that_join_nothing_are_found(text: str) -> None:
    assert len(hidden_characters(text)) == 1


def test_everything_that_unicode_ignores_is_found() -> None:
    ignored = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{Co}]")
    points = "".join(map(chr, range(sys.maxunicode + 1)))
    missing = [f"U+{ord(one):04X}" for one in ignored.findall(points) if hidden_characters(f"é {one} ") != [one]][:20]
    assert missing == []


def test_controls_may_be_left_out() -> None:
    assert hidden_characters("a\x00é", controls=False) == []
    assert hidden_characters("a\x00", controls=False) == []
    assert hidden_characters("a\x00\u200bé", controls=False) == ["\u200b"]
