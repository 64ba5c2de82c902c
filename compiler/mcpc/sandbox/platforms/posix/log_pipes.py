"""A named pipe."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_log_pipe"]


def open_log_pipe(path: Path) -> IO[bytes]:
    """Make a path that others append to, and return the stream of what they append."""
    os.mkfifo(path, 0o600)
    # Also open for writing, so that there is no end of file between two writers.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CLOEXEC), "rb", buffering=0)
