"""The limit of connections of a process: the configured one, or what its limit of descriptors has room for."""

from __future__ import annotations

from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.transports.platforms.system_features import most_descriptors

RESERVED = 64
"""Descriptors for the server itself; another quarter of all is for calls."""
UNLIMITED = 1 << 20


def most_connections(settings: HttpSettings) -> int:
    """Return how many connections there may be at once."""
    if settings.max_connections:
        return settings.max_connections
    most = most_descriptors()
    return max(16, most - most // 4 - RESERVED) if most else UNLIMITED
