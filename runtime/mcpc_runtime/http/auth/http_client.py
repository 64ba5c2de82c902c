"""An HTTP client for requests to the authorization server: keys, metadata, introspection.

Rule: only https, or http to this machine; no redirect to another host; limits of bytes and of time.  Each request has
its own thread, so that the event loop does not wait.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from http.client import HTTPException
from time import monotonic
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mcpc_runtime.http.principals import MisconfiguredError, UnavailableError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MAX_BYTES = 1 << 20
SECONDS = 5.0
MAX_REQUESTS = 16
AGENT = "mcpc"


class OpenFetches:
    """The number of open requests of this process."""

    count = 0


class SameOrigin(HTTPRedirectHandler):
    """Follows a redirect only to the same host, and only of a request without a body."""

    max_redirections = 3

    def redirect_request(self, req: Request, *arguments: Any) -> Request | None:
        """Return the request to send instead, None if the redirect is not followed, which makes it an error."""
        if req.data is not None or origin(arguments[-1]) != origin(req.full_url):
            return None
        return super().redirect_request(req, *arguments)


opener = build_opener(SameOrigin)


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return the scheme, host and port of a URL."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port or {"https": 443, "http": 80}.get(parts.scheme)


def checked_url(url: str, what: str) -> str:
    """Return a URL if it may be fetched; raise MisconfiguredError."""
    scheme, host, port = origin(url)
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(' "\\<>#') and "@" not in urlsplit(url).netloc
    if not is_plain or not host or port is None:
        raise MisconfiguredError(f"{what}: {url!r} is not a URL that can be fetched")
    if scheme != "https" and not (scheme == "http" and host in LOOPBACK):
        raise MisconfiguredError(f"{what}: {url!r} is not https")
    return url


async def fetch(url: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the response body of a GET, or of a POST of `data`; raise UnavailableError."""
    if OpenFetches.count >= MAX_REQUESTS:
        raise UnavailableError("too many requests to the authorization server are open")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    def complete(body: bytes | None) -> None:
        OpenFetches.count -= 1
        if answer.done():
            return
        if body is None:
            answer.set_exception(UnavailableError("the authorization server did not answer"))
        else:
            answer.set_result(body)

    def run() -> None:
        body = fetch_body(url, data, headers or {})
        try:
            loop.call_soon_threadsafe(complete, body)
        except RuntimeError:  # the loop has ended, and its requests with it
            OpenFetches.count -= 1

    OpenFetches.count += 1
    threading.Thread(target=run, name="mcpc-fetch", daemon=True).start()
    try:
        # The thread's own limits are for each wait and for the body: together they may take longer than one of them.
        return await asyncio.wait_for(answer, 2 * SECONDS)
    except TimeoutError:
        raise UnavailableError("the authorization server did not answer in time") from None


def fetch_body(url: str, data: bytes | None, headers: Mapping[str, str]) -> bytes | None:
    """Return the body of a response with status 200, None for any other or an error; blocks."""
    request = Request(url, data, {"Accept": "application/json", "User-Agent": AGENT, **headers})
    last = monotonic() + SECONDS
    body = b""
    try:
        with opener.open(request, timeout=SECONDS) as response:
            if response.status != 200:
                return None
            while piece := response.read1(65536):
                body += piece
                if len(body) > MAX_BYTES or monotonic() > last:
                    return None
            # `read1` does not report a connection that ends early.
            if response.length:  # it ended before it was complete
                return None
    except (OSError, URLError, HTTPException, ValueError):
        return None
    return body
