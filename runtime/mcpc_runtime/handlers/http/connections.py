"""Connections to servers: kept and used again, to addresses that were checked, with the deadline of the call.

A kept connection that the server has closed meanwhile is not used.  One call has one connection at a time, which the
thread that stops the call shuts down.
"""

from __future__ import annotations

import socket
import ssl
from _thread import allocate_lock
from time import monotonic
from typing import Any

from mcpc_runtime.handlers.http.addresses import refuse_address
from mcpc_runtime.handlers.http.request import Origin
from mcpc_runtime.transports.platforms.pipes import socket_is_ready

# More than a TLS record has (16 KiB, RFC 8446, section 5.1): none of it waits where the system does not see it.
CHUNK = 1 << 16
CONNECT_SECONDS = 10.0
MAX_IDLE = 64
IDLE_SECONDS = 30.0


class CallOver(Exception):  # noqa: N818 - the result is not needed any more
    """The call was stopped."""


class CallSocket:
    """The socket on which a call waits now, which does not block, and how long it may.

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

    def hold(self, place: socket.socket | None) -> None:
        """Name the socket that this call uses from now on, None for none; raise CallOver."""
        with self._lock:
            self._socket = place
            if self.over and place is not None:
                raise CallOver

    def send(self, place: socket.socket, data: bytes) -> None:
        """Write bytes to the socket that was named."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[place.send(rest) :]
            except OSError as problem:
                self._wait(place, wants_to_write(problem, True))

    def receive(self, place: socket.socket) -> bytes:
        """Return the next bytes of the socket that was named, none at its end."""
        to_write = False
        while True:
            self._wait(place, to_write)
            try:
                return place.recv(CHUNK)
            except OSError as problem:
                to_write = wants_to_write(problem, False)

    def _wait(self, place: socket.socket, to_write: bool) -> None:
        if not socket_is_ready(place.fileno(), to_write, self.remaining()):
            raise TimeoutError

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
                    # Not the method of an SSLSocket, which drops the TLS state that the other thread may be using.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                except OSError:  # it is not connected, or is no socket any more
                    return


class Connections:
    """The connections of a server that no call uses, by origin."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._idle: dict[Origin, list[tuple[float, socket.socket]]] = {}
        self._contexts: dict[tuple[str, str] | None, ssl.SSLContext] = {}

    def take(self, origin: Origin, call: CallSocket) -> Any:
        """Return a connection, kept or new."""
        while True:
            with self._lock:
                kept = self._idle.get(origin)
                since, place = kept.pop() if kept else (0.0, None)
            if place is None:
                return self._connect(origin, call)
            if monotonic() - since < IDLE_SECONDS and is_open(place):
                return place
            place.close()

    def give(self, origin: Origin, place: socket.socket) -> None:
        """Keep a connection whose answer was read to its end."""
        with self._lock:
            kept = self._idle.setdefault(origin, [])
            kept.append((monotonic(), place))
            dropped = [] if len(kept) <= MAX_IDLE else [kept.pop(0)[1]]
        for old in dropped:
            old.close()

    def close(self) -> None:
        """Close all."""
        with self._lock:
            rows, self._idle = list(self._idle.values()), {}
        for _, place in (kept for row in rows for kept in row):
            place.close()

    def _connect(self, origin: Origin, call: CallSocket) -> Any:
        place: Any = connected(origin, call)
        try:
            place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if origin.scheme == "https":
                context = self._context(origin.certificate)
                # The handshake begins below, when `hold` has named the socket: it can be interrupted, too.
                place = context.wrap_socket(place, server_hostname=origin.host, do_handshake_on_connect=False)
                call.hold(place)
                place.settimeout(call.remaining())
                place.do_handshake()
            place.settimeout(0)
        except BaseException:
            place.close()
            raise
        return place

    def _context(self, certificate: tuple[str, str] | None) -> ssl.SSLContext:
        """Return the settings of TLS for a client certificate; the system's roots are read once."""
        with self._lock:
            context = self._contexts.get(certificate)
            if context is None:
                context = self._contexts[certificate] = ssl.create_default_context()
                if certificate is not None:
                    context.load_cert_chain(*certificate)
        return context


def connected(origin: Origin, call: CallSocket) -> socket.socket:
    """Return a socket connected to the first address that answers, after all were checked."""
    rows = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    for *_, address in rows:
        refuse_address(str(address[0]), origin.host, origin.named)
    problem = OSError("the name has no address")
    for family, kind, protocol, _, address in rows:
        place = socket.socket(family, kind, protocol)
        try:
            call.hold(place)
            place.settimeout(call.remaining(CONNECT_SECONDS))
            place.connect(address)
        except OSError as failed:
            place.close()
            problem = failed
        except BaseException:
            place.close()
            raise
        else:
            return place
    raise problem


def is_open(place: socket.socket) -> bool:
    """Tell whether a kept connection can be used: it is not closed, and holds nothing unexpected."""
    try:
        # Below TLS, because an SSLSocket takes no flags; what is there already was not asked for.
        socket.socket.recv(place, 1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def wants_to_write(problem: OSError, is_writing: bool) -> bool:
    """Tell whether a socket waits until it can be written to, or read; raise any other problem."""
    if isinstance(problem, BlockingIOError):
        return is_writing
    if isinstance(problem, ssl.SSLWantReadError | ssl.SSLWantWriteError):
        return isinstance(problem, ssl.SSLWantWriteError)
    raise problem
