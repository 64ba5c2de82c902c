"""Who asks, by address: the one at the other end of the connection, or the one that a proxy of ours tells of.

A header is believed only from an address that was named as a proxy, and only as far as such addresses wrote it: the
last entry of X-Forwarded-For that none of them is.  Anybody can write the others.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
    from typing import Any

    Address = IPv4Address | IPv6Address
    Network = IPv4Network | IPv6Network

FORWARDED = b"x-forwarded-for"
HERE = "127.0.0.1"
MOST_HOPS = 32


class Peers:
    """Decides by address: `allowed` are those who may ask, `proxies` those who are believed; both networks."""

    __slots__ = ("_allowed", "_proxies")

    def __init__(self, allowed: Iterable[str], proxies: Iterable[str] = ()) -> None:
        self._allowed = networks(allowed)
        self._proxies = networks(proxies)

    def lets_in(self, scope: Any) -> bool:
        """Tell whether who sent a request may ask; without an address it came by a way that only this machine has."""
        address = self.address(scope)
        return address is not None and within(address, self._allowed)

    def address(self, scope: Any) -> Address | None:
        """Return who sent a request, None if nobody can tell."""
        client = scope.get("client")
        peer = parsed(HERE if client is None or not client[0] else client[0])
        if peer is None or not within(peer, self._proxies):
            return peer
        told = b",".join([value for name, value in scope["headers"] if name.lower() == FORWARDED])
        hops = [one.strip() for one in told.decode("latin-1").split(",") if one.strip()]
        if len(hops) > MOST_HOPS:
            return None
        for hop in reversed(hops):
            peer = parsed(hop)
            if peer is None or not within(peer, self._proxies):
                return peer
        return peer


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks."""
    return tuple(ip_network(text, strict=False) for text in texts)


def parsed(text: str) -> Address | None:
    """Return an address, None if it is none; of an IPv4 address in an IPv6 one the former."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def within(address: Address, known: Iterable[Network]) -> bool:
    """Tell whether an address is in one of the networks."""
    return any(address.version == one.version and address in one for one in known)
