"""Where a host is, and whether it may be asked: nothing that only machines near this one can reach is.

Its law: what is connected to is an address that was looked at here; no name is resolved a second time.
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

NAT64 = ipaddress.ip_network("64:ff9b::/96")
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
    return all(each.is_global and not each.is_multicast for each in (one, *within(one)))


def within(one: Address) -> list[Address]:
    """Return the addresses of version 4 that one of version 6 leads to."""
    if isinstance(one, ipaddress.IPv4Address):
        return []
    inner: list[Address | None] = [one.ipv4_mapped, one.sixtofour, *(one.teredo or ())]
    if one in NAT64 or int(one) >> 32 == 0:
        inner.append(ipaddress.IPv4Address(int(one) & 0xFFFFFFFF))
    return [each for each in inner if each is not None]
