"""Table of common mistakes in JSON: the message and the fix of each, and where parsing continues.

`ROWS` has, for each expected kind of token, the patterns that are tried in order where something else stands. If the
intended meaning is clear, parsing continues with it, so that the rest of the file can be checked; otherwise it stops.
Every mistake makes progress: it skips text, or changes to a state that accepts the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING
from unicodedata import name

from mcpc.reading.json_scanner import JsonError, string_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading.json_tree import Json
    from mcpc.reading.source import Source

    Judge = Callable[["MistakeContext", re.Match[str]], "Mistake | None"]


class Expected(Enum):
    """What may come next.  `ITEM` is a value or the end of an array, `FIRST_KEY` a key or the end of an object."""

    VALUE = auto()
    ITEM = auto()
    KEY = auto()
    FIRST_KEY = auto()
    COLON = auto()
    AFTER = auto()
    END = auto()
    NOTHING = auto()


EXPECTED = {
    Expected.VALUE: "a value",
    Expected.ITEM: "a value or `]`",
    Expected.KEY: "a key in double quotes",
    Expected.FIRST_KEY: "a key in double quotes or `}`",
    Expected.COLON: "`:`",
    Expected.AFTER: "`,` or `{closer}`",
    Expected.END: "the end of the file",
}
OPENERS = {"]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class MistakeContext:
    """The position and the surroundings of a mistake.

    `at`: the offset of the unexpected text; `after`: the end of what was read before it; `comma`: the last comma read;
    `opener`: the enclosing bracket, which `closer` would close (-1 and empty outside all brackets).
    """

    source: Source
    text: str
    at: int
    expect: Expected
    after: int
    comma: int = -1
    opener: int = -1
    closer: str = ""

    @property
    def expected(self) -> str:
        """What is allowed at this position, as text."""
        return EXPECTED[self.expect].replace("{closer}", self.closer)

    @property
    def is_after_comma(self) -> bool:
        """Whether the last token read is a comma."""
        return self.expect is Expected.KEY or (self.expect is Expected.VALUE and self.closer == "]")

    @property
    def is_in_object(self) -> bool:
        """Whether the enclosing bracket is that of an object."""
        return self.closer == "}"

    @property
    def opened(self) -> str:
        """The position of the enclosing bracket, as text."""
        return f"`{OPENERS[self.closer]}` was opened on line {self.source.position(self.opener)[0]}"


@dataclass(frozen=True, slots=True)
class IntendedValue:
    """The key or the value that the author probably meant."""

    value: Json


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong and how to continue: at `resume`, where `then` is expected, or after the intended value `meant`.

    `is_loss`: something that was written, or should have been, is missing from the tree.
    """

    flaw: JsonError
    then: Expected = Expected.NOTHING
    resume: int = 0
    meant: IntendedValue | None = None
    is_loss: bool = False


def quoted_text(text: str, limit: int = 40) -> str:
    """Return text of the file for a message: short, and without invisible characters."""
    text = text if len(text) <= limit else f"{text[: limit - 3]}..."
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text)


def mistake_at(context: MistakeContext) -> Mistake:
    """Return the mistake at a position where no allowed token stands."""
    for pattern, judge in ROWS[context.expect]:
        match = pattern.match(context.text, context.at)
        mistake = judge(context, match) if match else None
        if mistake is not None:
            return mistake
    raise AssertionError("the last row of each table takes everything")


def _end(context: MistakeContext, _found: re.Match[str]) -> Mistake:
    if not context.closer:
        return Mistake(JsonError(context.at, context.at, "there is no value in the file", "a JSON value"))
    message = f"`{OPENERS[context.closer]}` is never closed"
    expected = f"`{context.closer}` before the end of the file"
    return Mistake(JsonError(context.opener, context.opener + 1, message, expected))


def _comment(context: MistakeContext, match: re.Match[str]) -> Mistake:
    flaw = JsonError(match.start(), match.end(), "JSON has no comments", context.expected, "delete the comment")
    return Mistake(flaw, context.expect, match.end())


def _open_comment(context: MistakeContext, match: re.Match[str]) -> Mistake:
    message = "JSON has no comments, and this one does not end"
    return Mistake(JsonError(match.start(), match.end(), message, context.expected, "delete the comment"))


def _odd_space(context: MistakeContext, match: re.Match[str]) -> Mistake:
    char = match[0][0]
    message = f"U+{ord(char):04X}, {name(char, 'a control character')}, stands outside a string"
    hint = "replace it by a space; only spaces, tabs and line ends may stand between values"
    return Mistake(JsonError(match.start(), match.end(), message, context.expected, hint), context.expect, match.end())


def _unexpected(context: MistakeContext, match: re.Match[str]) -> Mistake:
    return Mistake(JsonError(match.start(), match.end(), f"unexpected `{quoted_text(match[0])}`", context.expected))


def _quoted(context: MistakeContext, match: re.Match[str]) -> Mistake:
    meant, _ = string_value(context.text, match.start(), match.end())
    message = f"`{match[0][0]}` does not begin a string of JSON"
    flaw = JsonError(match.start(), match.end(), message, context.expected, 'strings stand between double quotes, `"`')
    return Mistake(flaw, resume=match.end(), meant=IntendedValue(meant))


