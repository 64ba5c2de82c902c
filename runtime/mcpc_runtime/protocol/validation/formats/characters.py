"""Character sets that several formats use.

Labels of host names (RFC 1123).
"""

from __future__ import annotations

DIGITS = frozenset("0123456789")
HEXADECIMAL = DIGITS | frozenset("ABCDEFabcdef")
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
LETTERS_AND_DIGITS = LETTERS | DIGITS
ASCII = frozenset(map(chr, range(128)))

BEYOND_ASCII = (
    (0xA0, 0xD7FF),
    (0xF900, 0xFDCF),
    (0xFDF0, 0xFFEF),
    # Without the last two code points of each plane, which are noncharacters.
    *((plane << 16, (plane << 16) + 0xFFFD) for plane in range(1, 14)),
    (0xE1000, 0xEFFFD),
)
"""`ucschar` of RFC 3987."""
PRIVATE = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))
"""`iprivate` of RFC 3987."""


def are_in(characters: frozenset[str], ranges: tuple[tuple[int, int], ...]) -> bool:
    """Tell whether each of `characters` is in one of `ranges`."""
    return all(any(first <= ord(character) <= last for first, last in ranges) for character in characters)


def has_whole_triplets(text: str) -> bool:
    """Tell whether each percent sign is followed by two hexadecimal digits."""
    if "%" not in text:
        return True
    return all(len(part) > 1 and part[0] in HEXADECIMAL and part[1] in HEXADECIMAL for part in text.split("%")[1:])


IN_LABEL = LETTERS_AND_DIGITS | {"-"}
MAX_NAME_LENGTH, MAX_LABEL_LENGTH = 253, 63


def is_plain_label(text: str) -> bool:
    """Tell whether `text` is a label of RFC 1123."""
    if not 0 < len(text) <= MAX_LABEL_LENGTH or text[0] == "-" or text[-1] == "-":
        return False
    return IN_LABEL.issuperset(text)
