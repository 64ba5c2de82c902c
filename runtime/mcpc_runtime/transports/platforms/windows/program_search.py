"""Programs on PATH, the interpreters of scripts as processes are started here, and the Pythons that are installed."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
import os
import winreg
from collections.abc import Iterator, Mapping

from mcpc_runtime.transports.platforms.windows.supervision import programs
from mcpc_runtime.transports.platforms.windows.supervision.git_registry import git_folders
from mcpc_runtime.transports.platforms.windows.supervision.programs import (
    shell_path,
)

__all__ = ["HOW_TO_INSTALL", "find_program", "installed_pythons", "interpreter_lacking", "lasting_path", "shell_path"]


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


# The user's Pythons first; a system of 64 bits has two views of the machine's keys.
ROOTS = (
    (winreg.HKEY_CURRENT_USER, 0),
    (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_64KEY),
    (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_32KEY),
)
KEY = r"Software\Python\PythonCore\{minor}{suffix}\InstallPath"


def installed_pythons(minor: str) -> Iterator[str]:
    """Yield where a Python of a minor version is registered."""
    for root, view in ROOTS:
        # PEP 514; Pythons of 32 bits and for ARM are registered with a suffix.
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
