"""Protection against SSRF: resolve a host, and refuse addresses that are not public.

Connections use the addresses that were checked here; no name is resolved twice.  Public networks are decided by the
tables here, because those of `ipaddress` differ between releases of Python.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from mcpc_runtime.systems.mcp_bash.providers.requests import INVALID, UNREACHABLE, NetworkRequest

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
