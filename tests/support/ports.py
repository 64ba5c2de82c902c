"""Ports for servers that have to be told theirs, or keep it when they start again."""

import socket


def reserved_port() -> int:
    """Return a port that nobody else is given as long as this process runs.

    It stays bound here, without listening, so that a server that sets SO_REUSEADDR, as all do, can listen there.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port: int = holder.getsockname()[1]
    holder.detach()
    return port
