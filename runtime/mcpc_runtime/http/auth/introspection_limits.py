"""Limits of concurrent introspection requests for unknown tokens, in all and by client address.

Any client can send unknown tokens, and each of them costs a query.  So addresses take turns, each has few running and
few waiting queries, and some places are reserved for tokens that were accepted before.
"""

from __future__ import annotations

import asyncio
from collections import deque
from ipaddress import ip_network

from mcpc_runtime.http.auth.principals import UnavailableError

MAX_RUNNING, MAX_RUNNING_OF_ONE = 12, 4
"""Maximum concurrent queries of unknown tokens, in all and of one address."""
MAX_WAITING, MAX_WAITING_OF_ONE = 1024, 16
WAIT_SECONDS = 10.0
NETWORK_BITS = 64
"""The bits of an IPv6 address that count: a client usually has the whole network."""


class IntrospectionLimits:
    """The slots for introspection requests about unknown tokens."""

    def __init__(self) -> None:
        self._running: dict[str, int] = {}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def acquire(self, source: str) -> None:
        """Wait for a place; raise UnavailableError if too many wait, or none is free in time."""
        if self._is_free(source):
            self._running[source] = self._running.get(source, 0) + 1
            return
        queue = self._waiting.get(source, ())
        if len(queue) >= MAX_WAITING_OF_ONE or sum(map(len, self._waiting.values())) >= MAX_WAITING:
            raise UnavailableError("too many unknown tokens are being asked about")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(source, deque()).append(turn)
        done, _ = await asyncio.wait([turn], timeout=WAIT_SECONDS)
        if not done:
            self._remove(source, turn)
            raise UnavailableError("no unknown token could be asked about in time")

    def _is_free(self, source: str) -> bool:
        return sum(self._running.values()) < MAX_RUNNING and self._running.get(source, 0) < MAX_RUNNING_OF_ONE

    def _remove(self, source: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting[source]
        queue.remove(turn)
        if not queue:
            del self._waiting[source]

    def release(self, source: str) -> None:
        """Free a place; the next waiting address gets it.  O(waiting addresses)."""
        self._running[source] -= 1
        if not self._running[source]:
            del self._running[source]
        for waiting in list(self._waiting):
            if self._is_free(waiting):
                self._give(waiting)
                return

    def _give(self, source: str) -> None:
        """Give a place to the oldest query of an address, which then moves behind the other addresses."""
        queue = self._waiting.pop(source)
        turn = queue.popleft()
        if queue:
            self._waiting[source] = queue
        self._running[source] = self._running.get(source, 0) + 1
        turn.set_result(None)


def source_of(address: str) -> str:
    """Return the source of an address: itself, or its IPv6 network."""
    if ":" not in address:
        return address
    try:
        return str(ip_network((address.partition("%")[0], NETWORK_BITS), strict=False))
    except ValueError:
        return address
