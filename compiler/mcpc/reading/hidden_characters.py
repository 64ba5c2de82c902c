"""Characters that a reader of a text cannot see, or that change the order in which it is displayed.

Characters that Unicode defines as default-ignorable are hidden, so that those of later versions are, too. Joiners and
the two variation selectors of emoji are allowed one at a time, after a character that combines with them: emoji and the
scripts of Persian and of India need them.
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
    (r"\p{Noncharacter_Code_Point}", "which is not a character"),
    (r"\p{Co}", "which is for private use"),
    (r"[\p{Zl}\p{Zp}]", "a separator of lines that many programs do not show"),
    (r"[\p{Default_Ignorable_Code_Point}\u2800]", "which is invisible"),
    (r"[\p{Bidi_Control}\p{Cf}--\p{Prepended_Concatenation_Mark}]", "which only says how text is laid out"),
)
"""Sets of characters with their descriptions; the first set that contains a character applies."""
UNJOINED = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}"
"""Scripts that are written without joiners."""
ALLOWED = (
    # A joiner between two parts of an emoji.
    r"(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})",
    # A joiner after a letter or a sign of a script that is written with them.
    rf"(?<=[[\p{{L}}\p{{M}}]--[{UNJOINED}\p{{Default_Ignorable_Code_Point}}]])[\u200c\u200d]",
    # The choice between text and picture, after an emoji.
    r"(?<=[\p{Emoji}--[0-9#*]])[\ufe0e\ufe0f]",
    # A key cap: a digit, the selector, the key around it.
    r"(?<=[0-9#*])\ufe0f(?=\u20e3)",
    # The form of a letter of Mongolian.
    r"(?<=\p{Mongolian})[\u180b-\u180d\u180f]",
)


def hidden_characters(text: str, *, controls: bool = True) -> list[str]:
    """Return the distinct hidden characters of a text, in order; `controls`: include control characters.

    O(length of the text). Only text that is not ASCII is searched by property.
    """
    if text.isascii():
        return list(dict.fromkeys(CONTROLS.findall(text))) if controls else []
    return list(dict.fromkeys(hidden_finder(controls=controls).findall(text)))


def describe_hidden(character: str) -> str:
    """Return what a hidden character does."""
    if CONTROLS.match(character):
        return "a control character"
    return next(said for pattern, said in HIDDEN if compile_pattern(pattern).match(character))


def remove_characters(text: str, characters: Iterable[str]) -> str:
    """Return a text without some characters."""
    return text.translate(dict.fromkeys(map(ord, characters)))


@cache
def hidden_finder(*, controls: bool) -> re.Pattern[str]:
    """Return the compiled pattern that finds hidden characters."""
    sets = "|".join(pattern for pattern, _ in HIDDEN)
    return compile_pattern(f"{f'[{CONTROL}]|' if controls else ''}(?!{'|'.join(ALLOWED)})(?:{sets})")


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with the `regex` library, which supports Unicode properties and is imported on demand."""
    compiled: re.Pattern[str] = resolve_name("regex:compile")(f"(?V1){pattern}")
    return compiled
