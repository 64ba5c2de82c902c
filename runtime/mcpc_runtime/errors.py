"""Standard error, which may be read slowly or not at all: writing to it never waits; what it does not take is lost."""

from __future__ import annotations

import posix

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.patience import patient
else:
    patient = lazy("mcpc_runtime.patience:patient")


class Errors:
    """Standard error of this process."""

    __slots__ = ("_descriptor", "_lost", "_put")

    def __init__(self) -> None:
        self._descriptor = 2
        self._lost = 0
        self._put: Callable[[int, memoryview], int] | None = None

    def write(self, data: bytes) -> None:
        """Write what it takes now; say later how much was lost."""
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
        """Open what is written to, if it is not open yet; somebody else may have filled it already."""
        if self._put is None:
            try:
                self._put, self._descriptor = patient(posix.dup(2))
            except OSError:  # no descriptor is free: better to lose words than to wait
                return


class Lines:
    """How lines to whoever runs the server begin; `prefix` returns the time, where the lines have it."""

    prefix: Callable[[], str] | None = None


errors = Errors()


def tell(text: str) -> None:
    """Write a line to standard error, as far as somebody takes it."""
    if Lines.prefix is not None:
        text = Lines.prefix() + text
    errors.write(text.encode("utf-8", "backslashreplace") + b"\n")
