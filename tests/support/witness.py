"""A port that witnesses processes: each connects to it and holds the connection, which ends when the process does.

This tells on any operating system whether processes are left, without its table of processes.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time

from support.slack import slack


class Witness:
    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._changed = threading.Condition()
        self._accepted = 0
        self._alive = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Witness:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # accept() returns
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        self._listening.close()

    @property
    def port(self) -> int:
        number: int = self._listening.getsockname()[1]
        return number

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._count(1)
                threading.Thread(target=self._watch, args=(connection,), daemon=True).start()

    def _watch(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while connection.recv(1):
                continue
        self._count(-1)

    def _count(self, difference: int) -> None:
        with self._changed:
            self._accepted += max(0, difference)
            self._alive += difference
            self._changed.notify_all()

    def has_seen(self, count: int, seconds: float = 30.0) -> bool:
        """Wait until so many processes have connected."""
        with self._changed:
            return self._changed.wait_for(lambda: self._accepted >= count, seconds * slack())

    def left(self, seconds: float) -> int:
        """Return how many processes are left after so long, multiplied on a loaded machine; less than that if none is."""
        deadline = time.monotonic() + seconds * slack()
        with self._changed:
            while self._alive and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return self._alive
