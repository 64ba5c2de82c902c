"""The text of an open file, with its lines, and positions in the units of a client.

An offset counts code points, as in `Span`; a position is a line and a character in UTF-8, UTF-16 or UTF-32 units.
Lines end at LF, CR LF or a lone CR.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from mcpc.reading.source import LINE_END

UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class BufferEdit:
    """One change: the text from `start` to `end` became the text from `start` to `new_end`."""

    start: int
    end: int
    new_end: int

    @property
    def shift(self) -> int:
        """How far everything after the change moved."""
        return self.new_end - self.end

    def moved(self, offset: int, *, is_start: bool = False) -> int:
        """Return where an offset is after the change; `is_start`: what is inserted there comes before it."""
        if offset < self.start or (offset == self.start and not (is_start and self.start == self.end)):
            return offset
        return offset + self.shift if offset >= self.end else min(offset, self.new_end)


@dataclass(slots=True)
class TextBuffer:
    """A text that changes; `encoding`: the unit of the client's positions."""

    text: str
    encoding: str = "utf-16"
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find the lines."""
        self.starts = line_starts(self.text)

    def position(self, offset: int) -> Position:
        """Return the line and the character of an offset, both from 0."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return line, units(self.text[self.starts[line] : offset], self.encoding)

    def offset(self, line: int, character: int) -> int:
        """Return the offset of a position; one outside the text counts as the nearest inside."""
        if line < 0 or line >= len(self.starts):
            return 0 if line < 0 else len(self.text)
        start, end = self.starts[line], self.line_end(line)
        return start + code_points(self.text[start:end], character, self.encoding)

    def line_end(self, line: int) -> int:
        """Return the offset of the end of a line, before what ends it."""
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        start = self.starts[line]
        return start + len(self.text[start:end].rstrip("\r\n"))

    def replace(self, start: int, end: int, new: str) -> BufferEdit:
        """Change a part of the text."""
        self.text = self.text[:start] + new + self.text[end:]
        self.starts = line_starts(self.text)
        return BufferEdit(start, end, start + len(new))

    def replace_all(self, new: str) -> BufferEdit:
        """Change the whole text; the edit is only what differs, so that places around it stay known."""
        old, same = self.text, _common_length(self.text, new)
        behind = _common_length(old[same:][::-1], new[same:][::-1])
        return self.replace(same, len(old) - behind, new[same : len(new) - behind])


def line_starts(text: str) -> list[int]:
    """Return the offsets at which lines begin."""
    return [0, *(match.end() for match in LINE_END.finditer(text))]


def units(text: str, encoding: str) -> int:
    """Return the length of a text in units."""
    if text.isascii() or encoding == "utf-32":
        return len(text)
    return len(text.encode(CODECS[encoding], "surrogatepass")) // UNIT_BYTES[encoding]


def code_points(line: str, length: int, encoding: str) -> int:
    """Return how many code points of a line have a length in units; a position inside of one counts as before it."""
    if line.isascii() or encoding == "utf-32":
        return min(max(length, 0), len(line))
    data = line.encode(CODECS[encoding], "surrogatepass")[: max(length, 0) * UNIT_BYTES[encoding]]
    return len(data.decode(CODECS[encoding], "ignore"))


def _common_length(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    differing = (place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(differing, min(len(one), len(other)))
