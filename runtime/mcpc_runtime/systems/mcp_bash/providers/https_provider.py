"""Provider of web pages, and of the addresses of Git hosts, called in a thread.

A page is fetched only from an address that was checked, over a verified TLS connection; redirects are not followed, and
the timeout applies to the whole request.

Protection against SSRF: resolve a host, and refuse addresses that are not public.

Connections use the addresses that were checked here; no name is resolved twice.  Public networks are decided by the
tables here, because those of `ipaddress` differ between releases of Python.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from threading import Timer
from time import monotonic
from urllib.parse import urlsplit

from mcpc_runtime.systems.mcp_bash.providers.requests import (
    INVALID,
    TOO_LARGE,
    UNREACHABLE,
    GitRequest,
    HttpsRequest,
    NetworkRequest,
    ProviderResult,
    too_large_message,
)

CHUNK_SIZE = 1 << 16
DEFAULT_AGENT = "mcpc"
MAX_ERROR_LENGTH = 2000


class PinnedConnection(HTTPSConnection):
    """A connection to a checked address; the host's name is used only to verify its certificate."""

    def __init__(self, host: str, port: int, address: str, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address
        self.wire: ssl.SSLSocket | None = None
        self.is_cut = False

    def connect(self) -> None:
        """Connect to the address."""
        plain = socket.create_connection((self._address, self.port), self.timeout)
        context = ssl.create_default_context()
        # Without TLS's end of data a response without length could be truncated unnoticed.
        self.sock = self.wire = context.wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False, suppress_ragged_eofs=False
        )
        # `wire` is set before, so that the timer can end the handshake, too.
        self.wire.do_handshake()


def fetch_network(request: HttpsRequest | GitRequest) -> ProviderResult:
    """Return a page, or the addresses of a repository's host."""
    try:
        host, port, addresses = resolve_host(request)
        if isinstance(request, HttpsRequest):
            return fetch_page(request, host, port, addresses)
    except AddressRefusedError as problem:
        return ProviderResult(problem.status, message=str(problem))
    result = ProviderResult()
    result.addresses = addresses
    return result


def fetch_page(request: HttpsRequest, host: str, port: int, addresses: tuple[str, ...]) -> ProviderResult:
    """Return a page from the first address that answers."""
    last = monotonic() + request.seconds
    problem: Exception = TimeoutError("no answer in time")
    for address in addresses:
        rest = last - monotonic()
        if rest <= 0:
            break
        connection = PinnedConnection(host, port, address, rest)
        # A socket's timeout is for one operation: a host that sends byte by byte would never exceed it.
        timer = Timer(rest, abort_connection, (connection,))
        timer.daemon = True
        timer.start()
        try:
            result = request_page(request, connection)
            if not connection.is_cut:
                return result
        except (OSError, HTTPException, ValueError) as failure:
            problem = failure
        finally:
            timer.cancel()
            connection.close()
            if connection.wire is not None:
                connection.wire.close()
    is_late = monotonic() >= last
    message = f"took longer than {request.seconds:g} s" if is_late else f"{type(problem).__name__}: {problem}"
    return ProviderResult(UNREACHABLE, message=f"{host}: {message}"[:MAX_ERROR_LENGTH])


def abort_connection(connection: PinnedConnection) -> None:
    """Shut down a connection after its timeout."""
    connection.is_cut = True
    if connection.wire is not None:
        try:
            socket.socket.shutdown(connection.wire, socket.SHUT_RDWR)  # its own would take the cipher from the reader
        except OSError:
            return


def request_page(request: HttpsRequest, connection: PinnedConnection) -> ProviderResult:
    """Return the page, or why it cannot be read."""
    parts = urlsplit(request.uri)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", target, headers={"User-Agent": request.agent or DEFAULT_AGENT, "Accept": "*/*"})
    with connection.getresponse() as response:
        return read_response(request, response)


def read_response(request: HttpsRequest, response: HTTPResponse) -> ProviderResult:
    """Return the body of a successful response, or why it is refused."""
    if not 200 <= response.status < 300:
        also = ": redirects are not followed" if 300 <= response.status < 400 else ""
        return ProviderResult(UNREACHABLE, message=f"HTTP status {response.status}{also}")
    if response.length is not None and response.length > request.most:
        return ProviderResult(TOO_LARGE, message=too_large_message(request.most))
    data = bytearray()
    while piece := response.read1(CHUNK_SIZE):
        data += piece
        if len(data) > request.most:
            return ProviderResult(TOO_LARGE, message=too_large_message(request.most))
    # `read1` does not report a body that is shorter than its declared length.
    if response.length:
        return ProviderResult(UNREACHABLE, message="the response ended early")
    result = ProviderResult(data=bytes(data))
    result.mime = response.headers.get_content_type() if "Content-Type" in response.headers else ""
    return result


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


SPECIAL_4 = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "168.63.129.16/32",  # the host of a virtual machine in Azure
)
"""IANA's special-purpose IPv4 networks, and addresses of cloud platforms."""
NOT_PUBLIC_4 = tuple(map(ipaddress.IPv4Network, SPECIAL_4))
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
NOT_PUBLIC_6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
"""Within global unicast: addresses of protocols, such as Teredo, and of documentation."""
NAT64, SIX_TO_FOUR = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("2002::/16")
"""Networks whose addresses contain an IPv4 address: in the last 32 bits, and after the first 16."""
MAX_ADDRESSES = 8


class AddressRefusedError(Exception):
    """A request is refused; `status` is a provider's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def parse_authority(uri: str) -> tuple[str, int]:
    """Return host and port of a uri; raise AddressRefusedError for a uri without host, or with credentials."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError:
        raise AddressRefusedError(INVALID, "the uri names no host") from None
    if "@" in parts.netloc:
        raise AddressRefusedError(INVALID, "a URI with a user name or password is not allowed")
    # A percent sign begins an escape or the zone of an IPv6 address.
    if not host or "%" in host or not host.isascii() or not host.isprintable() or " " in host:
        raise AddressRefusedError(INVALID, "the uri names no host")
    return host.lower(), port


def resolve_host(request: NetworkRequest) -> tuple[str, int, tuple[str, ...]]:
    """Return host, port and addresses of an allowed request; raise AddressRefusedError."""
    host, port = parse_authority(request.uri.removeprefix("git+"))
    if host in request.denied or not (request.everywhere or host in request.allowed):
        raise AddressRefusedError(INVALID, f"blocked host {host}")
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        raise AddressRefusedError(UNREACHABLE, f"unknown host {host}") from None
    addresses = tuple(dict.fromkeys(str(row[4][0]) for row in rows))
    # A single address that is not public refuses the host, since any of them may be connected to.
    if not addresses or not all(map(is_public, addresses)):
        raise AddressRefusedError(INVALID, f"blocked host {host}")
    return host, port, addresses[:MAX_ADDRESSES]


def is_public(address: str) -> bool:
    """Tell whether an address, and an IPv4 address that it contains, is public."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.scope_id is not None:
            return False
        if parsed in NAT64:
            parsed = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        elif parsed in SIX_TO_FOUR:
            parsed = ipaddress.IPv4Address(int(parsed) >> 80 & 0xFFFFFFFF)
        else:
            return parsed in GLOBAL_UNICAST and not any(parsed in network for network in NOT_PUBLIC_6)
    return not any(parsed in network for network in NOT_PUBLIC_4)
