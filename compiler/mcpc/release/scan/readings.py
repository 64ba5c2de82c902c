"""How a text is read: folded, so that look-alikes and hidden characters change nothing, and in words and sentences.

A folded text is in lower case, without hidden characters, with Latin letters for those that look like them.  Each word
keeps its place in the original text, so that a report shows what was written.  All of it is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mcpc.reading.hidden_characters import hidden_finder
from mcpc.release.scan.confusables import LATIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORD = re.compile(r"[^\s,;()\[\]{}<>\"!?|=“”]+|[!?]|\n\s{0,200}\n|\n[ \t]{0,80}[-*•]")
BEFORE, AFTER = "`'*_\u2018\u2019«»:", "`'*_\u2018\u2019«».:"
"""Characters that are not part of a word at its beginning and its end; `.env` begins with a dot."""
ABBREVIATIONS = frozenset({"e.g.", "i.e.", "etc.", "vs.", "incl.", "approx.", "no.", "resp."})
MAX_TEXT = 1 << 20
"""Characters of one text that are read for orders; a longer one is a file of data."""


class FoldedWord(NamedTuple):
    """A word in folded form, and its range in the original text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text in folded form; `offsets` are those of its characters in the original, None where they are the same."""

    text: str
    offsets: Sequence[int] | None

    def original(self, offset: int) -> int:
        """Return the offset in the original text."""
        if self.offsets is None:
            return offset
        return self.offsets[offset] if offset < len(self.offsets) else (self.offsets[-1] + 1 if self.offsets else 0)


@lru_cache(maxsize=4)
def fold(text: str) -> FoldedText:
    """Return a text in folded form."""
    text = text[:MAX_TEXT]
    if text.isascii():
        return FoldedText(text.lower(), None)
    hidden = {found.start() for found in hidden_finder(controls=False).finditer(text)}
    characters: list[str] = []
    offsets: list[int] = []
    for number, character in enumerate(text):
        shown = "" if number in hidden else fold_character(character)
        characters.append(shown)
        offsets += [number] * len(shown)
    return FoldedText("".join(characters), offsets)


def fold_character(character: str) -> str:
    """Return a character in lower case, or the Latin letters that it looks like."""
    if character.isascii():
        return character.lower()
    same = unicodedata.normalize("NFKC", character).translate(LATIN).lower()
    return same.replace("\u2019", "'").replace("\u2018", "'")


def sentences(folded: FoldedText) -> Iterator[list[FoldedWord]]:
    """Yield the words of each sentence; an empty line or an item of a list begins a new one."""
    words: list[FoldedWord] = []
    for found in WORD.finditer(folded.text):
        raw = found[0]
        text = raw.lstrip(BEFORE).rstrip(AFTER)
        is_end = raw[0] in "\n!?" or (raw[-1] == "." and raw not in ABBREVIATIONS)
        if text and raw[0] not in "\n!?":
            start = found.start() + raw.index(text)
            words.append(FoldedWord(text, folded.original(start), folded.original(start + len(text) - 1) + 1))
        if is_end and words:
            yield words
            words = []
    if words:
        yield words
