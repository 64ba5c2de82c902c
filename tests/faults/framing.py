"""Sections H and X: bytes that are no request, or one that could be read in two ways, or too much of one."""

from __future__ import annotations

import contextlib
import time
from functools import partial
from typing import TYPE_CHECKING

from faults.client import STATELESS, Peak, require
from faults.forms import PYTHON
from faults.trial import Case, within
from support.talking import answer, connect, everything, head, request, said, status_of, text_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from faults.site import Site
    from faults.trial import Trial

over_http = partial(Case, forms=(PYTHON,), eras=(STATELESS,), http=True)
POST = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CHUNKED = POST + "Transfer-Encoding: chunked\r\n\r\n"
MEBIBYTE = 1 << 20
LENGTHS = {
    "two lengths": POST + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    "the same length twice": POST + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
    "both framings": POST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "length with a sign": POST + "Content-Length: +4\r\n\r\nabcd",
    "length in hexadecimal": POST + "Content-Length: 0x4\r\n\r\nabcd",
    "length as a list": POST + "Content-Length: 4,4\r\n\r\nabcd",
    "negative length": POST + "Content-Length: -1\r\n\r\n",
    "empty length": POST + "Content-Length:\r\n\r\n",
    "length of another alphabet": POST + "Content-Length: ٤\r\n\r\nabcd",
}
HEADS = {
    "carriage return in a value": POST + "X-A: a\rb\r\n\r\n",
    "line feed alone": POST.replace("\r\n", "\n") + "\n",
    "one line feed alone": POST + "X-A: b\nX-B: c\r\n\r\n",
    "NUL in a value": POST + "X-A: a\0b\r\n\r\n",
    "folded line": POST + "X-A: a\r\n b\r\n\r\n",
    "space before the colon": POST + "X-A : a\r\n\r\n",
    "no colon": POST + "nothing\r\n\r\n",
    "empty name": POST + ": a\r\n\r\n",
    "two codings": POST + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "coding twice": POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "unknown coding": POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "no host": "GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "target at odds with the host": "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


def serves(site: Site, seconds: float = 1.0) -> float:
    """Return how long an ordinary call takes; raise Fault if that is too long."""
    with connect(site) as connection:
        began = time.monotonic()
        connection.sendall(request("say", "Accept: application/json", text="still here"))
        status, _, body = answer(connection)
        require((status, text_of(body)) == (200, "[still here]"), status, body)
        return within(site, seconds, began)


def refused(rows: dict[str, str]) -> Callable[[Trial], None]:
    """Return a case: each of these is refused once, the connection ends, and the server goes on."""

    def run(trial: Trial) -> None:
        site = trial.shared()
        for name, text in rows.items():
            found = said(site, text.encode("utf-8" if "alphabet" in name else "latin-1"))
            require(status_of(found) == 400 and found.count(b"HTTP/1.1 ") == 1, name, found)
            require(b"\r\nconnection: close\r\n" in found, name, found)
        serves(site)
        trial.note = f"{len(rows)} requests"

    return run


def pour(connection: socket.socket, *parts: bytes) -> int:
    """Send until the server will have no more; return the status that it said."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for part in parts:
            connection.sendall(part)
    return status_of(everything(connection))


def large_body(trial: Trial) -> None:
    """64 MiB, with a length and in chunks: refused, and none of it kept."""
    site = trial.shared()
    peak = Peak(site.pid)
    block = b"x" * MEBIBYTE
    with connect(site) as connection:
        require(pour(connection, head("echo", 64 * MEBIBYTE), *[block] * 64) == 413, "with a length")
    with connect(site) as connection:
        require(pour(connection, CHUNKED.encode(), *[b"100000\r\n" + block + b"\r\n"] * 64) == 413, "in chunks")
    grown = peak.growth()
    require(grown <= 64, f"memory grew by {grown:.0f} MiB")
    trial.note = f"+{grown:.0f} MiB"
    serves(site)


CASES = (
    over_http("H11", "64 MiB body, with a length and in chunks: 413, RSS at most +64 MiB", large_body),
    over_http("X07", "heads that can be read in two ways: 400 and close", refused({**LENGTHS, **HEADS})),
)
