"""What a block opened or began is undone if the block ends with an exception, which goes on."""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Rollback:
    """Calls `undo` if the block ends with an exception."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the block."""
        if kind is not None:
            self._undo()


class OpenDescriptors(list[int]):
    """The descriptors that a block opens, closed if it ends with an exception; with `always`, in any case."""

    __slots__ = ("_always",)

    def __init__(self, *, always: bool = False) -> None:
        super().__init__()
        self._always = always

    def __enter__(self) -> OpenDescriptors:
        """Begin the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the block."""
        if self._always or kind is not None:
            for descriptor in self:
                try:
                    posix.close(descriptor)
                except OSError:
                    continue
