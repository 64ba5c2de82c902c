"""The console of Windows, which has to be asked to understand escape sequences."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import msvcrt
import shutil
from time import monotonic, sleep

__all__ = ["FullScreen", "terminal_size"]

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
DEFAULT_SIZE = (80, 24)
STANDARD_OUTPUT, ESCAPE_SEQUENCES = -11, 0x4
POLL_SECONDS = 0.02


def terminal_size() -> tuple[int, int]:
    """Return the columns and lines of standard output."""
    columns, lines = shutil.get_terminal_size(DEFAULT_SIZE)
    return columns, lines


class FullScreen:
    """A context in which keys arrive at once and are not shown."""

    def __enter__(self) -> FullScreen:
        """Take the console."""
        kernel = ctypes.windll.kernel32
        self._handle = kernel.GetStdHandle(STANDARD_OUTPUT)
        self._mode = ctypes.c_uint32()
        if kernel.GetConsoleMode(self._handle, ctypes.byref(self._mode)):
            kernel.SetConsoleMode(self._handle, self._mode.value | ESCAPE_SEQUENCES)
        put(ENTER)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the console back as it was."""
        put(LEAVE)
        ctypes.windll.kernel32.SetConsoleMode(self._handle, self._mode.value)

    def read_key(self, seconds: float) -> str:
        """Return the next key; an empty text if there is none within so many seconds."""
        until = monotonic() + seconds
        while not msvcrt.kbhit():
            if monotonic() >= until:
                return ""
            sleep(POLL_SECONDS)
        return msvcrt.getwch()


def put(text: str) -> None:
    """Write to the console at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
