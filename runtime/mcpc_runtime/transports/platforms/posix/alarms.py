"""An alarm, which is a signal."""

from __future__ import annotations

import signal

__all__ = ["raise_after", "stop_timer"]


def raise_after(seconds: int, problem: type[BaseException]) -> None:
    """Raise an exception on the main thread after so many seconds."""

    def end(*_: object) -> None:
        raise problem

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)


def stop_timer() -> None:
    """Remove the time limit."""
    signal.alarm(0)
