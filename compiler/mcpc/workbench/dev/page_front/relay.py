"""One request relayed to the built server: its head is sent again, and bytes pass in both directions as they come.

The connection is used for this request only (`Connection: close`), so no body has to be understood here.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from io import BufferedIOBase

PAUSE_SECONDS = 0.05
CHUNK = 1 << 16
PER_CONNECTION = frozenset({"connection", "keep-alive", "proxy-connection", "upgrade"})


def connect_within(port: int, seconds: float, is_wanted: Callable[[], bool]) -> socket.socket | None:
    """Return a connection to a local port, on which a server may be starting; None if there is none in time."""
    until = time.monotonic() + seconds
    while is_wanted():
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() >= until:
                return None
            time.sleep(PAUSE_SECONDS)
    return None


def request_head(line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return the head of a request, for a connection that ends with it."""
    kept = [f"{name}: {value}" for name, value in headers if name.lower() not in PER_CONNECTION]
    return "\r\n".join([line, *kept, "Connection: close", "", ""]).encode("latin-1", "replace")


def relay(head: bytes, client: socket.socket, body: BufferedIOBase, server: socket.socket) -> None:
    """Send a request, and pass its answer on until either side ends."""
    with server:
        server.sendall(head)
        threading.Thread(target=_send_body, args=(body, server), daemon=True).start()
        with suppress(OSError):
            while data := server.recv(CHUNK):
                client.sendall(data)
        for each in (server, client):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def _send_body(body: BufferedIOBase, server: socket.socket) -> None:
    """Pass on what the client sends; when it has gone, the server has to know."""
    with suppress(OSError, ValueError):
        while data := body.read1(CHUNK):
            server.sendall(data)
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
