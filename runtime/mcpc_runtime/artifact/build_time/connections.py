"""Which hosts a project's code tries to reach while it runs during a build."""

from __future__ import annotations

import sys
from typing import Any

MAX_HOSTS = 5
_hosts: dict[str, None] = {}


def watch_connections() -> None:
    """Record from now on what Python looks up, or connects to."""
    _hosts.clear()
    sys.addaudithook(record_connection)


def record_connection(event: str, values: tuple[Any, ...]) -> None:
    """Record the host of an audit event about a connection; a socket of this machine has a path, and no host."""
    address = values[1] if event == "socket.connect" else values if event == "socket.getaddrinfo" else None
    if isinstance(address, tuple) and isinstance(address[0], str | bytes) and len(_hosts) < MAX_HOSTS:
        _hosts[str(address[0], "ascii", "replace") if isinstance(address[0], bytes) else address[0]] = None


def tried_hosts() -> list[str]:
    """Return the hosts, in the order of the first tries."""
    return list(_hosts)