def _open_string(_context: MistakeContext, match: re.Match[str]) -> Mistake:
    hint = "a line break inside a string is written `\\n`"
    return Mistake(JsonError(match.start(), match.end(), "the string is not closed on its line", '`"`', hint))


NUMBER_HINTS = (
    (re.compile(r"[-+]?0[xXoObB]"), "JSON has decimal numbers only"),
    (re.compile(r"\+"), "leave out the `+`"),
    (re.compile(r"-?\."), "write a `0` before the point"),
    (re.compile(r"-?0[0-9]+\Z"), "a number does not begin with `0`; an identifier stands between double quotes"),
    (re.compile(r"-?[0-9]+\.(?![0-9])"), "digits follow the point"),
    (re.compile(r"-?[0-9]+_[0-9_]*\Z"), "leave out the `_`"),
    # Matches everything else.
    (re.compile(r""), "text stands between double quotes"),
)


def _number(context: MistakeContext, match: re.Match[str]) -> Mistake:
    hint = next(hint for pattern, hint in NUMBER_HINTS if pattern.match(match[0]))
    message = f"`{quoted_text(match[0])}` is not a number of JSON"
    flaw = JsonError(match.start(), match.end(), message, context.expected, hint)
    # That it is a number keeps what follows from being reported; which one does not matter in a file with an error.
    return Mistake(flaw, resume=match.end(), meant=IntendedValue(0))


WORDS: dict[str, tuple[Json, str]] = {
    "true": (True, "write `true`"),
    "false": (False, "write `false`"),
    "null": (None, "write `null`"),
    "none": (None, "write `null`"),
    "nil": (None, "write `null`"),
    "undefined": (None, "write `null`, or leave out the field"),
    "nan": (0, "JSON has no such number; leave out the field"),
    "inf": (0, "JSON has no such number; leave out the field"),
    "infinity": (0, "JSON has no such number; leave out the field"),
}


def _word(context: MistakeContext, match: re.Match[str]) -> Mistake:
    word = match[0]
    otherwise = (word, f'text stands between double quotes: `"{quoted_text(word)}"`')
    meant, hint = WORDS.get(word.lstrip("+-").casefold(), otherwise)
    flaw = JsonError(
        match.start(), match.end(), f"`{quoted_text(word)}` is not a value of JSON", context.expected, hint
    )
    if meant == word and not context.closer:
        # A file that begins with a word has another format; reading it as a string would report all of it.
        return Mistake(flaw)
    return Mistake(flaw, resume=match.end(), meant=IntendedValue(meant))


def _bare_key(_context: MistakeContext, match: re.Match[str]) -> Mistake:
    key = quoted_text(match[0])
    flaw = JsonError(match.start(), match.end(), f"the key `{key}` has no quotes", f'`"{key}"`')
    return Mistake(flaw, resume=match.end(), meant=IntendedValue(match[0]))


def _bracket_as_key(context: MistakeContext, match: re.Match[str]) -> Mistake:
    hint = f"is a `}}` missing before it? {context.opened}"
    return Mistake(JsonError(match.start(), match.end(), f"unexpected `{match[0]}`", context.expected, hint))


def _stray_comma(context: MistakeContext, match: re.Match[str]) -> Mistake | None:
    """Handle `,,`, `[,` and `,]`: without the comma, the text is valid."""
    if match[0] not in (",", context.closer) or not context.closer:
        return None
    if context.is_after_comma:
        message = "two commas stand in a row" if match[0] == "," else f"a comma stands before `{context.closer}`"
        flaw = JsonError(context.comma, context.comma + 1, message, f"{context.expected} after it", "delete the comma")
    elif context.expect in (Expected.ITEM, Expected.FIRST_KEY):
        flaw = JsonError(context.at, context.at + 1, "a comma stands before the first value", context.expected)
    else:
        return None
    return Mistake(flaw, Expected.AFTER, context.at)


def _no_value(context: MistakeContext, match: re.Match[str]) -> Mistake | None:
    """Handle a key, with or without a colon, that is followed by the end of its member."""
    if match[0] not in (",", context.closer) or not context.closer:
        return None
    flaw = JsonError(context.after, context.after, "the key has no value", context.expected)
    return Mistake(flaw, Expected.AFTER, context.at, is_loss=True)


def _wrong_bracket(context: MistakeContext, match: re.Match[str]) -> Mistake:
    hint = context.opened if context.closer else f"is there one `{match[0]}` too many, or an opening bracket missing?"
    return Mistake(JsonError(match.start(), match.end(), f"unexpected `{match[0]}`", context.expected, hint))


def _equals(context: MistakeContext, match: re.Match[str]) -> Mistake:
    flaw = JsonError(match.start(), match.end(), f"`{match[0]}` stands between key and value", context.expected)
    return Mistake(flaw, Expected.VALUE, match.end())


def _no_colon(context: MistakeContext, _found: re.Match[str]) -> Mistake:
    flaw = JsonError(context.after, context.after, "a colon is missing", context.expected)
    return Mistake(flaw, Expected.VALUE, context.at)


