"""Programs on PATH, the interpreters of scripts, the Pythons that are installed, and paths as scripts write them.

Prefers a newer Bash to the one of macOS, which is 3.2: that of Homebrew or MacPorts, if one is installed.

Clients with windows start servers with a PATH that has only the system's folders.
"""

from __future__ import annotations

import os
import posix
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "HOW_TO_INSTALL",
    "LIST_SEPARATOR",
    "begins_as_program",
    "find_program",
    "installed_pythons",
    "interpreter_lacking",
    "is_absolute",
    "joined_paths",
    "lasting_path",
    "local_path",
    "path_writer",
    "shell_path",
]


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
CELLAR = re.compile(r"(.*)/Cellar/[^/]+/[^/]+/(?:.*/)?bin/(python3\.\d+)")
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
    found = CELLAR.fullmatch(path)
    link = f"{found[1]}/bin/{found[2]}" if found else ""
    return link if link and os.path.exists(link) else path


WritePath = Callable[[str], str]


LIST_SEPARATOR = ":"
"""What is between the paths of a variable that lists some."""
PROGRAM_MAGIC = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""The first bytes of files that the system can execute."""


def begins_as_program(path: str, head: bytes) -> bool:
    """Tell whether the system can execute a file with these first bytes."""
    return head.startswith(PROGRAM_MAGIC)


def is_absolute(path: str) -> bool:
    """Tell whether a path begins at the root."""
    return path.startswith("/")


def local_path(text: str) -> str:
    """Return a path that a script or a client has written, as the server writes it."""
    return text


def path_writer(head: bytes) -> WritePath:
    """Return the function that writes a path as a script with these first bytes reads it."""
    return local_path


def joined_paths(paths: Iterable[str], write_path: WritePath) -> str:
    """Return paths as a list for the scripts that `write_path` is for."""
    return LIST_SEPARATOR.join(map(write_path, paths))
