"""Where a host is, and whether it may be asked: nothing that only machines near this one can reach is.

Its law: what is connected to is an address that was looked at here; no name is resolved a second time.  Which networks
are public is decided by tables here, because those of `ipaddress` differ from one release of Python to the next.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from mcpc_runtime.providers.wanted import INVALID, UNREACHABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.providers.wanted import Place

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
"""IANA's special-purpose addresses of version 4, and what clouds answer at beside them."""
NOT_PUBLIC_4 = tuple(map(ipaddress.IPv4Network, SPECIAL_4))
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
NOT_PUBLIC_6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
"""Within global unicast: protocols' own addresses, Teredo's among them, and those of documentation."""
NAT64, SIX_TO_FOUR = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("2002::/16")
"""Networks whose addresses stand for one of version 4: in their last 32 bits, and after the first 16."""
MOST_ADDRESSES = 8


class RefusedError(Exception):
    """It is not asked for; `status` is a provider's."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def authority(uri: str) -> tuple[str, int]:
    """Return the host and the port of a uri; raise RefusedError for what has none, or says who asks."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError:
        raise RefusedError(INVALID, "the uri names no host") from None
    if "@" in parts.netloc:
        raise RefusedError(INVALID, "a uri with a user's name or password is refused")
    if not host or "%" in host or not host.isascii() or not host.isprintable() or " " in host:
        raise RefusedError(INVALID, "the uri names no host")
    return host.lower(), port


def found(place: Place) -> tuple[str, int, tuple[str, ...]]:
    """Return host, port and addresses of what may be asked; raise RefusedError."""
    host, port = authority(place.uri.removeprefix("git+"))
    if host in place.denied or not (place.everywhere or host in place.allowed):
        raise RefusedError(INVALID, f"blocked host {host}")
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        raise RefusedError(UNREACHABLE, f"{host} is not known") from None
    addresses = tuple(dict.fromkeys(str(row[4][0]) for row in rows))
    if not addresses or not all(map(is_public, addresses)):
        raise RefusedError(INVALID, f"blocked host {host}")
    return host, port, addresses[:MOST_ADDRESSES]


def is_public(address: str) -> bool:
    """Tell whether anybody could reach this address, and all those that it stands for."""
    try:
        one = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(one, ipaddress.IPv6Address):
        if one.scope_id is not None:
            return False
        if one in NAT64:
            one = ipaddress.IPv4Address(int(one) & 0xFFFFFFFF)
        elif one in SIX_TO_FOUR:
            one = ipaddress.IPv4Address(int(one) >> 80 & 0xFFFFFFFF)
        else:
            return one in GLOBAL_UNICAST and not any(one in network for network in NOT_PUBLIC_6)
    return not any(one in network for network in NOT_PUBLIC_4)
