"""The null device."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from mcpc_runtime.transports.platforms.windows import system

__all__ = ["open_null"]


def open_null() -> int:
    """Return a descriptor of the null device."""
    return system.open(system.NULL, system.O_RDWR)
