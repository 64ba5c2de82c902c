"""Check that a file is UTF-8 text without a byte order mark; every wrong byte is reported at its position."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose

if TYPE_CHECKING:
    from mcpc.sources.source import Source

BYTE_ORDER_MARK = "\ufeff"
MAX_PLACES = 10
"""Maximum number of reported positions per file: a file in another encoding has wrong bytes in every line."""

WIDE = re.compile(rb"[^\0]\0|\0+[^\0]")
WRONG_BYTES = re.compile("[\udc80-\udcff]+")


def judge_encoding(source: Source) -> tuple[Diagnostics, bool]:
    """Return what is wrong with the encoding of `source`, and whether most of it is still readable as text."""
    if source.data.startswith((b"\xff\xfe", b"\xfe\xff")) or WIDE.match(source.data):
        hint = "save it as UTF-8"
        return (diagnose("MCP001", Span(source.path), "the file is encoded in UTF-16 or UTF-32", "UTF-8", hint),), False
    problems = [_wrong_bytes(source, found) for found in islice(WRONG_BYTES.finditer(source.text), MAX_PLACES)]
    if source.text.startswith(BYTE_ORDER_MARK):
        hint = "save it as UTF-8 without a byte order mark"
        problems.append(
            diagnose("MCP010", Span(source.path, 0, 1), "the file begins with a byte order mark", hint=hint)
        )
    return tuple(problems), True


def _wrong_bytes(source: Source, found: re.Match[str]) -> Diagnostic:
    data = found[0][:4].encode("utf-8", "surrogateescape")
    shown = " ".join(f"0x{byte:02X}" for byte in data)
    what = f"the byte {shown} is" if len(data) == 1 else f"the bytes {shown} are"
    legacy = data.decode("cp1252", "replace")
    hint = f"save it as UTF-8; in Windows-1252 this would be `{legacy}`" if legacy.isprintable() else "save it as UTF-8"
    return diagnose("MCP001", Span(source.path, *found.span()), f"{what} not UTF-8", hint=hint)
