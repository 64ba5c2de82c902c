"""Which construct a syntax error of Bash is about: Bash names the word where it stopped, not the `if` without `fi`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.languages.bash.lexer_state import Word
    from mcpc.reading import Source

LOOPS = ("while", "until", "for", "select")
CLOSERS = {
    "if": "fi",
    **dict.fromkeys(LOOPS, "done"),
    "case": "esac",
    "{": "}",
    "${": "}",
    **dict.fromkeys(("(", "$("), ")"),
    **dict.fromkeys(("((", "$(("), "))"),
    "[[": "]]",
}
"""What closes each construct."""
BODIES = {"if": "then", **dict.fromkeys(LOOPS, "do"), "case": "in"}
"""The word before the body of each construct."""
OPENERS = {"fi": ("if",), "else": ("if",), "elif": ("if",), "done": LOOPS, "esac": ("case",)}
ALONE = {
    **dict.fromkeys(("}", ")", "fi", "done", "esac"), "nothing is open that it closes"),
    **dict.fromkeys(("then", "else", "elif"), "it belongs between `if` and `fi`"),
    "do": "it belongs between `while`, `until` or `for`, and `done`",
}
"""What is wrong with a word where no construct is open."""
OUTSIDE_TEXT = re.compile(r"\}|(?:function\s+)?[\w.:-]+\s*\(\)")
"""Matches a line that is hardly one of a text in quotes: a function begins or ends."""


def unexpected_word(source: Source, word: str, at: int, unclosed: Sequence[Word]) -> str:
    """Return why Bash did not expect a word; `unclosed`: the openers without an end."""
    above = [opener for opener in unclosed if opener.start < at]
    if above and CLOSERS.get(above[-1].text, word) != word:
        opener, start = above[-1].text, above[-1].start
        lacking = CLOSERS[opener] if _has_body(source, opener, start, at) else BODIES[opener]
        return f"the `{opener}` of line {source.position(start)[0]} has no `{lacking}` before it"
    openers = "|".join(OPENERS.get(word, ()))
    for found in reversed([*re.finditer(rf"\b(?:{openers})\b", source.text[:at])] if openers else []):
        if not _has_body(source, found[0], found.start(), at):
            return f"the `{found[0]}` of line {source.position(found.start())[0]} has no `{BODIES[found[0]]}` before it"
        break
    return "" if above else ALONE.get(word, "")


def _has_body(source: Source, opener: str, start: int, end: int) -> bool:
    body = BODIES.get(opener)
    return body is None or re.search(rf"\b{body}\b", source.text[start:end]) is not None


def never_closed(source: Source, unclosed: Sequence[Word]) -> str:
    """Return the innermost opener without an end."""
    if not unclosed:
        return ""
    innermost = unclosed[-1]
    return f"the `{innermost.text}` of line {source.position(innermost.start)[0]} is never closed"


def open_quote(source: Source, quote: str) -> str:
    """Return the line of a quote that seems to be closed by another one: functions end and begin between them."""
    begun = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if begun and OUTSIDE_TEXT.match(line):
            return f"is the `{quote}` of line {begun} closed where it should be?"
        if line.replace(f"\\{quote}", "").count(quote) % 2:
            begun = 0 if begun else number
    return ""


def indented_end(source: Source, delimiter: str) -> str:
    """Return the line of a here-document's end that does not count, because blanks are before or behind it."""
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.strip() == delimiter and line != delimiter:
            return f"line {number} has blanks beside `{delimiter}`: it has to stand alone (`<<-` allows tabs before it)"
    return f"write `{delimiter}` alone on the line after the text"
