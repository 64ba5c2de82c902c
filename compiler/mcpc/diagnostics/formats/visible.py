"""Text made safe for a terminal: no control sequences, hidden or reordered characters, and a known width.

Definitions are untrusted; an escape sequence or a bidirectional override in one must not reach the terminal of the
person who checks it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from unicodedata import category, east_asian_width

DEFAULT_WIDTH = 120
"""Columns to which a longer line is cut around the position, if the terminal's width is unknown."""
MIN_WIDTH = 20
REACH = 2 * DEFAULT_WIDTH
"""Code points examined on either side: a file may be one line of many megabytes."""
TAB = "    "
CUT = "…"
# Letters in Unicode that look like spaces.
BLANKS = "\u115f\u1160\u2800\u3164\uffa0"

REST_OF_LINE = re.compile(r"[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Cell:
    """One code point as displayed, and the columns that it takes."""

    shown: str
    width: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line of a file, with the first highlighted column and the number of highlighted columns."""

    line: str
    indent: int
    marked: int


def visible(text: str, limit: int = 500) -> str:
    """Return `text` with characters that could hide or control something escaped, cut if it is very long."""
    shown = "".join(_cell(char).shown for char in text[:limit])
    return shown if len(text) <= limit else shown + CUT


def visible_json(value: object) -> str:
    """Return a value as indented JSON in which characters that could hide or control something are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return "".join(char if char == "\n" or _cell(char).shown == char else json.dumps(char)[1:-1] for char in text)


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """Return `text`, already visible, in lines of at most `width` columns; `indent` begins those after the first.

    A longer word gets a separate line. A width of 0 means no wrapping.
    """
    lines: list[str] = []
    line: str | None
    line, used = None, 0
    for word in text.split(" ") if width else [text]:
        columns = _width(_cells(word))
        if line is None:
            line, used = word, columns
        elif line.strip() and used + 1 + columns > width:
            lines.append(line)
            line, used = indent + word, len(indent) + columns
        else:
            line, used = f"{line} {word}", used + 1 + columns
    return [*lines, line or ""]


def excerpt(text: str, start: int, end: int, width: int = DEFAULT_WIDTH) -> Excerpt:
    """Return the line of `text` around `start`, highlighted up to `end` or to the end of the line.

    Of a long line about `width` columns are shown, with a sign on either side where it is cut.
    """
    start = min(start, len(text))
    before = text[max(0, start - REACH) : start]
    before = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
    rest = REST_OF_LINE.match(text, start, start + REACH)
    after = rest[0] if rest else ""
    length = min(max(end - start, 0), len(after))
    left, middle, right = _cells(before), _cells(after[:length]), _cells(after[length:])
    middle = middle[: _fitting(middle, width)]
    room = width - _width(middle)
    # Half of the room, and what the other side does not need; counted from the position, so the beginning is cut.
    left = left[len(left) - _fitting(left[::-1], max(room // 2, room - _width(right))) :]
    right = right[: _fitting(right, room - _width(left))]
    is_cut_before = start - len(left) > 0 and text[start - len(left) - 1] not in "\r\n"
    stop = start + len(middle) + len(right)
    is_cut_after = stop < len(text) and text[stop] not in "\r\n"
    line = "".join(cell.shown for cell in (*left, *middle, *right))
    shown = CUT * is_cut_before + line + CUT * is_cut_after
    return Excerpt(shown, is_cut_before + _width(left), max(_width(middle), 1))


def _cells(text: str) -> list[Cell]:
    return [_cell(char) for char in text]


def _cell(char: str) -> Cell:
    if " " <= char <= "~":
        return Cell(char, 1)
    if char == "\t":
        return Cell(TAB, len(TAB))
    # A byte that is not UTF-8, as `surrogateescape` reads it.
    if "\udc80" <= char <= "\udcff":
        shown = f"<0x{ord(char) - 0xDC00:02X}>"
        return Cell(shown, len(shown))
    # Controls, overrides of direction, characters without width, private and unassigned ones, and all other spaces.
    if not char.isprintable() or char in BLANKS:
        shown = f"<U+{ord(char):04X}>"
        return Cell(shown, len(shown))
    if category(char) in ("Mn", "Me"):
        return Cell(char, 0)
    return Cell(char, 2 if east_asian_width(char) in ("W", "F") else 1)


def _width(cells: list[Cell]) -> int:
    return sum(cell.width for cell in cells)


def _fitting(cells: list[Cell], room: int) -> int:
    """Return how many of `cells` fit into `room` columns."""
    for count, cell in enumerate(cells):
        room -= cell.width
        if room < 0:
            return count
    return len(cells)
