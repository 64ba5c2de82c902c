"""Orders to the model in texts that should describe: a table of sequences of meanings within one sentence.

An order is a sequence of meanings (`vocabulary.py`) near each other, so that one row covers many wordings.  Hidden and
decoded parts of a text are read as well, because that is where orders are hidden.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mcpc.scan.model import Hit, Role
from mcpc.scan.payloads import payloads
from mcpc.scan.readings import fold, sentences
from mcpc.scan.vocabulary import occurrences, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.scan.model import Text
    from mcpc.scan.readings import FoldedWord
    from mcpc.scan.vocabulary import Occurrence


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
    Order("SCAN101", ("without", "tell", "person"), 1, needs=("must", "you must", "cue"), unless=("discussion", "not")),
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
TAGS = re.compile(
    r"</?\s{0,3}(important|system|secret|hidden|admin|sys|override|system[-_ ](?:prompt|reminder|message|note)"
    r"|assistant|(?:hidden|secret|private)[-_ ]instructions?|ai[-_ ]instructions?)\s{0,3}/?>"
    r"|\[/?inst\]|<</?sys>>|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
    r"|^\s{0,8}#{2,6}\s{0,3}(?:system|assistant|instruction)s?\s{0,3}:"
    r"|\[(?:system|assistant)(?: (?:message|note|prompt|override|instructions?))?\]",
    re.MULTILINE,
)
SPEAKER = re.compile(
    r"^[ \t]{0,8}(?:SYSTEM|ASSISTANT|SYSTEM (?:MESSAGE|NOTE|PROMPT|OVERRIDE)|Human|Assistant): ", re.MULTILINE
)
"""A line of a conversation.  An argument `system:` of a docstring is none, so that case matters."""
PIPED = re.compile(r"\b(?:curl|wget|iwr|irm)\b[^|\n]{3,200}\|\s{0,5}(?:sudo\s)?(?:ba|z|da)?(?:sh|iex|python3?)\b")
ROLES = frozenset({Role.PROSE, Role.VALUE, Role.CONTENTS, Role.NAME})
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
            yield Hit(hit.code, text, payload.start, payload.end, f"in {payload.encoding}", payload.text)


def _readable(text: Text) -> str:
    """Return the text of a name in words: `read_the_ssh_key` is an order, too."""
    return text.text.replace("_", " ").replace("-", " ") if text.role is Role.NAME else text.text


def _orders(text: Text, read: str) -> Iterator[Hit]:
    folded = fold(read)
    for sentence in sentences(folded):
        yield from _orders_of_sentence(text, sentence)
    for code, pattern in (("SCAN107", TAGS), ("SCAN109", PIPED)):
        found = pattern.search(folded.text)
        if found:
            yield Hit(code, text, folded.original(found.start()), folded.original(found.end() - 1) + 1)
    found = SPEAKER.search(read)
    if found:
        yield Hit("SCAN107", text, *found.span())


def _orders_of_sentence(text: Text, sentence: Sequence[FoldedWord]) -> Iterator[Hit]:
    found = occurrences(sentence)
    for order in ORDERS:
        if order.meanings[0] not in found or order.meanings[-1] not in found:
            continue
        ends = sequence(found, order.meanings, order.gap)
        if ends and _applies(order, found, ends):
            first, last = sentence[ends[0].start], sentence[ends[1].end - 1]
            yield Hit(order.code, text, first.start, last.end)


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
