"""Rotation of static tokens while a server runs: their file is checked once a second, and read on SIGHUP.

Requests with a removed token are refused from then on, and its streams end.  Running calls are allowed to end, as when
a token expires.
"""

from __future__ import annotations

from asyncio import get_running_loop

from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.interfaces import TokenSource
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.log.operator_log import log_line

CHECK_SECONDS = 1.0


class Rotation:
    """Watches the token file of the servers, in the running loop."""

    def __init__(self, watched: TokenSource, drivers: list[HttpDriver]) -> None:
        self._watched = watched
        self._drivers = drivers
        self._loop = get_running_loop()
        self._timer = self._loop.call_later(CHECK_SECONDS, self._check)

    def _check(self) -> None:
        self._timer = self._loop.call_later(CHECK_SECONDS, self._check)
        self._end(self._watched.read_changes())

    def reload(self) -> None:
        """Read the file now, changed or not."""
        self._end(self._watched.read())

    def _end(self, removed: list[Principal]) -> None:
        """End the streams of removed tokens."""
        for driver in self._drivers if removed else ():
            driver.end_leases(removed)

    def close(self) -> None:
        """Stop watching."""
        self._timer.cancel()


def reload(rotation: Rotation | None) -> None:
    """Handle SIGHUP: read the token file again, if there is one."""
    if rotation is None:
        log_line("SIGHUP: there is no token file to read again, and nothing else is read while the server runs")
    else:
        rotation.reload()
