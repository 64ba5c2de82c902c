r"""Sets of code points an ECMA-262 pattern may name, written as the inside of an `re` character class.

`\d` and `\w` mean the same in `re.ASCII`; white space and the Unicode general categories do not exist there and are
written out as ranges.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
WHITE_SPACE: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
r"""WhiteSpace and LineTerminator of ECMA-262: what `\s` matches."""

PROPERTY = re.compile(r"\{(?:(?:General_Category|gc)=)?(\w+)\}")
CATEGORIES = {
    "L": "L Letter",
    "Lu": "Lu Uppercase_Letter",
    "Ll": "Ll Lowercase_Letter",
    "Lt": "Lt Titlecase_Letter",
    "Lu Ll Lt": "LC Cased_Letter",
    "Lm": "Lm Modifier_Letter",
    "Lo": "Lo Other_Letter",
    "M": "M Mark Combining_Mark",
    "Mn": "Mn Nonspacing_Mark",
    "Mc": "Mc Spacing_Mark",
    "Me": "Me Enclosing_Mark",
    "N": "N Number",
    "Nd": "Nd Decimal_Number digit",
    "Nl": "Nl Letter_Number",
    "No": "No Other_Number",
    "P": "P Punctuation punct",
    "Pc": "Pc Connector_Punctuation",
    "Pd": "Pd Dash_Punctuation",
    "Ps": "Ps Open_Punctuation",
    "Pe": "Pe Close_Punctuation",
    "Pi": "Pi Initial_Punctuation",
    "Pf": "Pf Final_Punctuation",
    "Po": "Po Other_Punctuation",
    "S": "S Symbol",
    "Sm": "Sm Math_Symbol",
    "Sc": "Sc Currency_Symbol",
    "Sk": "Sk Modifier_Symbol",
    "So": "So Other_Symbol",
    "Z": "Z Separator",
    "Zs": "Zs Space_Separator",
    "Zl": "Zl Line_Separator",
    "Zp": "Zp Paragraph_Separator",
    "C": "C Other",
    "Cc": "Cc Control cntrl",
    "Cf": "Cf Format",
    "Cs": "Cs Surrogate",
    "Co": "Co Private_Use",
    "Cn": "Cn Unassigned",
}
"""Category (one letter: every category that begins with it) to the names ECMA-262 has for it."""

NAMES = {name: category for category, names in CATEGORIES.items() for name in names.split()}


def complement(ranges: Ranges) -> Ranges:
    """Return every code point that is not in the sorted `ranges`."""
    starts = (0, *(end + 1 for _, end in ranges))
    ends = (*(start - 1 for start, _ in ranges), LAST)
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)


def written(ranges: Ranges) -> str:
    """Return `ranges` as the inside of a character class."""
    return "".join(escaped(start) + (f"-{escaped(end)}" if end > start else "") for start, end in ranges)


def escaped(point: int) -> str:
    """Return what matches the one code point, inside a class and outside."""
    character = chr(point)
    if point > 0x7E or character.isalnum() or character == "_":
        return character
    return f"\\{character}" if character.isprintable() else f"\\x{point:02x}"


@lru_cache
def category(name: str) -> Ranges | None:
    """Return the code points of the general category that ECMA-262 calls `name`; None if there is no such name."""
    wanted = NAMES.get(name)
    if wanted is None:
        return None
    categories = tuple(wanted.split())
    return _ranges(point for point in range(LAST + 1) if unicodedata.category(chr(point)).startswith(categories))


def _ranges(points: Iterable[int]) -> Ranges:
    ranges: list[tuple[int, int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    return tuple(ranges)
