"""Programs on PATH, and the interpreters of scripts.

Prefers a newer Bash to the one of macOS, which is 3.2: that of Homebrew or MacPorts, if one is installed.

Clients with windows start servers with a PATH that has only the system's folders.
"""

from __future__ import annotations

import posix
import sys
from collections.abc import Mapping

__all__ = ["HOW_TO_INSTALL", "find_program", "interpreter_lacking", "shell_path"]

HOW_TO_INSTALL: dict[str, str] = {}
"""What to do about a program that is missing, by its name; packages have that name, or a similar one."""
DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
REGULAR_FILE, FILE_TYPE_MASK = 0o100000, 0o170000
SYSTEM_BASH = {"darwin": b"/bin/bash"}
"""The Bash that is too old for every handler, by system."""
NEWER = (b"/opt/homebrew/bin/bash", b"/usr/local/bin/bash", b"/opt/local/bin/bash")


def preferred_program(path: bytes) -> bytes:
    """Return the program that is started for `path`, which was found on PATH."""
    if path != SYSTEM_BASH.get(sys.platform):
        return path
    return next((newer for newer in NEWER if posix.access(newer, posix.X_OK)), path)


def find_program(command: str, environment: Mapping[bytes, bytes]) -> str:
    """Return the path of the program that a name stands for in PATH, or an empty string."""
    for folder in environment.get(b"PATH", DEFAULT_PATH).split(b":"):
        path = (folder or b".") + b"/" + command.encode("utf-8", "surrogateescape")
        try:
            if posix.stat(path).st_mode & FILE_TYPE_MASK == REGULAR_FILE and posix.access(path, posix.X_OK):
                return str(preferred_program(path), "utf-8", "surrogateescape")
        except (OSError, ValueError):
            continue
    return ""


def interpreter_lacking(line: bytes, environment: Mapping[bytes, bytes]) -> str:
    """Return what a `#!` line names that is missing: the interpreter, or the program for `env`."""
    words = line.removeprefix(b"#!").split() if line.startswith(b"#!") else []
    if not words:
        return ""
    if not posix.access(words[0], posix.X_OK):
        return words[0].decode("utf-8", "replace")
    named = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    if words[0].rpartition(b"/")[2] == b"env" and named:
        program = named[0].decode("utf-8", "surrogateescape")
        return "" if b"/" in named[0] or find_program(program, environment) else f"{program} (on PATH)"
    return ""


def shell_path(path: str) -> str:
    """Return a path as shells write it."""
    return path
