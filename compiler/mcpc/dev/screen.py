"""Standard error of `mcpc dev`: whole lines, in colours where they are shown, never waited for.

A client may read the other end of a pipe late or never.  What does not fit into it is dropped, because the
conversation goes on in the thread that writes here.
"""

from __future__ import annotations

import os
import re
import select
import sys
import threading

PIECE = 512
"""Bytes that POSIX lets a pipe take whole once it can be written to."""
PATIENCE_SECONDS = 0.5
"""So long a report waits for a reader; the line of a call waits for none."""
STYLES = {"good": "32", "bad": "31", "faint": "2", "bold": "1"}
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
ERASE_LINE = "\r\x1b[K"


def columns() -> int:
    """Return the width of the terminal, 0 where standard error is none."""
    try:
        return os.get_terminal_size(2).columns if sys.stderr.isatty() else 0
    except OSError:
        return 0


class Screen:
    """Where a person reads along; any thread writes to it."""

    def __init__(self, colour: bool, descriptor: int = 2) -> None:
        self.colour = colour
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def paint(self, text: str, style: str) -> str:
        """Return a text in a style, where colours are shown."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour else text

    def mark(self, is_good: bool) -> str:
        """Return the sign of what went well or did not, where colours are shown."""
        sign = self.paint("✓" if is_good else "✗", "good" if is_good else "bad")
        return f"{sign} " if self.colour else ""

    def write(self, text: str, patience: float = PATIENCE_SECONDS) -> None:
        """Write lines."""
        if text:
            self._put(text.rstrip("\n") + "\n", patience)

    def working(self, text: str) -> None:
        """Show what is under way, on a terminal; `done` takes it away."""
        if columns():
            self._put(text, 0.0)

    def done(self) -> None:
        """Take away what `working` showed."""
        if columns():
            self._put(ERASE_LINE, 0.0)

    def _put(self, text: str, patience: float) -> None:
        shown = text if self.colour or text == ERASE_LINE else ESCAPES.sub("", text)
        data = shown.encode("utf-8", "backslashreplace")
        with self._lock:
            for start in range(0, len(data), PIECE):
                if not self._write_piece(data[start : start + PIECE], patience):
                    return

    def _write_piece(self, piece: bytes, patience: float) -> bool:
        """Write some bytes; return whether they were taken."""
        try:
            if not select.select([], [self._descriptor], [], patience)[1]:
                return False
            while piece:
                piece = piece[os.write(self._descriptor, piece) :]
        except OSError:
            return False
        return True
