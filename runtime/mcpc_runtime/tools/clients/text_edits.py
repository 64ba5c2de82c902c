"""What the editors of all formats share: splices, line ends, indentation, quoted text, and what cannot be edited.

An editor changes a text by splices only, reads the result again, and raises CannotEditError unless everything but the
entry is what it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

Splice = tuple[int, int, str]
"""The beginning and the end of what is replaced, and the new text."""
Entry = dict[str, object]


BYTE_ORDER_MARK = "\ufeff"
INDENT = re.compile(r'^([ \t]+)["\[{]', re.MULTILINE)
WIDEST_INDENT = 8


class CannotEditError(Exception):
    """A text cannot be changed, or not without changing something else; the message states why."""


class EntryPlace(NamedTuple):
    """Where the entries of a file are: the keys that lead to them, by choice, and whether they are a list."""

    keys: tuple[tuple[str, ...], ...]
    is_list: bool = False


class Editor(NamedTuple):
    """The functions of one format.  `owned`: the fields that an existing entry gets; it keeps all its others."""

    read: Callable[[str, EntryPlace], dict[str, Entry]]
    """Returns the entries by their names."""
    put: Callable[[str, EntryPlace, str, Entry, frozenset[str]], str]
    """Returns a text with the entry of this name; the same text if it has all that is owned."""
    drop: Callable[[str, EntryPlace, str], str]
    """Returns a text without the entry of this name."""


def splice(text: str, changes: list[Splice]) -> str:
    """Return a text with changes, which do not overlap; of several at one place the first comes first."""
    pieces: list[str] = []
    end = len(text)
    # From the end to the beginning, so that the places of earlier changes stay valid.
    for start, stop, new in sorted(changes, key=lambda change: change[:2])[::-1]:
        pieces += (text[stop:end], new)
        end = start
    return "".join((text[:end], *pieces[::-1]))


def line_end(text: str) -> str:
    """Return the end of the first line; that of a text without one is a line feed."""
    match = re.search(r"\r?\n", text)
    return match[0] if match else "\n"


def indent_unit(text: str) -> str:
    """Return the indentation of one level, as the first indented line of a text in JSON has it."""
    match = INDENT.search(text)
    if match is None or len(match[1]) > WIDEST_INDENT:
        return "  "
    return "\t" if "\t" in match[1] else match[1]


def line_indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line of a place."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    match = re.compile(r"[ \t]*").match(text, start)
    return match[0] if match else ""


def quoted(text: str) -> str:
    """Return a string in double quotes, as TOML and YAML have it."""
    return '"' + "".join(map(escaped, text)) + '"'


def escaped(character: str) -> str:
    """Return a character of a string in double quotes."""
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    # Escapes that TOML and YAML both have.
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"


def inline(value: object, separator: str) -> str:
    """Return a value in one line; `separator` is between a key and its value: ` = ` in TOML, `: ` in YAML."""
    if isinstance(value, dict):
        members = ", ".join(f"{key_text(key)}{separator}{inline(each, separator)}" for key, each in value.items())
        return f"{{{f' {members} ' if members and '=' in separator else members}}}"
    if isinstance(value, list):
        return f"[{', '.join(inline(each, separator) for each in value)}]"
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else str(value).lower()


def key_text(key: str) -> str:
    """Return a key: bare if it may be, else in quotes."""
    return key if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", key) and key.lower() not in RESERVED else quoted(key)


RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""What YAML 1.1 does not read as a string."""
