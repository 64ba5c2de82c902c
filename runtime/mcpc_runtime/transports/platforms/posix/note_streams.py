"""FIFOs: what programs append to one is read at once."""

from __future__ import annotations

from collections.abc import Callable
from posix import O_CLOEXEC, O_NONBLOCK, O_RDWR, mkfifo, open

from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.transports.platforms.posix.reactor import READABLE

__all__ = ["forget_stream", "open_stream", "watch_stream"]

FLAGS = O_RDWR | O_NONBLOCK | O_CLOEXEC
"""Opened for writing too, a stream is never at its end, and opening it never blocks."""


def open_stream(path: bytes) -> int:
    """Create a stream, and return the descriptor from which it is read; raise OSError."""
    mkfifo(path, 0o600)
    return open(path, FLAGS)


def watch_stream(reactor: ReactorInterface, stream: int, ready: Callable[[], None]) -> None:
    """Call `ready` when there is something to read, until the stream is forgotten."""
    reactor.watch(stream, READABLE, ready)


def forget_stream(reactor: ReactorInterface, stream: int) -> None:
    """Stop watching a stream."""
    reactor.forget(stream)
