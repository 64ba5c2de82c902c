"""A clock for what is handed one."""

import time


class Clock:
    """The machine's clock, which a test puts forward by `ahead` seconds."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        """Return the seconds since some moment."""
        return time.monotonic() + self.ahead


class StoppedClock:
    """A clock that stands still until a test sets `now`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
