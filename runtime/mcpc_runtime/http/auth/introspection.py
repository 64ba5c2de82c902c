"""Token introspection (RFC 7662): the authorization server verifies each token, and the result is cached.

Rule: concurrent requests with one token share one query; the cache has digests only; a token is not refused because the
authorization server is unavailable; and no number of bad tokens delays a good one, or evicts it from the cache.

Limits of concurrent introspection requests for unknown tokens, in all and by client address.

Any client can send unknown tokens, and each of them costs a query.  So addresses take turns, each has few running and
few waiting queries, and some places are reserved for tokens that were accepted before.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import deque
from collections.abc import Awaitable, Callable
from hashlib import sha256
from ipaddress import ip_network
from time import time
from typing import TypeVar
from urllib.parse import quote_plus, urlencode

from mcpc_runtime.http.auth.http_client import checked_url, fetch
from mcpc_runtime.http.auth.token_claims import Claims, check_audience, check_times, timestamp
from mcpc_runtime.http.principals import InvalidTokenError, MisconfiguredError, UnavailableError
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

Cached = TypeVar("Cached")


CACHE_SECONDS = 60.0
CACHE_REFUSED_SECONDS = 5.0
MAX_CACHED = 4096
UNKNOWN = "unknown"
"""The source of a token whose client has no address, as over a Unix socket."""


class Introspection:
    """Verifies tokens by queries to the authorization server."""

    def __init__(self, issuer: str, url: str, client: str, now: Callable[[], float] = time) -> None:
        name, colon, secret = client.strip().partition(":")
        if not colon or not name or not secret:
            raise MisconfiguredError("the introspection client is not written ID:SECRET")
        self._url = checked_url(url, "the introspection endpoint")
        self._issuer = issuer
        self._now = now
        # The parts are encoded as in a form before they are joined (RFC 6749, section 2.3.1).
        pair = f"{quote_plus(name)}:{quote_plus(secret)}".encode()
        self._headers = {
            "Authorization": f"Basic {b64encode(pair).decode()}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self._accepted: dict[bytes, tuple[float, Claims]] = {}
        self._refused: dict[bytes, float] = {}
        self._limits = IntrospectionLimits()
        self._pending: dict[bytes, asyncio.Future[Claims | None]] = {}

    def verify(
        self, token: str, audiences: frozenset[str], source: Callable[[], str] = str
    ) -> Claims | Awaitable[Claims]:
        """Return the claims of a token; raise InvalidTokenError or UnavailableError.

        `source`: returns the address of its sender.
        """
        digest = sha256(token.encode("ascii")).digest()
        until, claims = self._accepted.get(digest, (0.0, None))
        if until > self._now():
            return self._checked_claims(claims, audiences)
        if self._refused.get(digest, 0.0) > self._now():
            return self._checked_claims(None, audiences)
        return self._query_once(digest, token, audiences, "" if claims else source_of(source()) or UNKNOWN)

    async def _query_once(self, digest: bytes, token: str, audiences: frozenset[str], source: str) -> Claims:
        pending = self._pending.get(digest)
        if pending is None:
            pending = self._pending[digest] = asyncio.ensure_future(self._query_in_turn(digest, token, source))
            pending.add_done_callback(lambda done: self._forget_pending(digest, done))
        # Shielded: others may wait for the same query when this request is cancelled.
        return self._checked_claims(await asyncio.shield(pending), audiences)

    def _forget_pending(self, digest: bytes, done: asyncio.Future[Claims | None]) -> None:
        self._pending.pop(digest, None)
        if not done.cancelled():
            done.exception()  # mark it as retrieved: the request may have been cancelled

    async def _query_in_turn(self, digest: bytes, token: str, source: str) -> Claims | None:
        """Query a token in its sender's turn; one that was accepted before has no source, and needs no turn."""
        if not source:
            return await self._query(digest, token)
        await self._limits.acquire(source)
        try:
            return await self._query(digest, token)
        finally:
            self._limits.release(source)

    async def _query(self, digest: bytes, token: str) -> Claims | None:
        """Query a token; return its claims, None if it is not active."""
        form = urlencode({"token": token, "token_type_hint": "access_token"}).encode()
        try:
            response = parse(await fetch(self._url, form, self._headers))
        except ParseError:
            raise UnavailableError("the authorization server's answer is not JSON") from None
        if type(response) is not dict or type(response.get("active")) is not bool:
            raise UnavailableError("the authorization server's answer does not say whether the token is active")
        claims = response if response["active"] else None
        self._cache(digest, claims)
        return claims

    def _cache(self, digest: bytes, claims: Claims | None) -> None:
        """Cache the result for a token; refused tokens have their own cache, so that they displace no accepted one."""
        # Removed first, so that it is the newest entry again.
        self._accepted.pop(digest, None)
        self._refused.pop(digest, None)
        if claims is None:
            make_room(self._refused)
            self._refused[digest] = self._now() + CACHE_REFUSED_SECONDS
            return
        make_room(self._accepted)
        until, ends = self._now() + CACHE_SECONDS, timestamp(claims.get("exp"))
        self._accepted[digest] = until if ends is None else min(until, ends), claims

    def _checked_claims(self, claims: Claims | None, audiences: frozenset[str]) -> Claims:
        if claims is None:
            raise InvalidTokenError("the token is not active")
        if claims.get("iss", self._issuer) != self._issuer:
            raise InvalidTokenError("the token is of another issuer")
        check_times(claims, self._now())
        check_audience(claims, audiences)
        return claims


def make_room(cache: dict[bytes, Cached]) -> None:
    """Remove the oldest entries until there is room for one more."""
    while len(cache) >= MAX_CACHED:
        del cache[next(iter(cache))]


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
        # `wait` leaves the future as it is when the time is over; `wait_for` would cancel one that is given a place
        # just then.
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
