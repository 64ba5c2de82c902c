"""An HTTP client for requests to the authorization server: keys, metadata, introspection.

Rule: only over https (or to this machine itself), never from another place than the one that was asked, never more
than some bytes, and never longer than some seconds.  It waits in a thread of its own, so that nothing else does.
"""

from __future__ import annotations

import asyncio
import threading
from http.client import HTTPException
from time import monotonic
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mcpc_runtime.http.auth.principals import MisconfiguredError, UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MAX_BYTES = 1 << 20
SECONDS = 5.0
MAX_REQUESTS = 16
AGENT = "mcpc"


class OpenFetches:
    """How many fetches are under way in this process."""

    count = 0


class SameOrigin(HTTPRedirectHandler):
    """Follows a redirect only where it stays on the same host, and only for what has no body."""

    max_redirections = 3

    def redirect_request(self, req: Request, *given: Any) -> Request | None:
        """Return the request to make instead, None for none: the redirect is then the answer, and no good one."""
        if req.data is not None or origin(given[-1]) != origin(req.full_url):
            return None
        return super().redirect_request(req, *given)


opener = build_opener(SameOrigin)


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return where a URL is served: its scheme, host and port."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port or {"https": 443, "http": 80}.get(parts.scheme)


def checked_url(url: str, what: str) -> str:
    """Return a URL that may be fetched from; raise MisconfiguredError."""
    scheme, host, port = origin(url)
    plain = url.isascii() and url.isprintable() and not set(url) & set(' "\\<>#') and "@" not in urlsplit(url).netloc
    if not plain or not host or port is None:
        raise MisconfiguredError(f"{what}: {url!r} is not a URL that can be fetched")
    if scheme != "https" and not (scheme == "http" and host in LOOPBACK):
        raise MisconfiguredError(f"{what}: {url!r} is not https")
    return url


async def fetch(url: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return what is there; raise UnavailableError."""
    if OpenFetches.count >= MAX_REQUESTS:
        raise UnavailableError("too many requests to the authorization server are open")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    def settle(body: bytes | None) -> None:
        OpenFetches.count -= 1
        if answer.done():
            return
        if body is None:
            answer.set_exception(UnavailableError("the authorization server did not answer"))
        else:
            answer.set_result(body)

    def run() -> None:
        body = fetched(url, data, headers or {})
        try:
            loop.call_soon_threadsafe(settle, body)
        except RuntimeError:  # the loop has ended, and with it whoever wanted to know
            OpenFetches.count -= 1

    OpenFetches.count += 1
    threading.Thread(target=run, name="mcpc-fetch", daemon=True).start()
    try:
        return await asyncio.wait_for(answer, 2 * SECONDS)
    except TimeoutError:
        raise UnavailableError("the authorization server did not answer in time") from None


def fetched(url: str, data: bytes | None, headers: Mapping[str, str]) -> bytes | None:
    """Return what is there, None if that is not a good answer."""
    asked = Request(url, data, {"Accept": "application/json", "User-Agent": AGENT, **headers})
    last = monotonic() + SECONDS
    body = b""
    try:
        with opener.open(asked, timeout=SECONDS) as response:
            if response.status != 200:
                return None
            while piece := response.read1(65536):
                body += piece
                if len(body) > MAX_BYTES or monotonic() > last:
                    return None
            if response.length:  # it ended before it was complete
                return None
    except (OSError, URLError, HTTPException, ValueError):
        return None
    return body
