"""The pipes with which a process was started: descriptors, by their numbers."""

from __future__ import annotations

import posix

__all__ = ["adopt"]


def adopt(descriptor: int) -> int:
    """Return the number by which this process uses a descriptor that it was started with, and its children are not."""
    posix.set_inheritable(descriptor, False)
    return descriptor
