"""Check whether the system can run a file, by its first line.

The file is not run, and this machine is not examined, because the server runs on another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.reading import Source

BINARIES = {
    b"\x7fELF": "linux",
    b"\xcf\xfa\xed\xfe": "darwin",
    b"\xca\xfe\xba\xbe": "darwin",
    b"MZ": "win32",
}
"""How compiled programs begin (ELF, Mach-O for one machine and for several, PE), and the system that runs them."""
BATCH_FILES = (".bat", ".cmd")
SHEBANG = b"#!"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_LINE_LENGTH = 255
"""Length of a first line that every Linux reads; older ones read at most 127."""
MENDED = "the first line names the interpreter by an absolute path, like `#!/usr/bin/env python3`"
MARKED, WINDOWS = "a byte order mark stands before its `#!`", "CR LF, which is taken for part of the interpreter's name"
FIXES = {MARKED: "save it as UTF-8 without a byte order mark", WINDOWS: "save it with Unix line endings"}
"""How to fix the first line, by the end of the reason."""


def is_binary(source: Source) -> bool:
    """Tell whether a file is a program for one kind of machine."""
    return bool(binary_system(source))


def binary_system(source: Source) -> str:
    """Return the system that a compiled program or batch file is for, as `sys.platform` names it; empty for others."""
    if source.path.lower().endswith(BATCH_FILES):
        return "win32"
    return next((system for magic, system in BINARIES.items() if source.data.startswith(magic)), "")


def interpreter_of(source: Source) -> str:
    """Return the name of the program in a first line, that which `env` starts if it is `env`; empty without one."""
    line = source.data.partition(b"\n")[0]
    words = line.removeprefix(SHEBANG).decode("utf-8", "replace").split() if line.startswith(SHEBANG) else []
    names = [word.rpartition("/")[2] for word in words]
    # `env` may have options, such as `-S`, and variables before the program.
    if names[:1] == ["env"]:
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return names[0] if names else ""


def how_to_fix(reason: str) -> str:
    """Return how to fix a file that cannot be run."""
    return next((way for end, way in FIXES.items() if reason.endswith(end)), MENDED)


def not_runnable(source: Source) -> str:
    """Return why the system cannot run a file, or an empty string."""
    data = source.data
    if is_binary(source):
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
    return f"its first line is longer than {MAX_LINE_LENGTH} bytes" if len(line) + 2 > MAX_LINE_LENGTH else ""
