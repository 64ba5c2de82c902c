"""The address of a client: the other end of the connection, or what a trusted proxy reports.

A header is believed only from an address that was named as a proxy, and only as far as such addresses wrote it: the
last entry of X-Forwarded-For that none of them is.  Anybody can write the others.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    from mcpc_runtime.http.replies import Client, Pairs

    Address = IPv4Address | IPv6Address
    Network = IPv4Network | IPv6Network

FORWARDED = b"x-forwarded-for"
HERE = "127.0.0.1"
MAX_HOPS = 32


class ClientAddressFilter:
    """Allows requests by address; `allowed` and `proxies`, whose headers are believed, are networks."""

    __slots__ = ("_allowed", "_proxies")

    def __init__(self, allowed: Iterable[str], proxies: Iterable[str] = ()) -> None:
        self._allowed = networks(allowed)
        self._proxies = networks(proxies)

    def allows(self, client: Client, headers: Pairs) -> bool:
        """Tell whether a client may send requests."""
        address = self.address(client, headers)
        return address is not None and within(address, self._allowed)

    def address(self, client: Client, headers: Pairs) -> Address | None:
        """Return the address that a request came from, None if it is unknown.

        Without a client the connection is one that only this machine has, such as a Unix socket.
        """
        peer = parsed(HERE if client is None or not client[0] else client[0])
        if peer is None or not within(peer, self._proxies):
            return peer
        forwarded = b",".join([value for name, value in headers if name.lower() == FORWARDED])
        hops = [hop.strip() for hop in forwarded.decode("latin-1").split(",") if hop.strip()]
        if len(hops) > MAX_HOPS:
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
    """Return an address, None for a text that is not one; of an IPv4 address in an IPv6 one the former."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def within(address: Address, known: Iterable[Network]) -> bool:
    """Tell whether an address is in one of the networks."""
    return any(address.version == one.version and address in one for one in known)
