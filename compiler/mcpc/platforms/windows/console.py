"""The console of Windows, its command interpreter, and PowerShell."""

from __future__ import annotations

import io
import signal
import subprocess
import sys

__all__ = ["ENDING_SIGNALS", "quoted_word", "start_of_file", "use_utf8"]

ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGBREAK") if hasattr(signal, name))


def quoted_word(word: str) -> str:
    """Return a word as programs read it."""
    return subprocess.list2cmdline([word])


def start_of_file(path: str) -> str:
    """Return the command that starts a built file: an archive by Python, a program as it is."""
    if not path.lower().endswith(".exe"):
        return f"python {quoted_word(path)}"
    return quoted_word(path if ":" in path or path.startswith(("\\", "..")) else f".\\{path}")


def use_utf8() -> None:
    """Write UTF-8 with plain line feeds to files and pipes, as on other systems; a console takes any text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", newline="\n")
