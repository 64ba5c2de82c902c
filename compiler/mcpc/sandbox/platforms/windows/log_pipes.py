"""A file that is read as it grows: on Windows, nothing that can be opened by its path waits for writers."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_log_pipe"]

POLL_SECONDS = 0.2


class GrowingFile(io.RawIOBase):
    """The stream of what is appended to a file; between reads the file is closed, so that it can be removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self, size: int = -1) -> bytes:
        """Wait until something is appended, and return it; nothing if the file was removed."""
        while True:
            try:
                with self._path.open("rb") as file:
                    file.seek(self._offset)
                    data = file.read(size)
            except FileNotFoundError:
                return b""
            if data:
                self._offset += len(data)
                return data
            time.sleep(POLL_SECONDS)


def open_log_pipe(path: Path) -> GrowingFile:
    """Make a path that others append to, and return the stream of what they append."""
    path.touch()
    return GrowingFile(path)
