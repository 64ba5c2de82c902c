"""Identify processes by a number that all descendants inherit: their soft limit of file locks (RLIMIT_LOCKS).

Linux has not counted file locks since 2.4.25 (setrlimit(2)), so the limit can be used as an identifier.  Without this
limit, or if it may not be set, processes have no number.
"""

from __future__ import annotations

import resource
import sys

RLIMIT_LOCKS = 10
FIRST = 1 << 32
"""Numbers of started processes begin here; lower ones are process ids, which the children of Bash set themselves."""


class ProcessNumbers:
    """Assigns numbers to processes that are started; the caller's own limit is the number of the next."""

    def __init__(self) -> None:
        self._last = FIRST
        self._is_free = True

    def next(self) -> int:
        """Set and return the number of the next process; 0 if it has none."""
        if self._is_free:
            try:
                self._is_free = resource.getrlimit(RLIMIT_LOCKS)[1] == resource.RLIM_INFINITY
                if self._is_free:
                    resource.setrlimit(RLIMIT_LOCKS, (self._last + 1, resource.RLIM_INFINITY))
            except (OSError, ValueError):
                self._is_free = False
        self._last += self._is_free
        return self._last if self._is_free else 0


def inherited_number(pid: int) -> int:
    """Return the number of a process, or 0."""
    number = 0
    if sys.platform == "linux":
        try:
            number = resource.prlimit(pid, RLIMIT_LOCKS)[0]
        except (OSError, ValueError):
            number = 0
    return max(number, 0)
