"""How a file is read that the system itself runs: whether it can, by how it begins.

Its law: nothing of it is run, and nothing is asked of this machine, for it will run on another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.sources import Source

ELF = b"\x7fELF"
SHEBANG = b"#!"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST = 255
"""So much of a first line every Linux reads, and older ones no more than 127."""
MENDED = "the first line names the interpreter by an absolute path, like `#!/usr/bin/env python3`"
MARKED, WINDOWS = "a byte order mark stands before its `#!`", "CR LF, which is taken for part of the interpreter's name"
WAYS = {MARKED: "save it as UTF-8 without a byte order mark", WINDOWS: "save it with Unix line endings"}
"""How what is not the first line's words is mended, by how the reason ends."""


def is_binary(source: Source) -> bool:
    """Tell whether a file is a program for one kind of machine."""
    return source.data.startswith(ELF)


def mended(reason: str) -> str:
    """Return what to do about a reason for which a file cannot be run."""
    return next((way for end, way in WAYS.items() if reason.endswith(end)), MENDED)


def not_runnable(source: Source) -> str:
    """Return why the system cannot run a file, or nothing."""
    data = source.data
    if data.startswith(ELF):
        return ""
    if data.startswith(BYTE_ORDER_MARK + SHEBANG):
        return MARKED
    if not data.startswith(SHEBANG):
        return "it does not begin with `#!`" if data else "it is empty"
    line = data[2:].split(b"\n", 1)[0]
    if line.endswith(b"\r"):
        return f"its first line ends with {WINDOWS}"
    if not line.strip(b" \t").startswith(b"/"):
        return "its first line names no interpreter by an absolute path"
    return f"its first line is longer than {LONGEST} bytes" if len(line) + 2 > LONGEST else ""
