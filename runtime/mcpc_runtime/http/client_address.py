"""The address of a client: the other end of the connection, or what a trusted proxy reports.

A header is trusted only from a configured proxy, and only the part that such proxies wrote: the last entry of
X-Forwarded-For that is not a proxy itself.  Any client can write the entries before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from mcpc_runtime.http.replies import Client, Pairs

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


FORWARDED = b"x-forwarded-for"
LOCAL_ADDRESS = "127.0.0.1"
MAX_HOPS = 32


class ClientAddressFilter:
    """Allows requests by address; `allowed` and `proxies`, whose headers are believed, are networks."""

    __slots__ = ("_allowed", "_proxies")

    def __init__(self, allowed: Iterable[str], proxies: Iterable[str] = ()) -> None:
        self._allowed = parse_networks(allowed)
        self._proxies = parse_networks(proxies)

    def allows(self, client: Client, headers: Pairs) -> bool:
        """Tell whether the address of a client is allowed."""
        address = self.address(client, headers)
        return address is not None and is_within(address, self._allowed)

    def address(self, client: Client, headers: Pairs) -> Address | None:
        """Return the address that a request came from, None if it is unknown.

        Without a client the connection is one that only this machine has, such as a Unix socket.
        """
        peer = parse_address(LOCAL_ADDRESS if client is None or not client[0] else client[0])
        if peer is None or not is_within(peer, self._proxies):
            return peer
        forwarded = b",".join([value for name, value in headers if name.lower() == FORWARDED])
        hops = [hop.strip() for hop in forwarded.decode("latin-1").split(",") if hop.strip()]
        if len(hops) > MAX_HOPS:
            return None
        for hop in reversed(hops):
            peer = parse_address(hop)
            if peer is None or not is_within(peer, self._proxies):
                return peer
        return peer


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return the networks of texts; an address is a network of one."""
    return tuple(ip_network(text, strict=False) for text in texts)


def parse_address(text: str) -> Address | None:
    """Return an address, None if the text is not one; an IPv4 address mapped to IPv6 is returned as IPv4."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_within(address: Address, networks: Iterable[Network]) -> bool:
    """Tell whether an address is in one of the networks."""
    return any(address.version == network.version and address in network for network in networks)
