"""Text that is hidden in a text: in invisible characters, in base64 and other encodings, in comments of HTML.

Only what decodes to readable text is a payload: digests, keys and images are none.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TAGS = re.compile("[\U000e0020-\U000e007f]{2,}")
FLAG = re.compile("(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
BITS = re.compile("[\u200b\u200c]{16,}|[\u200c\u200d]{16,}|[\u2062\u2064]{16,}|[\u200b\u200d]{16,}")
BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_=-])")
HEXADECIMAL = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :]?){14,}(?![0-9A-Fa-f])")
PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}){8,}(?:[\w.-]|%[0-9A-Fa-f]{2})*")
ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}){6,}")
ENTITIES = re.compile(r"(?:&#(?:x[0-9A-Fa-f]{2,6}|[0-9]{2,7});){6,}")
COMMENT = re.compile(r"<!--(?:[^-]|-(?!->))*+(?:-->)?")
MARKDOWN_COMMENT = re.compile(r"^\[(?://|comment|_)\]:[^\n]{1,2000}$", re.MULTILINE)
"""A definition of a link that no text uses: `[//]: # (text)`."""
SHORTEST = 10
"""Characters of the shortest decoded text that counts."""
MAX_ENCODED = 1 << 16


class Payload(NamedTuple):
    """A hidden text: how it was hidden, its range in the text, and itself."""

    encoding: str
    start: int
    end: int
    text: str


@lru_cache(maxsize=4)
def payloads(text: str) -> tuple[Payload, ...]:
    """Return all hidden texts of a text."""
    return tuple(_payloads(text))


def _payloads(text: str) -> Iterator[Payload]:
    for encoding, pattern, decode in ENCODINGS:
        if encoding in INVISIBLE and text.isascii():
            continue
        for found in pattern.finditer(text):
            decoded = decode(found[0][:MAX_ENCODED])
            if decoded is not None and not (encoding == "Unicode tags" and FLAG.match(text, *found.span())):
                yield Payload(encoding, found.start(), found.end(), decoded)


def decode_tags(text: str) -> str | None:
    """Return the ASCII text of Unicode tags."""
    return "".join(chr(ord(character) - 0xE0000) for character in text if ord(character) < 0xE007F)


def decode_selectors(text: str) -> str | None:
    """Return the bytes of variation selectors, as text."""
    codes = (ord(character) for character in text)
    return readable(bytes(code - 0xFE00 if code < 0xFF00 else code - 0xE0100 + 16 for code in codes))


def decode_bits(text: str) -> str | None:
    """Return the text whose bits two invisible characters are, whichever of them is the one."""
    low, high = min(text), max(text)
    for one in (high, low):
        bits = "".join("1" if character == one else "0" for character in text)
        found = readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)), shortest=2)
        if found:
            return found
    return None


def decode_base64(text: str) -> str | None:
    """Return the text of base64 of either alphabet."""
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1 or (body.isalpha() and (body.islower() or body.isupper())):
        return None
    try:
        return readable(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def decode_hexadecimal(text: str) -> str | None:
    """Return the text of hexadecimal digits."""
    return readable(bytes.fromhex(text.replace(":", " ")))


def decode_percent(text: str) -> str | None:
    """Return the text of percent-encoded bytes."""
    return readable(unquote_to_bytes(text))


def decode_escapes(text: str) -> str | None:
    """Return the text of escapes as in source code."""
    found = re.findall(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})", text)
    return readable(
        "".join(chr(int(wide or narrow, 16)) for wide, narrow in found).encode("utf-8", "replace"), shortest=6
    )


def decode_entities(text: str) -> str | None:
    """Return the text of character references of HTML."""
    return readable(html.unescape(text).encode("utf-8", "replace"), shortest=6)


def decode_comment(text: str) -> str | None:
    """Return the text of a comment of HTML."""
    return text.removeprefix("<!--").removesuffix("-->").strip() or None


def decode_markdown_comment(text: str) -> str | None:
    """Return the text of a link definition that is used as a comment."""
    return text.partition(":")[2].strip(" #<>()'\"") or None


def readable(data: bytes, shortest: int = SHORTEST) -> str | None:
    """Return bytes as text if people could have written it: letters and spaces, no control characters."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    text = text.strip("\0\n ")
    plain = sum(character.isascii() and (character.isalnum() or character in " .,:;/_-'\"\n") for character in text)
    if len(text) < shortest or plain < 0.85 * len(text) or not all(c.isprintable() or c in "\n\t\r" for c in text):
        return None
    letters = sum(character.isalpha() or character == " " for character in text)
    return text if letters >= 0.6 * len(text) and any(character in "aeiouAEIOU" for character in text) else None


ENCODINGS: tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...] = (
    ("Unicode tags", TAGS, decode_tags),
    ("variation selectors", SELECTORS, decode_selectors),
    ("bits of invisible characters", BITS, decode_bits),
    ("base64", BASE64, decode_base64),
    ("hexadecimal digits", HEXADECIMAL, decode_hexadecimal),
    ("percent encoding", PERCENT, decode_percent),
    ("escapes of source code", ESCAPES, decode_escapes),
    ("character references of HTML", ENTITIES, decode_entities),
    ("a comment of HTML", COMMENT, decode_comment),
    ("a comment of Markdown", MARKDOWN_COMMENT, decode_markdown_comment),
)
"""Ways to hide a text: name, pattern, decoder."""
INVISIBLE = frozenset({"Unicode tags", "variation selectors", "bits of invisible characters"})
