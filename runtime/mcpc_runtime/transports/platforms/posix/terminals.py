"""The terminal of a POSIX system.

What was set is set back when the block ends, however it ends: also by a signal that would end the process.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import termios
import tty
from typing import Any

__all__ = ["FullScreen", "terminal_size"]

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
"""The other screen without a cursor, and back."""
DEFAULT_SIZE = (80, 24)
KEY_BYTES = 32
END_OF_INPUT = "\x04"
SPECIAL_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O.)?")
"""An arrow and the like, which has no character of its own."""
CHARACTERS = 6
"""The member of a terminal's attributes with its control characters."""
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def terminal_size() -> tuple[int, int]:
    """Return the columns and lines of standard output."""
    columns, lines = shutil.get_terminal_size(DEFAULT_SIZE)
    return columns, lines


class FullScreen:
    """A context in which keys arrive at once and are not shown."""

    def __enter__(self) -> FullScreen:
        """Take the terminal."""
        self._descriptor = sys.stdin.fileno()
        self._keys = ""
        self._before: Any = termios.tcgetattr(self._descriptor)
        self._handlers = {number: signal.signal(number, leave) for number in ENDING_SIGNALS}
        tty.setcbreak(self._descriptor, termios.TCSANOW)
        attributes = termios.tcgetattr(self._descriptor)
        attributes[CHARACTERS][termios.VSUSP] = b"\0"  # a stopped process would leave the other screen on
        termios.tcsetattr(self._descriptor, termios.TCSANOW, attributes)
        put(ENTER)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back as it was."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        put(LEAVE)
        termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

    def read_key(self, seconds: float) -> str:
        """Return the next key; an empty text if there is none within so many seconds."""
        if not self._keys and select.select([self._descriptor], [], [], seconds)[0]:
            text = os.read(self._descriptor, KEY_BYTES).decode("utf-8", "replace") or END_OF_INPUT
            self._keys = SPECIAL_KEY.sub("", text)
        key, self._keys = self._keys[:1], self._keys[1:]
        return key


def leave(number: int, _frame: object) -> None:
    """End the process with the status of a signal."""
    sys.exit(128 + number)


def put(text: str) -> None:
    """Write to the terminal at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
