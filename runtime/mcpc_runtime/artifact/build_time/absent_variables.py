"""Which environment variables a project's code looks up and does not find, while it runs during a build.

Only code of the project counts: packages look for many variables that nobody sets.
"""

from __future__ import annotations

import os
import sys
from typing import Any

PASSED_BY = frozenset({os.__file__, "<frozen os>", "<frozen _collections_abc>", __file__})
"""Code between a program and the mapping of variables."""

_absent: dict[str, None] = {}


class WatchedVariables(type(os.environ)):  # type: ignore[misc]
    """The variables of the process; what the project does not find in them is recorded."""

    folder = ""

    def __getitem__(self, key: Any) -> Any:
        """Return a variable's value; record a name that has none."""
        try:
            return super().__getitem__(key)
        except KeyError:
            if isinstance(key, str) and asking_file().startswith(self.folder):
                _absent.pop(key, None)
                _absent[key] = None
            raise


def watch_variables(folder: str) -> None:
    """Record from now on what code in a folder looks up and does not find."""
    _absent.clear()
    WatchedVariables.folder = f"{folder}/"
    os.environ.__class__ = WatchedVariables


def absent_variables() -> list[str]:
    """Return the names that were not found, the one that was asked for last at the end."""
    return list(_absent)


def asking_file() -> str:
    """Return the file of the code that asks for a variable."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in PASSED_BY:
        frame = frame.f_back
    return "" if frame is None else str(frame.f_code.co_filename)
