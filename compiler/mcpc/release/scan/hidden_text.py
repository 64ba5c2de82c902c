"""Text that people do not see as the model reads it: invisible characters, encodings, comments, look-alikes, far away.

Of what is encoded only readable text counts: digests, keys and images are none.
"""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from mcpc.reading.hidden_characters import describe_hidden, hidden_finder
from mcpc.release.scan.model import Hit, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.release.scan.model import Text

PAIRS = (
    ("аеорсухіјѕһԁԛԝкмтвнгпԍ", "aeopcyxijshdqwkmtbhrng"),
    ("АВЕКМНОРСТУХІЈЅԌ", "ABEKMHOPCTYXIJSG"),
    ("οανρικυχϲϳωτεη", "oavpikuxcjwten"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("օսհոցզյ", "ouhngqj"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    ("ıɡɑɩʋⅼ", "igaivl"),
)
"""Letters of other scripts, and the Latin letters that they look like, in the same order."""
LATIN = {ord(other): latin for others, latins in PAIRS for other, latin in zip(others, latins, strict=True)}
SAME_SHAPE = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"))
"""Latin letters and digits that look alike in a name."""
# The flag of a region, as Scotland: a black flag, the code of the region in tags, and the tag that ends it.
FLAG = re.compile("(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
SHORTEST = 10
"""Characters of the shortest decoded text that counts."""
MAX_ENCODED = 1 << 16


class Payload(NamedTuple):
    """A hidden text: the code of how it was hidden, its range in the text, and itself."""

    code: str
    encoding: str
    start: int
    end: int
    text: str


class Encoding(NamedTuple):
    """A way to hide a text.  `decode` raises ValueError, or returns bytes, which have to be readable, or a text."""

    code: str
    name: str
    pattern: re.Pattern[str]
    decode: Callable[[str], bytes | str]
    shortest: int = SHORTEST


def _selectors(text: str) -> bytes:
    # Selectors 1 to 16 begin at U+FE00, 17 to 256 at U+E0100: the byte is the number less one.
    codes = map(ord, text)
    return bytes(code - 0xFE00 if code < 0xFF00 else code - 0xE0100 + 16 for code in codes)


def _bits(text: str) -> str:
    """Return the text whose bits two invisible characters are, whichever of them is the one."""
    for one in (max(text), min(text)):
        bits = "".join("1" if character == one else "0" for character in text)
        decoded = readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)), 2)
        if decoded:
            return decoded
    return ""


def _base64(text: str) -> bytes:
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    # A run of letters in one case is rather a long name.
    if body.isalpha() and (body.islower() or body.isupper()):
        return b""
    return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)


def _escapes(text: str) -> bytes:
    codes = re.findall(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})", text)
    return "".join(chr(int(wide or narrow, 16)) for wide, narrow in codes).encode("utf-8", "replace")


