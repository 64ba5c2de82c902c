"""Source files and source trees as values; nothing here reads a disk.

A position is an offset in code points of `Source.text`. Lines end at LF, CR LF or a lone CR, as in editors and Python;
lines and columns start at 1. A byte that is not UTF-8 is one code point (a lone surrogate), so that positions stay
exact in a file that is not text; each wrong byte is reported at its position. Paths are resolved as text.

Everything else then reads one encoding: patterns, syntax trees, positions in messages, and the server.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from codecs import BOM_UTF8
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.options import Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PROGRAM_BEGINNINGS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")
"""First bytes of scripts and of compiled programs (ELF, Mach-O, PE)."""
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


def source_of_text(path: str, text: str, mode: int = 0o644) -> Source:
    """Return a file with a text that is not on disk, such as that of an open editor."""
    data = saying_utf8(text) if path.endswith(ENDINGS) else text.encode("utf-8", "surrogateescape")
    source = Source(path, data, mode)
    source._text.append(text)
    return source


def is_executable(source: Source) -> bool:
    """Tell whether a file is a program: by its mode, which not every system has, or by its first bytes."""
    return bool(source.mode & 0o111) or begins_as_program(source.data)


def begins_as_program(data: bytes) -> bool:
    """Tell whether first bytes are those of a script with an interpreter line, or of a compiled program."""
    return data.startswith(PROGRAM_BEGINNINGS)


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The files of a project by path, sorted; `name` is that of its folder, if known.

    `root` is that folder, for files in it that are not part of the project, such as installed packages. `options` of
    the build decide what of the project is required and run. `unpacked`: files that say what the project is, and that
    it does not want in the built file. `left_out`: the files and folders (ending in `/`) that are in no built file,
    each with the reason (`selection.py`).
    """

    files: Mapping[str, Source]
    name: str = ""
    root: str = ""
    options: Options = field(default_factory=Options)
    unpacked: Mapping[str, Source] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()

    def get(self, path: str) -> Source | None:
        """Return the file at `path`, or None."""
        return self.files.get(path) or self.unpacked.get(path)


BYTE_ORDER_MARK = "\ufeff"
MAX_PLACES = 10
"""Maximum number of reported positions per file: a file in another encoding has wrong bytes in every line."""

# An ASCII character in UTF-16 or UTF-32 is a byte beside zeros.
WIDE = re.compile(rb"[^\0]\0|\0+[^\0]")
WRONG_BYTES = re.compile("[\udc80-\udcff]+")


def judge_encoding(source: Source) -> tuple[Diagnostics, bool]:
    """Return what is wrong with the encoding of `source`, and whether most of it is still readable as text."""
    if source.data.startswith((b"\xff\xfe", b"\xfe\xff")) or WIDE.match(source.data):
        hint = "save it as UTF-8"
        return (diagnose("MCP001", Span(source.path), "the file is encoded in UTF-16 or UTF-32", "UTF-8", hint),), False
    problems = [_wrong_bytes(source, match) for match in islice(WRONG_BYTES.finditer(source.text), MAX_PLACES)]
    if source.text.startswith(BYTE_ORDER_MARK):
        hint = "save it as UTF-8 without a byte order mark"
        problems.append(
            diagnose("MCP010", Span(source.path, 0, 1), "the file begins with a byte order mark", hint=hint)
        )
    return tuple(problems), True


def _wrong_bytes(source: Source, match: re.Match[str]) -> Diagnostic:
    data = match[0][:4].encode("utf-8", "surrogateescape")
    shown = " ".join(f"0x{byte:02X}" for byte in data)
    what = f"the byte {shown} is" if len(data) == 1 else f"the bytes {shown} are"
    legacy = data.decode("cp1252", "replace")
    hint = f"save it as UTF-8; in Windows-1252 this would be `{legacy}`" if legacy.isprintable() else "save it as UTF-8"
    return diagnose("MCP001", Span(source.path, *match.span()), f"{what} not UTF-8", hint=hint)


def resolve_relative(home: str, written: str) -> str | None:
    """Return the project path of `written`, relative to the folder `home`; None if it is outside."""
    parts = home.split("/") if home else []
    for part in written.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


CODE = (".py", ".pyi", ".sh", ".bash", ".js", ".mjs", ".ts", ".json", ".toml", ".yaml", ".yml")
"""Endings of files that may name others; a `.json` says which command a tool starts."""


def is_named(folder: str, sources: Iterable[Source]) -> bool:
    """Tell whether code outside of a folder has the folder's name as a word."""
    word = re.compile(
        rb"(?<![\w-])%s(?![\w-])" % re.escape(folder.rpartition("/")[2].encode("utf-8", "surrogateescape"))
    )
    return any(
        word.search(source.data)
        for source in sources
        if source.path.endswith(CODE) and not source.path.startswith(f"{folder}/")
    )


COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*(?P<name>[-\w.]+)")
ENDINGS = (".py", ".pyw")
NAMES = (b"utf-8", b"utf8", b"u8")
"""Names of UTF-8, the longest first: one takes the place of another name, so that columns stay."""


def in_utf8(data: bytes) -> bytes:
    """Return a Python file in UTF-8 without a byte order mark; unchanged if it cannot be decoded."""
    # An encoding is named in one of the first two lines (PEP 263).
    if b"coding" not in b"".join(data.split(b"\n", 2)[:2]):
        return data.removeprefix(BOM_UTF8)
    from tokenize import detect_encoding  # noqa: PLC0415 - few files say what they are encoded in

    try:
        encoding, lines = detect_encoding(io.BytesIO(data).readline)
        if encoding.startswith("utf-8"):
            return data.removeprefix(BOM_UTF8)
        # The last line that was read is the one that names it.
        line = len(b"".join(lines[:-1]))
        named = COOKIE.match(data, line)
        return data if named is None else _renamed(data, *named.span("name")).decode(encoding).encode()
    except (SyntaxError, LookupError, UnicodeDecodeError):
        return data


def saying_utf8(text: str) -> bytes:
    """Return the text of a Python file, such as that of an open editor, as bytes whose encoding is what they say."""
    lines = text.split("\n", 2)
    for number, line in enumerate(lines[:2]):
        named = COOKIE.match(line.encode("utf-8", "surrogateescape"))
        if named is not None:
            lines[number] = _renamed(named.string, *named.span("name")).decode("utf-8", "surrogateescape")
            break
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _renamed(data: bytes, start: int, end: int) -> bytes:
    """Return what is encoded in UTF-8 with its name at a place, in the same length."""
    name = next((name for name in NAMES if len(name) <= end - start), NAMES[-1])
    return data[:start] + name.ljust(end - start) + data[end:]
