"""A row of the table of formats: a test whose module is imported when it is asked for the first time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Row:
    """A function by the name `package.module:function`."""

    __slots__ = ("_function", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._function: Any = None

    def __call__(self, text: str) -> bool:
        """Ask the function."""
        if self._function is None:
            module, _, name = self.name.partition(":")
            self._function = getattr(__import__(module, fromlist=[name]), name)
        return self._function(text)  # type: ignore[no-any-return]