def _no_comma_before_key(context: MistakeContext, _found: re.Match[str]) -> Mistake | None:
    return _no_comma(context, Expected.KEY) if context.is_in_object else None


def _no_comma_before_item(context: MistakeContext, _found: re.Match[str]) -> Mistake | None:
    return None if context.is_in_object else _no_comma(context, Expected.VALUE)


def _no_comma(context: MistakeContext, then: Expected) -> Mistake:
    return Mistake(JsonError(context.after, context.after, "a comma is missing", context.expected), then, context.at)


def _after_quote(context: MistakeContext, match: re.Match[str]) -> Mistake | None:
    # Behind a space it is more likely that a comma is missing.
    if context.at != context.after or context.text[context.at - 1] != '"':
        return None
    hint = 'a quote inside a string is written `\\"`'
    return Mistake(
        JsonError(match.start(), match.end(), f"`{quoted_text(match[0])}` follows a quote", context.expected, hint)
    )


def _joined(context: MistakeContext, match: re.Match[str]) -> Mistake:
    hint = "a string is written in one piece; a line break in it is written `\\n`"
    return Mistake(JsonError(match.start(), match.end(), f"unexpected `{match[0]}`", context.expected, hint))


def _colon_in_array(context: MistakeContext, match: re.Match[str]) -> Mistake | None:
    if context.is_in_object:
        return None
    hint = f"is a `]` missing before the key? {context.opened}"
    return Mistake(JsonError(match.start(), match.end(), "`:` stands in an array", context.expected, hint))


def _too_much(context: MistakeContext, match: re.Match[str]) -> Mistake:
    message = f"`{quoted_text(match[0])}` stands after the end of the value"
    return Mistake(JsonError(match.start(), match.end(), message, context.expected, "a file of JSON holds one value"))


def _rows(*rows: tuple[str, Judge]) -> tuple[tuple[re.Pattern[str], Judge], ...]:
    return tuple((re.compile(pattern), judge) for pattern, judge in (*ANYWHERE, *rows, (r"[\s\S]", _unexpected)))


# A comment of several lines is one mistake; so is a run of spaces.
ANYWHERE: tuple[tuple[str, Judge], ...] = (
    (r"\Z", _end),
    (r"//[^\n\r]*+(?:\s*+//[^\n\r]*+)*+", _comment),
    (r"\#[^\n\r]*+(?:\s*+\#[^\n\r]*+)*+", _comment),
    (r"/\*(?:[^*]++|\*(?!/))*+\*/", _comment),
    (r"/\*[^\n\r]*+", _open_comment),
    (r"[\s\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]++", _odd_space),
)
AS_STRING: tuple[tuple[str, Judge], ...] = (
    (r"'[^'\\\n\r]*+(?:\\[^\n\r][^'\\\n\r]*+)*+'", _quoted),
    (r"`[^`\\\n\r]*+(?:\\[^\n\r][^`\\\n\r]*+)*+`", _quoted),
    ('[\u201c\u201d\u201e][^\u201c\u201d"\\\\\n\r]*+[\u201c\u201d]', _quoted),
    (r"""["'`][^\n\r]*+""", _open_string),
)
AS_VALUE: tuple[tuple[str, Judge], ...] = (
    (r"[,\]}]", _stray_comma),
    (r"[,\]}]", _no_value),
    (r"[\]}]", _wrong_bracket),
    *AS_STRING,
    (r"[-+.]*+[0-9][\w.+\-]*+", _number),
    (r"[-+]?[^\W\d][\w$.\-]*+", _word),
)
AS_KEY: tuple[tuple[str, Judge], ...] = (
    (r"[,\]}]", _stray_comma),
    (r"[\]}]", _wrong_bracket),
    (r"[\[{]", _bracket_as_key),
    *AS_STRING,
    (r"[\w$][\w$.\-]*+", _bare_key),
)
ROWS: dict[Expected, tuple[tuple[re.Pattern[str], Judge], ...]] = {
    Expected.VALUE: _rows(*AS_VALUE),
    Expected.ITEM: _rows(*AS_VALUE),
    Expected.KEY: _rows(*AS_KEY),
    Expected.FIRST_KEY: _rows(*AS_KEY),
    Expected.COLON: _rows(
        (r"[,\]}]", _no_value),
        (r"[\]}]", _wrong_bracket),
        (r"=>?", _equals),
        (r"""["'`\[{\w-]""", _no_colon),
    ),
    Expected.AFTER: _rows(
        (r"[\]}]", _wrong_bracket),
        (r"""(?:"[^"\\\n\r]*+"|'[^'\\\n\r]*+'|[\w$]++)[ \t\n\r]*+:""", _no_comma_before_key),
        (r'["\w]', _after_quote),
        (r"""["'\[{0-9-]|(?:true|false|null)\b""", _no_comma_before_item),
        (r'["+]', _joined),
        (r":", _colon_in_array),
    ),
    Expected.END: _rows(
        (r"[\]}]", _wrong_bracket),
        (r"[^\n\r]++", _too_much),
    ),
}
