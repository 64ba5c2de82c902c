"""Phrases with alternatives, found in a sentence word by word.

A phrase is a sequence of slots; a slot is a choice of words, one of which may be empty.  Phrases are indexed by the
words that they can begin with, and their length is bounded, so that finding all of them is linear in the sentence.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Words = tuple[str, ...]
    Slot = tuple[Words, ...]

INTENTS = "intents.toml"
"""The file of phrases by meaning."""


class Phrase(NamedTuple):
    """A phrase of a meaning, as slots, each with its choices from the longest to the shortest."""

    meaning: str
    slots: tuple[Slot, ...]


def parse_phrase(text: str) -> tuple[Slot, ...]:
    """Return the slots of a phrase as the file writes it."""
    found: list[Slot] = []
    for piece in text.replace("(", "\n(").replace(")", ")\n").split("\n"):
        body = piece.strip()
        if body:
            choices = body[1:-1].split("|") if body.startswith("(") else [body]
            words = {tuple(choice.split()) for choice in choices}
            found.append(tuple(sorted(words, key=lambda each: (-len(each), each))))
    return tuple(found)


@cache
def index() -> Mapping[str, Sequence[Phrase]]:
    """Return all phrases by each word with which they can begin."""
    found: dict[str, dict[Phrase, None]] = defaultdict(dict)
    intents = tomllib.loads(files(__package__).joinpath(INTENTS).read_text("utf-8"))
    for meaning, texts in intents.items():
        for text in texts:
            phrase = Phrase(meaning, parse_phrase(text))
            for word in _beginnings(phrase.slots):
                found[word][phrase] = None
    return {word: tuple(phrases) for word, phrases in found.items()}


def _beginnings(slots: tuple[Slot, ...]) -> Iterator[str]:
    for slot in slots:
        yield from (choice[0] for choice in slot if choice)
        if () not in slot:
            return


def phrases_at(words: Sequence[str], at: int) -> Iterator[tuple[str, int]]:
    """Yield the meaning of each phrase that begins at a word, and the number of the word after it."""
    for phrase in index().get(words[at], ()):
        end = _end(words, at, phrase.slots)
        if end > at:
            yield phrase.meaning, end


def _end(words: Sequence[str], at: int, slots: tuple[Slot, ...]) -> int:
    """Return where a phrase that begins at a word ends, or -1; of its choices the longest that fits counts."""
    for number, slot in enumerate(slots):
        fitting = [choice for choice in slot if tuple(words[at : at + len(choice)]) == choice]
        if () in fitting and len(fitting) > 1:  # an optional word that is there may belong to the next slot
            ends = [_end(words, at + len(choice), slots[number + 1 :]) for choice in fitting]
            return max(ends)
        if not fitting:
            return -1
        at += len(fitting[0])
    return at
