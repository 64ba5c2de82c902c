"""Context managers that undo what a block opened or began if it raises; the exception propagates."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from mcpc_runtime.transports.platforms import system


class Rollback:
    """Calls `undo` if the block raises an exception."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block."""
        if kind is not None:
            self._undo()


class OpenDescriptors(list[int]):
    """The descriptors that a block opens; closed if it raises, with `always` in any case."""

    __slots__ = ("_always",)

    def __init__(self, *, always: bool = False) -> None:
        super().__init__()
        self._always = always

    def __enter__(self) -> OpenDescriptors:
        """Enter the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block."""
        if self._always or kind is not None:
            for descriptor in self:
                try:
                    system.close(descriptor)
                except OSError:
                    continue
