"""Texts of documents as models get them: without invisible characters, and of limited length."""

from __future__ import annotations

import re
from typing import Any

from mcpc.reading.hidden_characters import hidden_characters, remove_characters

LONGEST = 1_024
SENTENCE = re.compile(r"[.!?。](?=\s)")
ALERT = re.compile(r"^> \[!(\w+)\][ ]*\n(?:>[ ]?)?", re.MULTILINE)
"""The first line of a note in GitHub's Markdown, which says nothing by itself."""
BLANK = re.compile(r"[ \t]*\n\s*\n\s*")


def clean_text(written: Any, longest: int = LONGEST) -> str:
    """Return a text, cut behind a sentence; an empty one for any other value."""
    if not isinstance(written, str):
        return ""
    text = written.strip()
    text = BLANK.sub("\n\n", text).replace("\r", "").replace("\t", " ")
    text = ALERT.sub(lambda match: f"{match[1].capitalize()}: ", text)
    # Both texts have the same length, so that the places found in one are those in the other.
    hidden = hidden_characters(text.replace("\n", " "))
    return shortened(remove_characters(text, hidden) if hidden else text, longest)


def one_line(written: Any, longest: int) -> str:
    """Return a text without ends of lines, cut behind a sentence or a word."""
    return " ".join(clean_text(written, longest).split())


def has_hidden(written: Any) -> bool:
    """Tell whether a text has invisible characters."""
    if not isinstance(written, str) or (written.isascii() and written.isprintable()):
        return False
    return bool(hidden_characters(re.sub(r"[\n\r\t]", " ", written)))


def shortened(text: str, longest: int) -> str:
    """Return a text that ends behind a sentence, if there is one in its second half, else behind a word."""
    if len(text) <= longest:
        return text
    part = text[: longest - 1]
    ends = [match.end() for match in SENTENCE.finditer(part) if match.end() > longest // 2]
    if ends:
        return part[: ends[-1]]
    return f"{part[: part.rfind(' ') if ' ' in part[longest // 2 :] else len(part)].rstrip()}…"
