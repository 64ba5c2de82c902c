"""Connections to servers: kept and used again, to addresses that were checked, with the deadline of the call.

A kept connection that the server has closed meanwhile is not used.  One call has one connection at a time, which the
thread that stops the call shuts down.
"""

from __future__ import annotations

import socket
import ssl
from _thread import allocate_lock
from collections.abc import Callable
from http.client import HTTPConnection, HTTPSConnection
from time import monotonic

from mcpc_runtime.handlers.http.addresses import refuse_address
from mcpc_runtime.handlers.http.request import Origin

CONNECT_SECONDS = 10.0
MAX_IDLE = 64
IDLE_SECONDS = 30.0


class CallOver(Exception):  # noqa: N818 - the result is not needed any more
    """The call was stopped."""


class CallSocket:
    """The socket on which a call waits now, and how long it may.

    `interrupt` may be called by another thread at any time.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._lock = allocate_lock()
        self._socket: socket.socket | None = None
        self._stopped = allocate_lock()
        self._stopped.acquire()
        self.over = False

    def remaining(self, most: float = float("inf")) -> float:
        """Return the seconds that a wait may last; raise CallOver or TimeoutError if there are none."""
        if self.over:
            raise CallOver
        seconds = min(self.deadline - monotonic(), most)
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def has_time(self, seconds: float) -> bool:
        """Tell whether the call may last so many seconds more."""
        return monotonic() + seconds < self.deadline

    def wait_on(self, place: socket.socket | None, most: float = float("inf")) -> None:
        """Name the socket that this call waits on next, None for none."""
        with self._lock:
            self._socket = place
            if place is not None:
                place.settimeout(self.remaining(most))

    def pause(self, seconds: float) -> None:
        """Wait; raise CallOver if the call is stopped meanwhile."""
        if self._stopped.acquire(timeout=seconds):
            self._stopped.release()
            raise CallOver

    def interrupt(self) -> None:
        """End the wait, and all that begin later."""
        with self._lock:
            if self.over:
                return
            self.over = True
            self._stopped.release()
            if self._socket is not None:
                try:
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                except OSError:  # it is not connected, or is no socket any more
                    return


class Connections:
    """The connections of a server that no call uses, by origin."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._idle: dict[tuple[object, ...], list[tuple[float, HTTPConnection]]] = {}
        self._contexts: dict[tuple[str, str] | None, ssl.SSLContext] = {}

    def take(self, origin: Origin, call: CallSocket) -> HTTPConnection:
        """Return a connection, kept or new."""
        while True:
            with self._lock:
                kept = self._idle.get(origin.key())
                since, connection = kept.pop() if kept else (0.0, None)
            if connection is None:
                return self._connect(origin, call)
            if monotonic() - since < IDLE_SECONDS and is_open(connection):
                return connection
            connection.close()

    def give(self, origin: Origin, connection: HTTPConnection) -> None:
        """Keep a connection whose answer was read to its end."""
        with self._lock:
            kept = self._idle.setdefault(origin.key(), [])
            kept.append((monotonic(), connection))
            dropped = [] if len(kept) <= MAX_IDLE else [kept.pop(0)[1]]
        for old in dropped:
            old.close()

    def close(self) -> None:
        """Close all."""
        with self._lock:
            rows, self._idle = list(self._idle.values()), {}
        for _, connection in (kept for row in rows for kept in row):
            connection.close()

    def _connect(self, origin: Origin, call: CallSocket) -> HTTPConnection:
        seconds = call.remaining(CONNECT_SECONDS)
        connection: HTTPConnection
        if origin.scheme == "https":
            context = self._context(origin.certificate)
            connection = HTTPSConnection(origin.host, origin.port, timeout=seconds, context=context)
        else:
            connection = HTTPConnection(origin.host, origin.port, timeout=seconds)
        connection._create_connection = connector(origin, call)  # type: ignore[attr-defined]
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return connection

    def _context(self, certificate: tuple[str, str] | None) -> ssl.SSLContext:
        """Return the settings of TLS for a client certificate; the system's roots are read once."""
        with self._lock:
            context = self._contexts.get(certificate)
            if context is None:
                context = self._contexts[certificate] = ssl.create_default_context()
                if certificate is not None:
                    context.load_cert_chain(*certificate)
        return context


def connector(origin: Origin, call: CallSocket) -> Callable[..., socket.socket]:
    """Return what connects to the first address that answers, after all were checked."""

    def connect(place: tuple[str, int], timeout: float, source: object = None) -> socket.socket:
        rows = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        for *_, address in rows:
            refuse_address(str(address[0]), origin.host, origin.named)
        problem = OSError("the name has no address")
        for family, kind, protocol, _, address in rows:
            opened = socket.socket(family, kind, protocol)
            try:
                call.wait_on(opened, CONNECT_SECONDS)
                opened.connect(address)
            except OSError as failed:
                opened.close()
                problem = failed
            except BaseException:
                opened.close()
                raise
            else:
                return opened
        raise problem

    return connect


def is_open(connection: HTTPConnection) -> bool:
    """Tell whether a kept connection can be used: it is not closed, and holds nothing unexpected."""
    place = connection.sock
    if place is None:
        return False
    try:
        place.settimeout(0)
        socket.socket.recv(place, 1, socket.MSG_PEEK)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except (OSError, ValueError):
        return False
    return False
