"""Characters that a reader cannot see, or that make text look as if it stood in another order: found by property.

Whatever Unicode says is ignored when it is displayed is hidden, so that a character of a later version is, too.
Joiners and the two variation selectors of emoji are allowed one at a time, after a character that takes them: emoji,
and the scripts of Persian and of India, are not written without.
"""

from __future__ import annotations

import re
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
CONTROLS = re.compile(f"[{CONTROL}]")
HIDDEN = (
    (r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]", "which reorders text"),
    (r"[\U000e0000-\U000e007f]", "an invisible tag"),
    (r"\p{Cs}", "half a surrogate pair"),
    (r"\p{Variation_Selector}", "a variation selector that selects nothing"),
    (r"[\u200c\u200d]", "which joins nothing"),
    (r"\p{Noncharacter_Code_Point}", "which is no character"),
    (r"\p{Co}", "which means what somebody agreed upon"),
    (r"[\p{Zl}\p{Zp}]", "a separator of lines that many programs do not show"),
    (r"[\p{Default_Ignorable_Code_Point}\u2800]", "which is invisible"),
    (r"[\p{Bidi_Control}\p{Cf}--\p{Prepended_Concatenation_Mark}]", "which only says how text is laid out"),
)
"""Sets of characters, and what is said of each; the first that has a character counts."""
UNJOINED = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}"
"""Scripts that are written without joiners."""
ALLOWED = (
    r"(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})",
    rf"(?<=[[\p{{L}}\p{{M}}]--[{UNJOINED}\p{{Default_Ignorable_Code_Point}}]])[\u200c\u200d]",
    r"(?<=[\p{Emoji}--[0-9#*]])[\ufe0e\ufe0f]",
    r"(?<=[0-9#*])\ufe0f(?=\u20e3)",
    r"(?<=\p{Mongolian})[\u180b-\u180d\u180f]",
)


def hidden(text: str, *, controls: bool = True) -> list[str]:
    """Return the hidden characters of a text, each once, in order; `controls`: control characters count, too.

    O(length of the text).  Only text that is not ASCII is looked at by property.
    """
    if text.isascii():
        return list(dict.fromkeys(CONTROLS.findall(text))) if controls else []
    return list(dict.fromkeys(by_property(controls=controls).findall(text)))


def what(character: str) -> str:
    """Return what a hidden character does."""
    if CONTROLS.match(character):
        return "a control character"
    return next(said for pattern, said in HIDDEN if compiled(pattern).match(character))


def without(text: str, characters: Iterable[str]) -> str:
    """Return a text without some characters."""
    return text.translate(dict.fromkeys(map(ord, characters)))


@cache
def by_property(*, controls: bool) -> re.Pattern[str]:
    """Return what finds hidden characters."""
    sets = "|".join(pattern for pattern, _ in HIDDEN)
    return compiled(f"{f'[{CONTROL}]|' if controls else ''}(?!{'|'.join(ALLOWED)})(?:{sets})")


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of the library that knows Unicode's properties, which is loaded when text asks for it."""
    found: re.Pattern[str] = resolve_name("regex:compile")(f"(?V1){pattern}")
    return found
