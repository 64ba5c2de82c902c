"""Orders to the model in texts that should describe: a table of sequences of meanings within one sentence.

An order is a sequence of meanings (`vocabulary.py`) near each other, so that one row covers many wordings.  Hidden and
decoded parts of a text are read as well, because that is where orders are hidden.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mcpc.release.scan.model import Hit, Role
from mcpc.release.scan.payloads import payloads
from mcpc.release.scan.readings import fold, sentences
from mcpc.release.scan.vocabulary import Occurrence, occurrences, sequence, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.release.scan.model import Text
    from mcpc.release.scan.readings import FoldedWord


class Order(NamedTuple):
    """A row: meanings in sequence, at most `gap` words apart; `needs`: one of these has to be in the sentence as well.

    `unless`: a meaning that excludes it; `not_after`: a meaning just before the sequence that reverses it.
    """

    code: str
    meanings: tuple[str, ...]
    gap: int = 8
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ("discussion",)
    not_after: tuple[str, ...] = ()


ORDERS = (
    Order("SCAN101", ("not", "tell", "person"), 1, unless=("discussion", "without")),
    Order("SCAN101", ("not", "mention", "this"), 0),
    Order("SCAN101", ("not", "mention", "this", "person"), 2),
    Order("SCAN101", ("secretly", "act"), 1),
    Order("SCAN101", ("act", "secretly"), 5, needs=("must", "you must", "before", "also")),
    Order("SCAN101", ("keep", "this", "hidden"), 3, needs=("person",)),
    Order("SCAN101", ("keep", "this", "person"), 3),
    Order("SCAN101", ("without", "tell", "person"), 1, needs=("must", "you must"), unless=("discussion", "not")),
    Order("SCAN102", ("without", "ask", "person"), 3, needs=("must", "you must")),
    Order("SCAN102", ("not", "ask", "person"), 3, unless=("discussion", "without")),
    Order("SCAN102", ("not", "question", "person", "consent"), 3, unless=("discussion", "without")),
    Order("SCAN102", ("not", "question", "consent"), 2, unless=("discussion", "without")),
    Order("SCAN102", ("skip check",), needs=("must", "you must", "cue")),
    Order("SCAN103", ("ignore", "prior", "instruction"), 3, not_after=("not",)),
    Order("SCAN103", ("ignore", "guardrail"), 3, not_after=("not",)),
    Order("SCAN103", ("are now", "persona"), 4),
    Order("SCAN103", ("precedence", "prior", "instruction"), 3, not_after=("not",)),
    Order("SCAN104", ("read", "private path"), 6, needs=("argument", "cue"), not_after=("not",)),
    Order("SCAN104", ("read", "private file", "into", "argument"), 6, not_after=("not",)),
    Order("SCAN104", ("before", "read", "private file"), 6, not_after=("not",)),
    Order("SCAN105", ("pass", "whole", "conversation"), 4, needs=("argument", "into"), not_after=("not",)),
    Order("SCAN105", ("pass", "inner text"), 4, needs=("argument", "into"), not_after=("not",)),
    Order("SCAN105", ("pass", "conversation", "into", "argument"), 4, not_after=("not",)),
    Order("SCAN105", ("pass", "person", "secret data", "into", "argument"), 5, not_after=("not",)),
    Order("SCAN105", ("argument", "must", "conversation"), 6),
    Order("SCAN105", ("argument", "must", "inner text"), 6),
    Order("SCAN106", ("before", "using", "any tool"), 2),
    Order("SCAN106", ("this tool", "called", "before", "any tool"), 4),
    Order("SCAN106", ("any request", "must", "call", "this tool"), 4),
    Order("SCAN106", ("must", "call", "this tool", "any request"), 5),
    Order("SCAN106", ("must", "call", "this tool", "first", "any request"), 5),
    Order("SCAN108", ("let know", "external"), 2),
    Order("SCAN108", ("blind copy", "external"), 4),
    Order("SCAN108", ("must", "send", "external"), 10),
    Order("SCAN108", ("send", "every", "external"), 8, needs=("must", "you must", "when", "secretly", "before")),
    Order("SCAN108", ("all mail", "routed", "external"), 4),
    Order("SCAN110", ("emphasis", "you must"), 12, needs=("else breaks",)),
    Order("SCAN110", ("you must", "else breaks"), 25),
    Order("SCAN110", ("must", "called", "else breaks"), 25),
    Order("SCAN111", ("person", "agreed"), 1, unless=("discussion", "condition")),
    Order("SCAN202", ("instead of", "other tools"), 1),
    Order("SCAN202", ("best", "other tools"), 6),
    Order("SCAN201", ("all mail", "must", "routed"), 3),
)


class Intent(NamedTuple):
    """A row: meanings in any order within `width` words of one sentence; `unless`: a meaning that excludes it."""

    code: str
    meanings: tuple[str, ...]
    width: int = 14
    unless: tuple[str, ...] = ("discussion",)


INTENTS = (
    Intent("SCAN101", ("conceal", "step", "from audience")),
    Intent("SCAN101", ("never say", "step"), 5),
    Intent("SCAN101", ("never said", "from audience"), 8),
    Intent("SCAN101", ("leave out", "your output")),
    Intent("SCAN101", ("unaware", "so", "audience")),
    Intent("SCAN101", ("pretend", "your output"), 10),
    Intent("SCAN101", ("without telling", "act"), unless=("discussion", "not")),
    Intent("SCAN101", ("present", "pretend"), 10),
    Intent("SCAN103", ("cancelled", "model rules"), 12),
    Intent("SCAN103", ("obey", "foreign orders"), 14),
    Intent("SCAN103", ("new mode", "model"), 12),
    Intent("SCAN103", ("new mode", "cancelled"), 16),
    Intent("SCAN103", ("turn down", "model"), 12),
    Intent("SCAN104", ("look into", "private place", "as input"), 24),
    Intent("SCAN104", ("look into", "private path", "as input"), 24),
    Intent("SCAN104", ("look into", "private path", "any means"), 24),
    Intent("SCAN104", ("look into", "other scheme", "put in", "into answer"), 30),
    Intent("SCAN105", ("put in", "secret noun", "into answer"), 14),
    Intent("SCAN105", ("put in", "private data", "into answer"), 14),
    Intent("SCAN105", ("must call", "secret noun", "environment"), 16),
    Intent("SCAN105", ("into field", "must", "conversation data"), 20),
    Intent("SCAN106", ("trigger", "calls", "others", "also call"), 16),
    Intent("SCAN105", ("hand over", "conversation data", "into field"), 20),
    Intent("SCAN105", ("hand over", "private data", "into field"), 18),
    Intent("SCAN105", ("hand over", "private path", "into field"), 18),
    Intent("SCAN105", ("hand over", "conversation data", "verbatim"), 18),
    Intent("SCAN108", ("hand over", "private data", "external"), 16),
    Intent("SCAN108", ("exfiltrate",)),
    Intent("SCAN108", ("hand over", "conversation data", "external"), 16),
    Intent("SCAN106", ("this one", "run this", "ahead", "others"), 20),
    Intent("SCAN106", ("others", "must", "run this", "ahead"), 20),
    Intent("SCAN202", ("others", "displaced"), 12),
    Intent("SCAN202", ("others", "route"), 14),
    Intent("SCAN112", ("trigger", "event", "harm"), 24),
    Intent("SCAN112", ("trigger", "event", "external"), 24),
    Intent("SCAN113", ("event", "claim that"), 20),
    Intent("SCAN111", ("authority", "ordains", "model"), 20),
    Intent("SCAN111", ("authority", "ordains", "no questions"), 24),
    Intent("SCAN102", ("no questions", "model", "must"), 16),
    Intent("SCAN110", ("unless done", "loss"), 24),
    Intent("SCAN110", ("loss", "model"), 10),
    Intent("SCAN202", ("only this",)),
    Intent("SCAN109", ("pipe to shell", "external"), 16),
    Intent("SCAN109", ("write", "take rights"), 14),
    Intent("SCAN102", ("unguard",), 14),
    Intent("SCAN102", ("harm", "against will"), 16),
)
TAGS = re.compile(
    r"</?\s{0,3}(important|system|hidden|sys|override|system[-_ ](?:prompt|reminder|message|note)"
    r"|(?:critical|mandatory|urgent|priority|hidden|secret|internal|private|admin|system|ai|llm|model|agent|assistant)"
    r"[-_ ](?:instruction|rule|directive|order|override|command|message|prompt)s?)\s{0,3}/?>"
    r"|</\s{0,3}(?:secret|admin|assistant)\s{0,3}>"
    r"|\[/?inst\]|<</?sys>>|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
    r"|^\s{0,8}#{2,6}\s{0,3}(?:system|assistant|instruction)s?\s{0,3}:"
    r"|-{3,20}\s{0,4}(?:end|begin) of (?:the |this )?(?:tool |user |system )?(?:description|prompt|message|instruction)"
    r"|\[(?:system|assistant)(?: (?:message|note|prompt|override|instructions?))?\]",
    re.MULTILINE,
)
SPEAKER = re.compile(
    r"^[ \t]{0,8}(?:SYSTEM|ASSISTANT|SYSTEM (?:MESSAGE|NOTE|PROMPT|OVERRIDE)|Human|Assistant): ", re.MULTILINE
)
"""A line of a conversation.  An argument `system:` of a docstring is none, so that case matters."""
PIPED = re.compile(r"\b(?:curl|wget|iwr|irm)\b[^|\n]{3,200}\|\s{0,5}(?:sudo\s)?(?:ba|z|da)?(?:sh|iex|python3?)\b")
ROLES = frozenset({Role.PROSE, Role.VALUE, Role.CONTENTS, Role.NAME})
BEFORE_FIELD = frozenset(
    {"as", "in", "into", "to", "under", "with", "give", "called", "parameter", "field", "argument"}
)
QUOTES = "\"'`\u201c\u201d\u2018\u2019*"
MAX_WORDS = 60
SHORTEST = 12
"""Characters of the shortest text that can be an order."""


def find_orders(text: Text) -> Iterator[Hit]:
    """Yield the orders of a text and of what is hidden in it, each code once."""
    if text.role not in ROLES or len(text.text) < SHORTEST:
        return
    seen: set[str] = set()
    for hit in _orders(text, _readable(text)):
        if hit.code not in seen:
            seen.add(hit.code)
            yield hit
    for payload in payloads(text.text):
        for hit in _orders(text, payload.text):
            detail = f"{hit.detail} in {payload.encoding}".strip()
            yield Hit(hit.code, text, payload.start, payload.end, detail, payload.text)


def _readable(text: Text) -> str:
    """Return the text of a name in words: `read_the_ssh_key` is an order, too."""
    return text.text.replace("_", " ").replace("-", " ") if text.role is Role.NAME else text.text


def _orders(text: Text, read: str) -> Iterator[Hit]:
    folded = fold(read)
    for sentence in sentences(folded):
        yield from _orders_of_sentence(text, sentence, read)
    for code, pattern in (("SCAN107", TAGS), ("SCAN109", PIPED)):
        found = pattern.search(folded.text)
        if found:
            start, end = folded.original(found.start()), folded.original(found.end() - 1) + 1
            yield Hit(code, text, start, end, _said([read[start:end]]))
    found = SPEAKER.search(read)
    if found:
        yield Hit("SCAN107", text, *found.span(), _said([found[0]]))


def _orders_of_sentence(text: Text, sentence: Sequence[FoldedWord], read: str) -> Iterator[Hit]:
    found = occurrences(sentence)
    found["into field"] = sorted([*found.get("into field", ()), *_quoted_fields(sentence, read)])
    for order in ORDERS:
        if order.meanings[0] not in found or order.meanings[-1] not in found:
            continue
        ends = sequence(found, order.meanings, order.gap)
        if ends and _applies(order, found, ends):
            first, last = sentence[ends[0].start], sentence[ends[1].end - 1]
            yield Hit(order.code, text, first.start, last.end, _said([read[first.start : last.end]]))
    for intent in INTENTS:
        chosen = together(found, intent.meanings, intent.width)
        if chosen and not any(meaning in found for meaning in intent.unless) and not _is_negated(found, chosen[0]):
            words = [read[sentence[one.start].start : sentence[one.end - 1].end] for one in chosen]
            first, last = sentence[chosen[0].start], sentence[chosen[-1].end - 1]
            yield Hit(intent.code, text, first.start, last.end, _said(words))


def _quoted_fields(sentence: Sequence[FoldedWord], read: str) -> Iterator[Occurrence]:
    """Yield names in quotes after a word such as `as`: `pass it as "note"` names an argument."""
    for number, (before, word) in enumerate(pairwise(sentence)):
        around = read[word.start - 1 : word.start], read[word.end : word.end + 1]
        if before.text in BEFORE_FIELD and all(each and each in QUOTES for each in around):
            yield Occurrence(number, number + 2)


def _is_negated(found: Mapping[str, Sequence[Occurrence]], first: Occurrence) -> bool:
    """Tell whether a word just before the first word of an order reverses it."""
    return any(0 <= first.start - one.end <= 1 for one in found.get("not", ()))


def _said(words: Sequence[str]) -> str:
    """Return the words that make a text an order, for a report."""
    return ", ".join(f"`{' '.join(word.split())[:MAX_WORDS]}`" for word in words)


def _applies(order: Order, found: Mapping[str, Sequence[Occurrence]], ends: tuple[Occurrence, Occurrence]) -> bool:
    if any(meaning in found for meaning in order.unless):
        return False
    if any(0 <= ends[0].start - one.end <= 2 for meaning in order.not_after for one in found.get(meaning, ())):
        return False
    return not order.needs or any(
        one.start < ends[0].start or one.end > ends[1].end or ends[0].end <= one.start < ends[1].start
        for meaning in order.needs
        for one in found.get(meaning, ())
    )
