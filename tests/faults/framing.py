"""Sections H and X: bytes that are no request, or one that could be read in two ways, or too much of one."""

import contextlib
import gzip
import random
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from faults.client import STATELESS, Peak, require
from faults.forms import PYTHON
from faults.site import Site
from faults.trial import Case, Trial, within
from support.knocks import ECHO, LADDER, NAMES, mirrors, stateless
from support.talking import answer, call, connect, everything, head, request, said, status_of, text_of

over_http = partial(Case, forms=(PYTHON,), eras=(STATELESS,), http=True)
POST = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CHUNKED = POST + "Transfer-Encoding: chunked\r\n\r\n"
MEBIBYTE = 1 << 20
RANDOM = 200
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
CHUNKS = {
    "chunk size that is no number": CHUNKED + "xyz\r\n\r\n",
    "chunk size of 2^64": CHUNKED + "10000000000000000\r\nabc",
    "negative chunk": CHUNKED + "-1\r\n\r\n",
    "chunk without its end": CHUNKED + "3\r\nabcdef\r\n0\r\n\r\n",
    "trailers": CHUNKED + "2\r\n{}\r\n0\r\nX-A: b\r\n\r\n",
    "chunk extension of a megabyte": CHUNKED + f"3;{'x' * MEBIBYTE}\r\nabc\r\n0\r\n\r\n",
}
NO_REQUESTS = {"HTTP/0.9": "GET /healthz\r\n", "TLS hello": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"}
HEADS = {
    "carriage return in a value": POST + "X-A: a\rb\r\n\r\n", "line feed alone": POST.replace("\r\n", "\n") + "\n",
    "one line feed alone": POST + "X-A: b\nX-B: c\r\n\r\n", "NUL in a value": POST + "X-A: a\0b\r\n\r\n",
    "folded line": POST + "X-A: a\r\n b\r\n\r\n", "space before the colon": POST + "X-A : a\r\n\r\n",
    "no colon": POST + "nothing\r\n\r\n", "empty name": POST + ": a\r\n\r\n",
    "two codings": POST + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "coding twice": POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "unknown coding": POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "no host": "GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "target at odds with the host": "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
}  # fmt: skip


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


def large_head(trial: Trial) -> None:
    site = trial.shared()
    peak = Peak(site.pid)
    with connect(site) as connection:
        require(pour(connection, POST.encode(), b"X-A: " + b"a" * MEBIBYTE + b"\r\n\r\n") == 431, "a header of 1 MiB")
    require(status_of(said(site, POST.encode() + b"X-A: b\r\n" * 101 + b"\r\n")) == 431, "101 headers")
    line = b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    require(status_of(said(site, line)) == 431, "a long first line")
    require(peak.growth() < 8, "it was kept")
    serves(site)


def cut_short(trial: Trial) -> None:
    site = trial.shared()
    whole = request("echo", text="x" * 1000)
    for part in (
        *(whole[:length] for length in (1, 20, len(whole) - 1000, len(whole) - 1)),
        (CHUNKED + "100\r\nabc").encode(),
    ):
        with connect(site) as connection:
            connection.sendall(part)
    serves(site)


def random_bytes(trial: Trial) -> None:
    refused(NO_REQUESTS)(trial)
    site = trial.shared()
    chance = random.Random(18)
    for _ in range(RANDOM):
        with connect(site) as connection:
            connection.sendall(chance.randbytes(chance.randrange(1, 2000)))
            connection.shutdown(socket.SHUT_WR)
            everything(connection)
    serves(site)


def pipelined(trial: Trial) -> None:
    """The last of the ten is in chunks, which ends the connection; then one request a byte at a time."""
    site = trial.shared()
    body = call("say", text="9")
    last = head("say", 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    last += b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    found = said(site, b"".join(request("say", text=str(number)) for number in range(9)) + last)
    texts = [text_of(one.partition(b"\r\n\r\n")[2]) for one in found.split(b"HTTP/1.1 200 OK\r\n")[1:]]
    require(texts == [f"[{number}]" for number in range(10)], texts)
    with connect(site) as connection:
        for byte in request("say", text="slowly"):
            connection.sendall(bytes((byte,)))
        require(text_of(answer(connection)[2]) == "[slowly]", "byte by byte")


def ladder(trial: Trial) -> None:
    """What headers repeat is held against the body, in the specification's order, each error with its status."""
    site = trial.shared()
    for what, body, headers, status, number in LADDER:
        found = site.knock(body, *mirrors("tools/list"), *headers)
        require((found.status, found.code) == (status, number), what, "was", found.status, found.body)
        require("mcp-session-id" not in found.headers, what)
        supported = found.message.get("error", {}).get("data", {}).get("supported")
        require(number != -32022 or supported == ["2026-07-28"], what, found.body)
    for name, status in NAMES:
        found = site.knock(stateless("tools/call", ECHO), *mirrors("tools/call", ECHO), ("mcp-name", name))
        expected = (status, 0 if status == 200 else -32020)
        require((found.status, found.code) == expected, name, "was", found.status, found.body)
    trial.note = f"{len(LADDER) + len(NAMES)} requests"


def standard(trial: Trial) -> None:
    """100-continue, HEAD, HTTP/1.0, HTTP/2, an absolute target, and a page that asks whether it may call."""
    site = trial.shared()
    close = b"Host: localhost\r\nConnection: close\r\n"
    with connect(site) as connection:
        body = call("say", text="expected")
        connection.sendall(head("say", len(body), "Expect: 100-continue"))
        require(connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n", "no 100 Continue")
        connection.sendall(body)
        require(text_of(answer(connection)[2]) == "[expected]", "after 100 Continue")
        connection.sendall(
            b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n" + close + b"\r\n"
        )
        both = everything(connection)
        require(both.count(b"HTTP/1.1 200 OK") == 2 and both.count(b"ok\n") == 1, "HEAD and GET:", both)
    old = b"GET /healthz HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"
    require(status_of(said(site, old)) == 200, "HTTP/1.0")
    preflight = said(site, b"OPTIONS /mcp HTTP/1.1\r\nOrigin: http://evil.example\r\n" + close + b"\r\n")
    require(status_of(preflight) == 403 and b"access-control" not in preflight.lower(), preflight)
    require(status_of(said(site, b"GET http://localhost/healthz HTTP/1.1\r\n" + close + b"\r\n")) == 200, "absolute")
    require(status_of(said(site, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) == 505, "HTTP/2")
    require(status_of(said(site, POST.encode() + b"Expect: a miracle\r\n\r\n")) == 417, "a miracle")


def coded(trial: Trial) -> None:
    """Bodies in any coding, among them one that would be a thousand times as long: none is looked into."""
    site = trial.shared()
    bomb = gzip.compress(b" " * (16 * MEBIBYTE))
    peak = Peak(site.pid)
    usual: tuple[Any, ...] = (stateless("tools/list"), *mirrors("tools/list"))
    for coding in ("gzip", "br", "zstd", "deflate", "gzip, identity", "GZIP", "x"):
        for body in (usual[0], bomb):
            found = site.knock(body, *usual[1:], ("content-encoding", coding))
            require(found.status == 415, coding, "was", found.status)
            require(found.headers["accept-encoding"] == "identity", found.headers)
    require(peak.growth() < 8, "it was looked into")
    require(site.knock(bomb, *usual[1:]).code == -32700, "a bomb without its name")


CASES = (
    over_http("H11", "64 MiB body, with a length and in chunks: 413, RSS at most +64 MiB", large_body),
    over_http("H12", "1 MiB header, 101 headers, a long first line: 431, connection dropped", large_head),
    over_http("H15", "two different Content-Length, and lengths that are none: 400", refused(LENGTHS)),
    over_http("H16", "bad chunks: 400", refused(CHUNKS)),
    over_http("H17", "body cut short, then close: no crash", cut_short),
    over_http("H18", f"HTTP/0.9, TLS hello, random bytes ({RANDOM} times): closed, no crash", random_bytes),
    over_http("H19", "10 pipelined requests in one write: 10 answers", pipelined),
    over_http("X06", "headers and body at odds, in the order of the ladder", ladder),
    over_http("X07", "heads that can be read in two ways: 400 and close", refused(HEADS)),
    over_http("X08", "100-continue, HEAD, preflight, HTTP/1.0, HTTP/2: the standard answer", standard),
    over_http("X12", "gzip, br, zstd, a bomb: 415", coded),
)
