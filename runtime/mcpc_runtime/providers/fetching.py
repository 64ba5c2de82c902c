"""What is brought over the network, by a thread that may wait: a page, and where a repository's host is.

Its law: a page comes from an address that was looked at, over a connection that says who it is; no redirect is
followed; and however slowly it comes, it is over when its time is.
"""

from __future__ import annotations

import socket
import ssl
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from threading import Timer
from time import monotonic
from urllib.parse import urlsplit

from mcpc_runtime.providers.addresses import RefusedError, found
from mcpc_runtime.providers.wanted import TOO_LARGE, UNREACHABLE, Brought, Page, Repository, too_large

PIECE = 1 << 16
AGENT = "mcpc"
LONGEST_WORDS = 2000


class Pinned(HTTPSConnection):
    """A connection to an address that was looked at; the host's name is only what it has to prove."""

    def __init__(self, host: str, port: int, address: str, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address
        self.wire: ssl.SSLSocket | None = None
        self.is_cut = False

    def connect(self) -> None:
        """Connect to the address."""
        plain = socket.create_connection((self._address, self.port), self.timeout)
        context = ssl.create_default_context()
        # An end that nobody signed is no end: what has no length would else be whole wherever it was cut.
        self.sock = self.wire = context.wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False, suppress_ragged_eofs=False
        )
        self.wire.do_handshake()


def network(asked: Page | Repository) -> Brought:
    """Return a page, or the addresses of a repository's host."""
    try:
        host, port, addresses = found(asked)
        if isinstance(asked, Page):
            return fetched(asked, host, port, addresses)
    except RefusedError as problem:
        return Brought(problem.status, words=str(problem))
    brought = Brought()
    brought.addresses = addresses
    return brought


def fetched(asked: Page, host: str, port: int, addresses: tuple[str, ...]) -> Brought:
    """Return a page from the first of these addresses that answers."""
    last = monotonic() + asked.seconds
    problem: Exception = TimeoutError("it did not answer in time")
    for address in addresses:
        rest = last - monotonic()
        if rest <= 0:
            break
        connection = Pinned(host, port, address, rest)
        timer = Timer(rest, cut, (connection,))
        timer.daemon = True
        timer.start()
        try:
            brought = answer(asked, connection)
            if not connection.is_cut:
                return brought
        except (OSError, HTTPException, ValueError) as failure:
            problem = failure
        finally:
            timer.cancel()
            connection.close()
            if connection.wire is not None:
                connection.wire.close()
    over = monotonic() >= last
    words = f"it took more than {asked.seconds:g} s" if over else f"{type(problem).__name__}: {problem}"
    return Brought(UNREACHABLE, words=f"{host}: {words}"[:LONGEST_WORDS])


def cut(connection: Pinned) -> None:
    """End a connection whose time is over, whoever waits for it."""
    connection.is_cut = True
    if connection.wire is not None:
        try:
            socket.socket.shutdown(connection.wire, socket.SHUT_RDWR)  # its own would take the cipher from the reader
        except OSError:
            return


def answer(asked: Page, connection: Pinned) -> Brought:
    """Return what is there, or why it is not."""
    parts = urlsplit(asked.uri)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", target, headers={"User-Agent": asked.agent or AGENT, "Accept": "*/*"})
    with connection.getresponse() as response:
        return content(asked, response)


def content(asked: Page, response: HTTPResponse) -> Brought:
    """Return what an answer has, if it is a good one."""
    if not 200 <= response.status < 300:
        also = ": redirects are not followed" if 300 <= response.status < 400 else ""
        return Brought(UNREACHABLE, words=f"HTTP status {response.status}{also}")
    if response.length is not None and response.length > asked.most:
        return Brought(TOO_LARGE, words=too_large(asked.most))
    data = bytearray()
    while piece := response.read1(PIECE):
        data += piece
        if len(data) > asked.most:
            return Brought(TOO_LARGE, words=too_large(asked.most))
    if response.length:
        return Brought(UNREACHABLE, words="it ended before it was complete")
    brought = Brought(data=bytes(data))
    brought.mime = response.headers.get_content_type() if "Content-Type" in response.headers else ""
    return brought
