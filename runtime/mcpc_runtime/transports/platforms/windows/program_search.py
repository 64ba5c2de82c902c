"""Programs on PATH, and the interpreters of scripts, as processes are started here."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt
from collections.abc import Mapping

from mcpc_runtime.transports.platforms.windows.supervision import programs
from mcpc_runtime.transports.platforms.windows.supervision.git_registry import git_folders
from mcpc_runtime.transports.platforms.windows.supervision.programs import shell_path

__all__ = ["HOW_TO_INSTALL", "find_program", "interpreter_lacking", "shell_path"]

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
