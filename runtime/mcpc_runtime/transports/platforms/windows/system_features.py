"""Optional features of POSIX systems: there is none of them here, but the end of a watched pipe is always reported."""

from __future__ import annotations

from collections.abc import Callable
from errno import EMFILE, ENFILE, ENOMEM

__all__ = ["NO_ROOM", "PROBES", "WITHOUT", "has"]

WITHOUT = b"MCPC_WITHOUT"
NO_ROOM = (EMFILE, ENFILE, ENOMEM)
PROBES: dict[str, Callable[[], bool]] = {}
PRESENT = frozenset({"hangup"})


def has(name: str) -> bool:
    """Tell whether a feature exists."""
    return name in PRESENT
