"""Source files and source trees as values; nothing here reads a disk.

A position is an offset in code points of `Source.text`. Lines end at LF, CR LF or a lone CR, as in editors and Python;
lines and columns start at 1. A byte that is not UTF-8 is one code point (a lone surrogate), so that positions stay
exact in a file that is not text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Source:
    """One file: `path` is POSIX and relative to the project, `mode` its permission bits.

    `linked`: a symlink is at this path, or leads to it. `named`: the setting `include` matches it.
    """

    path: str
    data: bytes = field(repr=False)
    mode: int = 0o644
    linked: bool = False
    named: bool = False
    # Both are computed on demand: most files of a project are never displayed or parsed.
    _text: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    _starts: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The file decoded from UTF-8: a wrong byte is a lone surrogate, a byte order mark stays as U+FEFF."""
        if not self._text:
            self._text.append(self.data.decode("utf-8", "surrogateescape"))
        return self._text[0]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of `offset`; an offset outside the text counts as its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._line_starts(), offset)
        return line, offset - self._line_starts()[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of `line` and `column`; a position outside the text counts as the nearest one inside."""
        starts = self._line_starts()
        if line > len(starts):
            return len(self.text)
        line = max(line, 1)
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        return min(starts[line - 1] + max(column - 1, 0), end)

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts.extend((0, *(match.end() for match in LINE_END.finditer(self.text))))
        return self._starts


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The files of a project by path, sorted; `name` is that of its folder, if known.

    `root` is that folder, for files in it that are not part of the project, such as installed packages. `imports`: its
    files may be imported to find their definitions.
    """

    files: Mapping[str, Source]
    name: str = ""
    root: str = ""
    imports: bool = True

    def get(self, path: str) -> Source | None:
        """Return the file at `path`, or None."""
        return self.files.get(path)
