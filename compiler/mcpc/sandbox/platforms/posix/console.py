"""Terminals and shells of a POSIX system."""

from __future__ import annotations

import os
import select
import shlex
import signal
import threading

__all__ = ["ENDING_SIGNALS", "quoted_word", "signal_main_thread", "start_of_file", "use_utf8", "write_within"]

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def quoted_word(word: str) -> str:
    """Return a word as a shell reads it."""
    return shlex.quote(word)


def signal_main_thread(number: int) -> None:
    """Send a signal to the main thread; what it waits for is interrupted."""
    ident = threading.main_thread().ident
    if ident is not None:
        signal.pthread_kill(ident, number)


def start_of_file(path: str) -> str:
    """Return the command that starts a built file at a path, absolute or below the working folder."""
    return shlex.quote(path if path.startswith(("/", "../")) else f"./{path}")


def use_utf8() -> None:
    """Leave the streams as they are: their encoding is that of the user's locale."""


def write_within(descriptor: int, piece: bytes, seconds: float) -> bool:
    """Write a few bytes if that is possible within so many seconds; return whether they were taken."""
    try:
        if not select.select([], [descriptor], [], seconds)[1]:
            return False
        while piece:
            piece = piece[os.write(descriptor, piece) :]
    except OSError:
        return False
    return True