ENCODINGS = (
    Encoding(
        "SCAN301", "Unicode tags", re.compile("[\U000e0020-\U000e007f]{2,}"),
        lambda text: "".join(chr(ord(character) - 0xE0000) for character in text if ord(character) < 0xE007F),
    ),
    Encoding("SCAN304", "variation selectors", re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}"), _selectors),
    Encoding(
        "SCAN303", "bits of invisible characters",
        re.compile("[\u200b\u200c]{16,}|[\u200c\u200d]{16,}|[\u2062\u2064]{16,}|[\u200b\u200d]{16,}"), _bits,
    ),
    Encoding(
        "SCAN309", "base64",
        re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_=-])"), _base64,
    ),
    Encoding(
        "SCAN309", "hexadecimal digits",
        re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :]?){14,}(?![0-9A-Fa-f])"),
        lambda text: bytes.fromhex(text.replace(":", " ")),
    ),
    Encoding(
        "SCAN309", "percent encoding", re.compile(r"(?:%[0-9A-Fa-f]{2}){8,}(?:[\w.-]|%[0-9A-Fa-f]{2})*"),
        unquote_to_bytes,
    ),
    Encoding(
        "SCAN309", "escapes of source code", re.compile(r"(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}){6,}"), _escapes, 6,
    ),
    Encoding(
        "SCAN309", "character references of HTML", re.compile(r"(?:&#(?:x[0-9A-Fa-f]{2,6}|[0-9]{2,7});){6,}"),
        lambda text: html.unescape(text).encode("utf-8", "replace"), 6,
    ),
    # Possessive: a comment without an end is read once, and not once from each place.
    Encoding(
        "SCAN307", "a comment of HTML", re.compile(r"<!--(?:[^-]|-(?!->))*+(?:-->)?"),
        lambda text: text.removeprefix("<!--").removesuffix("-->").strip(),
    ),
    Encoding(
        "SCAN307", "a comment of Markdown",  # the definition of a link that no text uses: `[//]: # (text)`
        re.compile(r"^\[(?://|comment|_)\]:[^\n]{1,2000}$", re.MULTILINE),
        lambda text: text.partition(":")[2].strip(" #<>()'\""),
    ),
)  # fmt: skip
REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Sequences of ECMA-48 (CSI, OSC, DCS, SOS, PM, APC), and control characters but tabs and ends of lines.
TERMINAL = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\]|[PX^_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
TAG = re.compile("[\U000e0000-\U000e007f]")
# 25 empty lines, or 150 spaces.  The look-behind starts at the first space of a run, so that a run is read once.
FAR_AWAY = re.compile(r"(?:\n[ \t]{0,40}){25}|(?<![ \t\u00a0\u3000])[ \t\u00a0\u3000]{150}")
WORD = re.compile(r"\w{2,80}")
PLAIN = frozenset({Role.NAME, Role.PROSE, Role.VALUE})
FORMATTED = frozenset({Role.CONTENTS, Role.SOURCE})
"""Roles of texts in which comments, encodings and long spaces are usual."""


def find_hidden_text(text: Text) -> Iterator[Hit]:
    """Yield what a text hides from people who read it."""
    terminal = TERMINAL.search(text.text)
    if terminal and text.role not in FORMATTED:
        yield Hit("SCAN305", text, *terminal.span())
    if not text.text.isascii():
        yield from _invisible(text)
    if text.role in PLAIN:
        alike = None if text.text.isascii() else next(filter(_looks_latin, WORD.finditer(text.text)), None)
        if alike:
            yield Hit("SCAN306" if text.role is Role.NAME else "SCAN310", text, *alike.span())
        far = FAR_AWAY.search(text.text)
        if far and text.text[: far.start()].strip() and text.text[far.end() :].strip():
            yield Hit("SCAN308", text, *far.span())
    for payload in payloads(text.text) if text.role not in (Role.SYNTAX, Role.ADDRESS) else ():
        if text.role not in FORMATTED or payload.code not in ("SCAN307", "SCAN309"):
            yield Hit(payload.code, text, payload.start, payload.end, f"in {payload.encoding}", payload.text)


def _invisible(text: Text) -> Iterator[Hit]:
    """Yield each kind of invisible character once."""
    flags = [match.span() for match in FLAG.finditer(text.text)]
    # A byte order mark at the beginning of a file hides nothing.
    first = int(text.role in FORMATTED and text.text.startswith("\ufeff"))
    seen: set[str] = set()
    for match in hidden_finder(controls=False).finditer(text.text, first):
        at, character = match.start(), match[0]
        code = "SCAN301" if TAG.match(character) else "SCAN302" if REORDERING.match(character) else "SCAN303"
        if code not in seen and not any(start <= at < end for start, end in flags):
            seen.add(code)
            yield Hit(code, text, at, at + 1, f"U+{ord(character):04X}, {describe_hidden(character)}")


def _looks_latin(word: re.Match[str]) -> bool:
    """Tell whether a word mixes Latin letters with letters of other scripts that look like Latin ones."""
    is_mixed = any(ord(character) in LATIN for character in word[0])
    return is_mixed and any(character.isascii() and character.isalpha() for character in word[0])


def skeleton(name: str) -> str:
    """Return what a name looks like: two names with the same skeleton can be mistaken for each other."""
    text = unicodedata.normalize("NFKC", name).translate(LATIN).lower()
    text = "".join(character for character in text if character.isalnum())
    for shape, same in SAME_SHAPE:
        text = text.replace(shape, same)
    return text


@lru_cache(maxsize=4)
def payloads(text: str) -> tuple[Payload, ...]:
    """Return all hidden texts of a text."""
    return tuple(_payloads(text))


def _payloads(text: str) -> Iterator[Payload]:
    for encoding in ENCODINGS:
        for match in encoding.pattern.finditer(text):
            try:
                decoded = encoding.decode(match[0][:MAX_ENCODED])
            except ValueError:
                continue
            readable_text = readable(decoded, encoding.shortest) if isinstance(decoded, bytes) else decoded
            if readable_text and not FLAG.match(text, *match.span()):
                yield Payload(encoding.code, encoding.name, *match.span(), readable_text)


def readable(data: bytes, shortest: int) -> str:
    """Return bytes as text if people could have written it: letters and spaces, no control characters."""
    try:
        text = data.decode("utf-8").strip("\0\n ")
    except UnicodeDecodeError:
        return ""
    plain = sum(character.isascii() and (character.isalnum() or character in " .,:;/_-'\"\n") for character in text)
    if len(text) < shortest or plain < 0.85 * len(text) or not all(c.isprintable() or c in "\n\t\r" for c in text):
        return ""
    letters = sum(character.isalpha() or character == " " for character in text)
    return text if letters >= 0.6 * len(text) and any(character in "aeiouAEIOU" for character in text) else ""
