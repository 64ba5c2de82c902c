"""What tests of processes share: a token by which everything a test started is found, and waiting with a deadline."""

from __future__ import annotations

import os
import signal
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNTIME = Path(__file__).parents[1] / "runtime"
PATIENCE = 20.0
"""Seconds; the machine may be busy."""


class Token:
    """A variable that everything started for a test carries, unless it takes pains to lose it."""

    def __init__(self) -> None:
        self.text = f"TEST_TOKEN={uuid.uuid4().hex}".encode()

    @property
    def environment(self) -> dict[bytes, bytes]:
        name, _, value = self.text.partition(b"=")
        return {**os.environb, name: value}

    def alive(self) -> list[int]:
        """Return what runs with it; what has ended and was not reaped has no environment any more."""
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and self.text in environment_of(name)]


def environment_of(pid: str) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended and was not reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def nothing_left() -> Iterator[Token]:
    """A token; at the end nothing that carries it may be there, and nothing is."""
    token = Token()
    try:
        yield token
        until(lambda: not token.alive())
    finally:
        for pid in token.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def until(is_so: Callable[[], object], seconds: float = PATIENCE) -> float:
    """Wait until something is so; return how long that took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < seconds, "it did not come about"
        time.sleep(0.01)
    return time.monotonic() - began
