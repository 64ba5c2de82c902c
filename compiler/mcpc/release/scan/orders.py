"""Orders to the model in texts that should describe, and names of tools of other servers.

A text is read folded: in lower case, without hidden characters, with Latin letters for those that look like them.  What
is hidden in it is decoded and read as well.  In a sentence the names of tools of other servers become runs of one
capital, so that the lexicon has a pattern for what is said about them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import combinations
from typing import TYPE_CHECKING

from mcpc.reading.hidden_characters import hidden_finder
from mcpc.release.scan.hidden_text import LATIN, payloads, skeleton
from mcpc.release.scan.lexicon import DISCUSSED, FORMS, NEGATED, ORDERS
from mcpc.release.scan.model import Hit, Role, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.release.scan.model import ServerTexts

SENTENCE = re.compile(r"(?:(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?](?=\s)|\n[ \t]{0,80}(?:\n|[-*•]))+")
"""What ends a sentence: an empty line or an item of a list does, too."""
TOOL_NAME = re.compile(r"[^\W_]+(?:[_.-]+[^\W_]+)*")
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+|[a-z]+(?:\.[a-z_]+)+")
CALLED = re.compile(r"\b(?:tool|function|call(?:ing)?|invok(?:e|ing))\W{1,3}$")
IS_TOOL = re.compile(r"\W{1,3}(?:tools?|function)\b")
KIND_OF_TOOL = re.compile(
    "e?mail|payment|file|search|browser|shell|terminal|calendar|messaging|transfer|banking|trading|database|git|slack"
    "|sms|write|read|fetch|weather|crypto|wallet|upload"
)
"""Words that name a tool of another server, before `tool`."""
ORDERING = frozenset({Role.PROSE, Role.VALUE, Role.CONTENTS, Role.NAME})
AROUND_NEGATION = 40
MAX_WORDS = 60
SHORTEST = 12
"""Characters of the shortest text that can be an order."""
MAX_TEXT = 1 << 20
"""Characters of one text that are read for orders; a longer one is a file of data."""


def find_orders(server: ServerTexts, others: Sequence[ServerTexts]) -> Iterator[Hit]:
    """Yield the orders in the texts of a server; `others`: the servers that are scanned with it."""
    own = {text.text.lower() for text in server.texts if text.role is Role.NAME}
    foreign = {name.lower() for other in others for name in other.tool_names} - own

    def mark(found: re.Match[str]) -> str:
        word = found[0]
        is_tool = IS_TOOL.match(found.string, found.end())
        if word in foreign and not word.isalpha():
            return "I" * len(word)
        if word in foreign and (is_tool or CALLED.search(found.string, max(0, found.start() - 20), found.start())):
            return "K" * len(word)
        is_unknown = IDENTIFIER.fullmatch(word) or (KIND_OF_TOOL.fullmatch(word) and is_tool)
        return "U" * len(word) if is_unknown and word not in own else word

    for text in server.texts:
        if text.role in ORDERING and len(text.text) >= SHORTEST:
            yield from _of_text(text, (lambda found: found[0]) if text.role is Role.NAME else mark)


def _of_text(text: Text, mark: Callable[[re.Match[str]], str]) -> Iterator[Hit]:
    """Yield the orders of a text and of what is hidden in it, each code once."""
    read = text.text.replace("_", " ").replace("-", " ") if text.role is Role.NAME else text.text
    seen: set[str] = set()
    for code, start, end in _orders(read, mark):
        if code not in seen:
            seen.add(code)
            yield Hit(code, text, start, end, _quoted(read[start:end]))
    for payload in payloads(text.text):
        for code, start, end in _orders(payload.text, mark):
            detail = f"{_quoted(payload.text[start:end])} in {payload.encoding}"
            yield Hit(code, text, payload.start, payload.end, detail, payload.text)


def _quoted(words: str) -> str:
    return f"`{' '.join(words.split())[:MAX_WORDS]}`"


def _orders(text: str, mark: Callable[[re.Match[str]], str]) -> Iterator[tuple[str, int, int]]:
    folded, offsets = fold(text)
    start = 0
    for end in (*(found.end() for found in SENTENCE.finditer(folded)), len(folded)):
        sentence = folded[start:end]
        for code, first, last in _orders_of_sentence(sentence, TOOL_NAME.sub(mark, sentence)):
            yield code, offsets[start + first], offsets[start + last - 1] + 1
        start = end
    for code, form in FORMS:
        found = form.search(text)
        if found:
            yield code, *found.span()


def _orders_of_sentence(sentence: str, marked: str) -> Iterator[tuple[str, int, int]]:
    """Yield the orders of a sentence: as it is, and with the names of tools marked, which hides names of files."""
    for read in () if DISCUSSED.search(sentence) else dict.fromkeys((sentence, marked)):
        for order in ORDERS:
            found = order.phrase.search(read)
            if (
                found
                and (order.needs is None or order.needs.search(read))
                and (order.unless is None or not order.unless.search(read))
                and not NEGATED.search(read, max(0, found.start() - AROUND_NEGATION), found.start())
            ):
                yield order.code, *found.span()


def fold(text: str) -> tuple[str, Sequence[int]]:
    """Return a text in folded form, and the place of each of its characters in the original."""
    text = text[:MAX_TEXT]
    if text.isascii():
        return text.lower(), range(len(text))
    hidden = {found.start() for found in hidden_finder(controls=False).finditer(text)}
    characters: list[str] = []
    offsets: list[int] = []
    for number, character in enumerate(text):
        same = "" if number in hidden else unicodedata.normalize("NFKC", character).translate(LATIN).lower()
        characters.append(same.replace("\u2019", "'").replace("\u2018", "'"))
        offsets += [number] * len(same)
    return "".join(characters), offsets


def find_same_names(servers: Sequence[ServerTexts]) -> Iterator[tuple[ServerTexts, Hit]]:
    """Yield tools with the name of another server's tool, and those with a name that looks like it."""
    for one, other in combinations(servers, 2):
        exact = dict(zip(one.tool_names, one.items("tools"), strict=True))
        shapes = {skeleton(name): name for name in one.tool_names}
        for number, name in enumerate(other.tool_names):
            text = Text("tool", name, "name", f"/tools/{number}/name", Role.NAME, name)
            if name in exact and one.server.name == other.server.name and exact[name] == other.items("tools")[number]:
                continue  # one server, named twice
            if name in exact:
                yield other, Hit("SCAN203", text, 0, len(name), f"with {one.server.name}")
            elif skeleton(name) in shapes:
                like = shapes[skeleton(name)]
                yield other, Hit("SCAN204", text, 0, len(name), f"it looks like `{like}` of {one.server.name}")
