"""The operator's log on standard error: writing never blocks; data that the reader does not accept is dropped."""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import open_nonblocking


class StandardError:
    """Standard error of this process."""

    __slots__ = ("_descriptor", "_lost", "_put")

    def __init__(self) -> None:
        self._descriptor = 2
        self._lost = 0
        self._put: Callable[[int, memoryview], int] | None = None

    def write(self, data: bytes) -> None:
        """Write what standard error accepts now; report later how much was lost."""
        if self._put is None:
            self.prepare()
        size, lost = len(data), self._lost
        if lost:
            data = b"\n[%d bytes of standard error were lost]\n%b" % (lost, data)
        view = memoryview(data)
        try:
            while view and self._put is not None:
                view = view[self._put(self._descriptor, view) :]
        except OSError:
            pass
        self._lost = len(view) if len(view) <= size else lost + size

    def prepare(self) -> None:
        """Open the descriptor, if it is not open yet; another process may have filled the pipe already."""
        if self._put is None:
            try:
                self._put, self._descriptor = open_nonblocking(system.dup(2))
            except OSError:  # no descriptor is free: better to lose text than to wait
                return


class LineFormat:
    """The beginning of log lines; `prefix` returns the time, if lines have one."""

    prefix: Callable[[], str] | None = None


standard_error = StandardError()


def log_line(text: str) -> None:
    """Write a line to standard error, as far as it is read."""
    if LineFormat.prefix is not None:
        text = LineFormat.prefix() + text
    standard_error.write(text.encode("utf-8", "backslashreplace") + b"\n")
