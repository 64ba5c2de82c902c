"""Text that people do not see as the model reads it: invisible characters, comments, encodings, text out of view."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.reading.hidden_characters import describe_hidden, hidden_finder
from mcpc.release.scan.confusables import looks_latin
from mcpc.release.scan.model import Hit, Role
from mcpc.release.scan.payloads import FLAG, payloads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.model import Text

CODE_OF_PAYLOAD = {
    "Unicode tags": "SCAN301",
    "variation selectors": "SCAN304",
    "bits of invisible characters": "SCAN303",
    "a comment of HTML": "SCAN307",
    "a comment of Markdown": "SCAN307",
}
ENCODED = "SCAN309"
REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
TERMINAL = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\]|[PX^_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
TAG = re.compile("[\U000e0000-\U000e007f]")
WRITTEN_ESCAPE = re.compile(r"\\(?:x1b|u001b|033|e)\[[0-9;]{1,12}m")
FAR_AWAY = re.compile(r"(?:\n[ \t]{0,40}){25}|(?<![ \t\u00a0\u3000])[ \t\u00a0\u3000]{150}")
WORD = re.compile(r"\w{2,80}")
PLAIN = frozenset({Role.NAME, Role.PROSE, Role.VALUE})
FORMATTED = frozenset({Role.CONTENTS, Role.SOURCE})
"""Roles of texts in which comments, encodings and long spaces are usual."""


def find_hidden_text(text: Text) -> Iterator[Hit]:
    """Yield what a text hides from people who read it."""
    if not text.text.isprintable():
        yield from _terminal(text)
    if not text.text.isascii():
        yield from _invisible(text)
        yield from _look_alikes(text)
    yield from _out_of_view(text)
    yield from _payloads(text)


def _terminal(text: Text) -> Iterator[Hit]:
    found = TERMINAL.search(text.text)
    if found and text.role not in FORMATTED:
        yield Hit("SCAN305", text, *found.span())


def _out_of_view(text: Text) -> Iterator[Hit]:
    found = FAR_AWAY.search(text.text) if text.role in PLAIN else None
    if found and text.text[: found.start()].strip() and text.text[found.end() :].strip():
        yield Hit("SCAN308", text, *found.span())


def _invisible(text: Text) -> Iterator[Hit]:
    """Yield each kind of invisible character once; runs that decode to text are payloads."""
    flags = [found.span() for found in FLAG.finditer(text.text)]
    body = text.text.removeprefix("\ufeff") if text.role in FORMATTED else text.text
    shift = len(text.text) - len(body)
    seen: set[str] = set()
    for found in hidden_finder(controls=False).finditer(body):
        at = found.start() + shift
        code = _code_of(found[0])
        if code in seen or any(start <= at < end for start, end in flags):
            continue
        seen.add(code)
        yield Hit(code, text, at, at + 1, f"U+{ord(found[0]):04X}, {describe_hidden(found[0])}")


def _code_of(character: str) -> str:
    if TAG.match(character):
        return "SCAN301"
    return "SCAN302" if REORDERING.match(character) else "SCAN303"


def _look_alikes(text: Text) -> Iterator[Hit]:
    if text.role in (Role.NAME, Role.PROSE, Role.VALUE):
        found = next((word for word in WORD.finditer(text.text) if looks_latin(word[0])), None)
        if found:
            yield Hit("SCAN306" if text.role is Role.NAME else "SCAN310", text, *found.span())


def _payloads(text: Text) -> Iterator[Hit]:
    if text.role in (Role.SYNTAX, Role.ADDRESS):
        return
    for payload in payloads(text.text):
        code = CODE_OF_PAYLOAD.get(payload.encoding, ENCODED)
        if text.role not in FORMATTED or code not in (ENCODED, "SCAN307"):
            yield Hit(code, text, payload.start, payload.end, f"in {payload.encoding}", payload.text)
