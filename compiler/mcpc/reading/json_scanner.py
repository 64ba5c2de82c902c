"""The tokens of JSON (RFC 8259) as regular expressions, and the values of strings and numbers.

Every pattern is possessive, so that no input causes backtracking. Errors are returned as values; a token with an error
still gets a value, so that parsing can continue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DIGITS = 4300
"""Python by default refuses to convert longer integers from or to text."""
MAX_FLAWS = 20
"""Maximum number of problems reported in one string."""

SPACE = re.compile(r"[ \t\n\r]*+")
# `string` is slower and tried last: it has escapes or control characters.  It never spans lines.
VALUE = re.compile(
    r"""[ \t\n\r]*+(?:
      (?P<plain>"[^"\\\x00-\x1f]*+")
    | (?P<integer>-?(?:0|[1-9][0-9]*+))(?![\w.+\-])
    | (?P<word>true|false|null)(?![\w.+\-])
    | (?P<open>[\[{])
    | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+)(?![\w.+\-])
    | (?P<string>"[^"\\\n\r]*+(?:\\[^\n\r][^"\\\n\r]*+)*+")
    )""",
    re.VERBOSE,
)
# Quantifiers are possessive (`*+`), so that a string without an end takes linear time, too.
PLAIN_KEY = re.compile(r'[ \t\n\r]*+("[^"\\\x00-\x1f]*+")[ \t\n\r]*+:')
STRING = re.compile(r'[ \t\n\r]*+("[^"\\\n\r]*+(?:\\[^\n\r][^"\\\n\r]*+)*+")')
COLON = re.compile(r"[ \t\n\r]*+:")
AFTER_VALUE = re.compile(r"[ \t\n\r]*+([,\]}])")

LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

# The order matters: two halves of a surrogate pair are one character, and only then is a half alone.
SPECIAL = re.compile(
    r"""\\u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})
    | \\u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})
    | \\u(?P<unit>[0-9a-fA-F]{4})
    | \\(?P<simple>["\\/bfnrt])
    | \\(?P<short>u[0-9a-fA-F]{0,3}+)
    | \\(?P<unknown>.)
    | (?P<control>[\x00-\x1f])""",
    re.VERBOSE,
)
SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SHORT_ESCAPES = {ord(char): f"\\{letter}" for letter, char in SIMPLE.items() if char < " "}


@dataclass(frozen=True, slots=True)
class JsonError:
    """A problem of one file, without the file's name."""

    start: int
    end: int
    message: str
    expected: str = ""
    hint: str = ""
    code: str = "MCP002"


def string_value(text: str, start: int, end: int) -> tuple[str, list[JsonError]]:
    """Return the value of the string between the quotes at `start` and before `end`, and its problems."""
    pieces: list[str] = []
    flaws: list[JsonError] = []
    at = start + 1
    for match in SPECIAL.finditer(text, at, end - 1):
        kind = match.lastgroup or ""
        pieces += text[at : match.start()], MEANING[kind](match[kind])
        at = match.end()
        if kind in FLAWS and len(flaws) < MAX_FLAWS:
            message, hint = FLAWS[kind](match[kind])
            flaws.append(JsonError(match.start(), match.end(), message, hint=hint))
    pieces.append(text[at : end - 1])
    return "".join(pieces), flaws


def _pair(digits: str) -> str:
    high, low = int(digits[:4], 16), int(digits[6:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


MEANING: dict[str, Callable[[str], str]] = {
    "pair": _pair,
    # A character that cannot be known is replaced by U+FFFD, and the rest of the string is read.
    "half": lambda _: "\ufffd",
    "unit": lambda digits: chr(int(digits, 16)),
    "simple": SIMPLE.__getitem__,
    "short": lambda _: "\ufffd",
    "unknown": lambda char: char,
    "control": lambda char: char,
}


def _half(digits: str) -> tuple[str, str]:
    hint = "write the character itself, or both halves: `\\ud83d\\ude00` is one character"
    return f"`\\u{digits}` is only half of a character", hint


def _short(digits: str) -> tuple[str, str]:
    return (
        f"the escape `\\{digits}` is too short",
        "four hexadecimal digits follow `\\u`; a backslash is written `\\\\`",
    )


def _unknown(char: str) -> tuple[str, str]:
    hint = f"write `{char}` without a backslash" if char == "'" else "a backslash is written `\\\\`"
    return f"`\\{char}` is not an escape of JSON", hint


def _control(char: str) -> tuple[str, str]:
    escape = SHORT_ESCAPES.get(ord(char), f"\\u{ord(char):04x}")
    return f"a string holds the control character U+{ord(char):04X}", f"write `{escape}`"


FLAWS: dict[str, Callable[[str], tuple[str, str]]] = {
    "half": _half,
    "short": _short,
    "unknown": _unknown,
    "control": _control,
}


def integer_value(text: str, start: int, end: int) -> tuple[int, list[JsonError]]:
    """Return the integer written from `start` to `end`, 0 if it is too long."""
    digits = end - start - (text[start] == "-")
    try:
        if digits <= MAX_DIGITS:
            return int(text[start:end]), []
    except ValueError:
        # PYTHONINTMAXSTRDIGITS sets a lower limit.
        pass
    return 0, [JsonError(start, end, f"the integer has {digits} digits", f"at most {MAX_DIGITS} digits", code="MCP007")]


def number_value(text: str, start: int, end: int) -> tuple[float, list[JsonError]]:
    """Return the number written from `start` to `end`, 0.0 if it is out of range."""
    value = float(text[start:end])
    if abs(value) != float("inf"):
        return value, []
    return 0.0, [JsonError(start, end, "the number is too large", "a number below 1.8e308", code="MCP007")]
