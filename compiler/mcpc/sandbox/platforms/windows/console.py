"""The console of Windows, its command interpreter, and PowerShell."""

from __future__ import annotations

import _thread
import io
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from queue import Full, Queue

__all__ = ["ENDING_SIGNALS", "quoted_word", "signal_main_thread", "start_of_file", "use_utf8", "write_within"]

ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGBREAK") if hasattr(signal, name))
MAX_PIECES, LEAST_SECONDS = 64, 0.01
"""What waits to be written, at most, and how long is waited for a place in any case."""


def quoted_word(word: str) -> str:
    """Return a word as programs read it."""
    return subprocess.list2cmdline([word])


def signal_main_thread(number: int) -> None:
    """Let the main thread handle a signal before its next step."""
    _thread.interrupt_main(signal.Signals(number))


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


class WritingThread:
    """Writes to a descriptor; a caller that hands it something waits a limited time only."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pieces: Queue[bytes] = Queue(MAX_PIECES)
        threading.Thread(target=self._write, daemon=True).start()

    def put(self, piece: bytes, seconds: float) -> bool:
        """Hand over a few bytes, and wait until all are written, both within so many seconds."""
        try:
            self._pieces.put(piece, timeout=max(seconds, LEAST_SECONDS))
        except Full:
            return False
        with self._pieces.all_tasks_done:
            self._pieces.all_tasks_done.wait_for(lambda: not self._pieces.unfinished_tasks, seconds)
        return True

    def _write(self) -> None:
        while True:
            piece = self._pieces.get()
            with suppress(OSError):
                while piece:
                    piece = piece[os.write(self._descriptor, piece) :]
            self._pieces.task_done()


writing_thread = cache(WritingThread)


def write_within(descriptor: int, piece: bytes, seconds: float) -> bool:
    """Write a few bytes if that is possible within so many seconds; return whether they were taken.

    Pipes and consoles do not tell whether they take something, so a thread writes.
    """
    return writing_thread(descriptor).put(piece, seconds)
