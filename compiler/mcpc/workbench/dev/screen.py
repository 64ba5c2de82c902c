"""Standard error of `mcpc dev`: complete lines, with colours if supported, written without blocking.

The reader of a pipe may be slow or absent. Text that does not fit is dropped, because the thread that writes here also
handles the conversation.
"""

from __future__ import annotations

import os
import re
import sys
import threading

from mcpc.sandbox.platforms.console import write_within

PIECE_BYTES = 512
"""Bytes that POSIX writes to a pipe atomically."""
WRITE_TIMEOUT_SECONDS = 0.5
"""How long a report waits for a reader; a call line does not wait."""
STYLES = {"good": "32", "bad": "31", "faint": "2", "bold": "1"}
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
ERASE_LINE = "\r\x1b[K"


def terminal_columns() -> int:
    """Return the width of the terminal, 0 if standard error is not a terminal."""
    try:
        return os.get_terminal_size(2).columns if sys.stderr.isatty() else 0
    except OSError:
        return 0


class Screen:
    """The user's terminal or log; any thread may write to it."""

    def __init__(self, colour: bool, descriptor: int = 2) -> None:
        self.colour = colour
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def paint(self, text: str, style: str) -> str:
        """Return a text in a style, if colours are supported."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour else text

    def mark(self, is_good: bool) -> str:
        """Return the sign for success or failure, if colours are supported."""
        sign = self.paint("✓" if is_good else "✗", "good" if is_good else "bad")
        return f"{sign} " if self.colour else ""

    def write(self, text: str, patience: float = WRITE_TIMEOUT_SECONDS) -> None:
        """Write lines."""
        if text:
            self._put(text.rstrip("\n") + "\n", patience)

    def working(self, text: str) -> None:
        """Show the current activity on a terminal; `done` removes it."""
        if terminal_columns():
            self._put(text, 0.0)

    def done(self) -> None:
        """Remove the text of `working`."""
        if terminal_columns():
            self._put(ERASE_LINE, 0.0)

    def _put(self, text: str, patience: float) -> None:
        shown = text if self.colour or text == ERASE_LINE else ESCAPES.sub("", text)
        data = shown.encode("utf-8", "backslashreplace")
        with self._lock:
            for start in range(0, len(data), PIECE_BYTES):
                if not self._write_piece(data[start : start + PIECE_BYTES], patience):
                    return

    def _write_piece(self, piece: bytes, patience: float) -> bool:
        """Write some bytes; return whether they were taken."""
        return write_within(self._descriptor, piece, patience)
