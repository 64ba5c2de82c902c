"""Programs on PATH, and the interpreters of scripts, as processes are started here."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import nt

from mcpc_runtime.platforms.windows.supervision import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["find_program", "interpreter_lacking"]


def exists(path: str) -> bool:
    """Tell whether a file is there."""
    return nt.access(path, nt.F_OK)


def as_text(environment: Mapping[bytes, bytes]) -> dict[str, str]:
    """Return the variables that a search reads."""
    return {name: environment.get(name.encode(), b"").decode("utf-8", "replace") for name in ("PATH", "PATHEXT")}


def find_program(command: str, environment: Mapping[bytes, bytes]) -> str:
    """Return the path of the program that a name stands for in PATH, or an empty string."""
    if programs.is_python(command):
        return sys.executable
    return programs.find_program(command, as_text(environment), exists)


def interpreter_lacking(line: bytes, environment: Mapping[bytes, bytes]) -> str:
    """Return what a `#!` line names that is missing."""
    try:
        programs.located(["."], line, as_text(environment), sys.executable, exists)
    except programs.NoInterpreterError:
        name = programs.base_name(programs.interpreter_words(line)[0])
        return "Git Bash" if name in programs.SHELLS else f"{name} (on PATH)"
    return ""
