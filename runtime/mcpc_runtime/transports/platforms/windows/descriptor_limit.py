"""The limit of descriptors of this process: sockets have none here, so this is what one process serves well."""

from __future__ import annotations

__all__ = ["most_descriptors"]

SOCKETS = 1 << 13


def most_descriptors() -> int:
    """Return how many sockets and descriptors this process should open."""
    return SOCKETS
