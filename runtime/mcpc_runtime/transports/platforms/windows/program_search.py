"""Programs on PATH and the interpreters of scripts as processes are started here, Pythons, and paths in scripts."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
import os
import winreg
from collections.abc import Callable, Iterable, Iterator, Mapping

from mcpc_runtime.transports.platforms.windows.supervision import programs
from mcpc_runtime.transports.platforms.windows.supervision.git_registry import git_folders
from mcpc_runtime.transports.platforms.windows.supervision.programs import (
    SHELLS,
    base_name,
    interpreter_words,
    shell_path,
)

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


HOW_TO_INSTALL = dict.fromkeys(programs.SHELLS, "install Git Bash: https://gitforwindows.org")
"""What to do about a program that is missing, by its name."""
SEARCHED = ("PATH", "PATHEXT", "SYSTEMDRIVE", "PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")


def exists(path: str) -> bool:
    """Tell whether a file is there."""
    return nt.access(path, nt.F_OK)


def as_text(environment: Mapping[bytes, bytes]) -> dict[str, str]:
    """Return the variables that a search reads."""
    return {name: environment.get(name.encode(), b"").decode("utf-8", "replace") for name in SEARCHED}


def find_program(command: str, environment: Mapping[bytes, bytes]) -> str:
    """Return the path of the program that a name stands for in PATH, or an empty string."""
    if programs.is_python(command):
        return sys.executable
    if command in programs.SHELLS:
        return programs.find_shell(command, as_text(environment), installed())
    return programs.find_program(command, as_text(environment), exists)


def installed() -> programs.Installed:
    """Return what is installed on this machine."""
    return programs.Installed(sys.executable, exists, lambda: git_folders())


def interpreter_lacking(line: bytes, environment: Mapping[bytes, bytes]) -> str:
    """Return what a `#!` line names that is missing."""
    try:
        programs.located(["."], line, as_text(environment), installed())
    except programs.NoInterpreterError:
        name = programs.base_name(programs.interpreter_words(line)[0])
        return "Git Bash" if name in programs.SHELLS else f"{name} (on PATH)"
    return ""


ROOTS = (
    (winreg.HKEY_CURRENT_USER, 0),
    (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_64KEY),
    (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_32KEY),
)
KEY = r"Software\Python\PythonCore\{minor}{suffix}\InstallPath"


def installed_pythons(minor: str) -> Iterator[str]:
    """Yield where a Python of a minor version is registered."""
    for root, view in ROOTS:
        for suffix in ("", "-32", "-arm64"):
            yield from registered_path(root, KEY.format(minor=minor, suffix=suffix), view)


def registered_path(root: int, key: str, view: int) -> Iterator[str]:
    """Yield the program that a key names, or the one in the folder that it names."""
    try:
        with winreg.OpenKey(root, key, 0, winreg.KEY_READ | view) as opened:
            try:
                yield str(winreg.QueryValueEx(opened, "ExecutablePath")[0])
            except OSError:
                yield os.path.join(str(winreg.QueryValueEx(opened, "")[0]), "python.exe")
    except OSError:
        return


def lasting_path(path: str) -> str:
    """Return the path: an installation is upgraded in its place."""
    return path


WritePath = Callable[[str], str]


LIST_SEPARATOR = ";"
SHELL_LIST_SEPARATOR = ":"
PROGRAM_MAGIC = (b"#!", b"MZ")
PROGRAM_EXTENSIONS = (".bat", ".cmd", ".com", ".exe")


def begins_as_program(path: str, head: bytes) -> bool:
    """Tell whether a file is a program: by its first bytes, or by its extension."""
    return head.startswith(PROGRAM_MAGIC) or path.lower().endswith(PROGRAM_EXTENSIONS)


def is_absolute(path: str) -> bool:
    """Tell whether a path begins at the root of a drive, or of another machine's share."""
    return (path[1:3] == ":/" and path[0].isalpha()) or path.startswith("//")


def local_path(text: str) -> str:
    r"""Return a path that a script or a client has written, as the server writes it.

    `/c/file`, as shells write it, `/C:/file`, as a uri does, and `C:\file` are all `C:/file`.
    """
    path = text.replace("\\", "/")
    if path[:1] == "/" and is_absolute(path[1:]):
        return path[1:]
    if path[:1] == "/" and path[1:2].isalpha() and path[2:3] in ("", "/"):
        return f"{path[1].upper()}:{path[2:] or '/'}"
    return path


def path_writer(head: bytes) -> WritePath:
    """Return the function that writes a path as a script with these first bytes reads it."""
    words = interpreter_words(head)
    return shell_path if words and base_name(words[0]) in SHELLS else program_path


def program_path(path: str) -> str:
    r"""Return a path with backslashes: `cmd.exe` takes a slash for the beginning of an option."""
    return path.replace("/", "\\")


def joined_paths(paths: Iterable[str], write_path: WritePath) -> str:
    """Return paths as a list for the scripts that `write_path` is for."""
    separator = SHELL_LIST_SEPARATOR if write_path is shell_path else LIST_SEPARATOR
    return separator.join(map(write_path, paths))
