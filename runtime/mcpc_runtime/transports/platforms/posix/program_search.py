"""Programs on PATH, the interpreters of scripts, and the Pythons that are installed.

Prefers a newer Bash to the one of macOS, which is 3.2: that of Homebrew or MacPorts, if one is installed.

Clients with windows start servers with a PATH that has only the system's folders.
"""

from __future__ import annotations

import os
import posix
import re
import sys
from collections.abc import Iterator, Mapping

__all__ = ["HOW_TO_INSTALL", "find_program", "installed_pythons", "interpreter_lacking", "lasting_path", "shell_path"]


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
        # An empty entry of PATH is the working directory (POSIX, Environment Variables, 8.3).
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
    # `env` may have options and assignments before the program.
    named = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    if words[0].rpartition(b"/")[2] == b"env" and named:
        program = named[0].decode("utf-8", "surrogateescape")
        return "" if b"/" in named[0] or find_program(program, environment) else f"{program} (on PATH)"
    return ""


def shell_path(path: str) -> str:
    """Return a path as shells write it."""
    return path


FOLDERS = (
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/Library/Frameworks/Python.framework/Versions/{minor}/bin",
    "/opt/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/run/current-system/sw/bin",
)
MANAGED = (
    "~/.local/bin",
    "~/.pyenv/versions",
    "~/.local/share/mise/installs/python",
    "~/.asdf/installs/python",
    "~/.local/share/uv/python",
)
"""Folders of version managers: a folder of each Python, with its programs in `bin`."""
CELLAR = r"(.*)/Cellar/[^/]+/[^/]+/(?:.*/)?bin/(python3\.\d+)"
"""Homebrew's folder of one version, which the next upgrade removes; the link in `bin` stays."""


def installed_pythons(minor: str) -> Iterator[str]:
    """Yield where a Python of a minor version may be, the ones that stay longest first."""
    name = f"python{minor}"
    for folder in FOLDERS:
        yield os.path.join(folder.format(minor=minor), name)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder):
            yield os.path.join(folder, name)
    for folder in map(os.path.expanduser, MANAGED):
        yield os.path.join(folder, name)
        for version in sorted(os.listdir(folder), reverse=True) if os.path.isdir(folder) else ():
            yield os.path.join(folder, version, "bin", name)


def lasting_path(path: str) -> str:
    """Return the path by which the same Python is found after an upgrade."""
    formula = re.fullmatch(CELLAR, path)  # the first call of a program searches for it, and needs no `re`
    link = f"{formula[1]}/bin/{formula[2]}" if formula else ""
    return link if link and os.path.exists(link) else path
