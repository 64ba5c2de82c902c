"""A number that processes inherit, whatever else they leave behind: their soft limit of file locks.

Linux has not counted file locks since 2.4.25 (setrlimit(2)), so the limit means nothing but whose a process is.  Where
there is no such limit, or it may not be set, processes have no number.
"""

from __future__ import annotations

import resource

RLIMIT_LOCKS = 10
FIRST = 1 << 32
"""Numbers of processes that were started begin here; below are process ids, which Bash's children set themselves."""


class ProcessNumbers:
    """The numbers of the processes that are started; the caller's own limit is that of the next."""

    def __init__(self) -> None:
        self._last = FIRST
        self._is_free = True

    def next(self) -> int:
        """Return the number that the next process which is started inherits; 0 if it has none."""
        if self._is_free:
            try:
                self._is_free = resource.getrlimit(RLIMIT_LOCKS)[1] == resource.RLIM_INFINITY
                if self._is_free:
                    resource.setrlimit(RLIMIT_LOCKS, (self._last + 1, resource.RLIM_INFINITY))
            except (OSError, ValueError):
                self._is_free = False
        self._last += self._is_free
        return self._last if self._is_free else 0


def number_of(pid: int) -> int:
    """Return the number that a process has inherited, or 0."""
    try:
        return max(resource.prlimit(pid, RLIMIT_LOCKS)[0], 0)
    except (AttributeError, OSError, ValueError):  # only Linux has `prlimit`
        return 0
