"""Python files in UTF-8, whatever they are encoded in: what a first line or a byte order mark says, Python obeys.

Everything else then reads one encoding: patterns, syntax trees, positions in messages, and the server.
"""

from __future__ import annotations

import io
import re
from codecs import BOM_UTF8

COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*(?P<name>[-\w.]+)")
ENDINGS = (".py", ".pyw")
NAMES = (b"utf-8", b"utf8", b"u8")
"""Names of UTF-8, the longest first: one takes the place of another name, so that columns stay."""


def in_utf8(data: bytes) -> bytes:
    """Return a Python file in UTF-8 without a byte order mark; unchanged if it cannot be decoded."""
    if b"coding" not in b"".join(data.split(b"\n", 2)[:2]):
        return data.removeprefix(BOM_UTF8)
    from tokenize import detect_encoding  # noqa: PLC0415 - few files say what they are encoded in

    try:
        encoding, lines = detect_encoding(io.BytesIO(data).readline)
        if encoding.startswith("utf-8"):
            return data.removeprefix(BOM_UTF8)
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
