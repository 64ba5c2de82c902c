"""Validation of Host and Origin against DNS rebinding; both are parsed as RFC 3986 says and compared exactly.

Rule: a Host is accepted if it is configured, or is a loopback name.  A server without tokens is for this machine only:
it refuses requests that a proxy forwarded, unless the proxy is configured.

The address of a client: the other end of the connection, or what a trusted proxy reports.

A header is trusted only from a configured proxy, and only the part that such proxies wrote: the last entry of
X-Forwarded-For that is not a proxy itself.  Any client can write the entries before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from mcpc_runtime.http.replies import Client, Pairs
from mcpc_runtime.http.settings import HttpSettings

Authority = tuple[str, int | None]


LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
# An IPv6 address in brackets, or labels of up to 63 characters with dots between them; then perhaps a port.
AUTHORITY = re.compile(
    r"(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9][a-z0-9_-]{0,62})*)(?::(?P<port>[0-9]{1,5}))?"
)
NUMBERS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_CACHED = 256
MISDIRECTED, FORBIDDEN, BAD = 421, 403, 400
PROXY_HEADERS = (b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip")
"""Headers that a proxy adds: the request comes from another machine than the connection."""
PROXIED = (
    "a proxy forwarded this request, and no token is needed here: start the server with --token-file or --issuer, "
    "or with --trust-proxy or --open if everybody who reaches the proxy may call"
)


class OriginCheck:
    """Checks Host and Origin; pairs that passed are cached, within bounds."""

    def __init__(self, settings: HttpSettings) -> None:
        self._is_direct = settings.authenticator is None and not settings.open and not settings.proxies
        self._is_loopback = settings.is_loopback
        hosts = [*settings.hosts, host_header(settings.host)]
        if settings.url:
            hosts.append(settings.url.partition("://")[2].partition("/")[0])
        self._hosts = frozenset(host for host in map(parse_authority, hosts) if host is not None)
        self.origins = frozenset(settings.origins)
        self._origins = frozenset(origin for origin in map(parse_origin, settings.origins) if origin is not None)
        self._accepted: set[tuple[bytes, bytes | None]] = set()

    def check(self, headers: dict[bytes, bytes]) -> tuple[int, str]:
        """Return the status and the reason of a refusal; the status is 0 for a request that is accepted."""
        if self._is_direct and not headers.keys().isdisjoint(PROXY_HEADERS):
            return FORBIDDEN, PROXIED
        return self._check_names(headers)

    def _check_names(self, headers: dict[bytes, bytes]) -> tuple[int, str]:
        host, came_from = headers.get(b"host"), headers.get(b"origin")
        if host is None:
            return BAD, "missing Host header"
        if (host, came_from) in self._accepted:
            return 0, ""
        authority = parse_authority(host.decode("latin-1").lower())
        if authority is None:
            return BAD, "malformed Host header"
        if not self._is_allowed_host(authority):
            return MISDIRECTED, "Host not allowed (see --allow-host)"
        if came_from is not None and not self._is_allowed_origin(came_from, authority):
            return FORBIDDEN, "Origin not allowed (see --allow-origin)"
        # When it is full, pairs that are not in it are checked each time: no client can displace those in use.
        if len(self._accepted) < MAX_CACHED:
            self._accepted.add((host, came_from))
        return 0, ""

    def _is_allowed_host(self, authority: Authority) -> bool:
        name, port = authority
        if (name, port) in self._hosts or (name, None) in self._hosts:
            return True
        if name in LOOPBACK:
            return True
        # an address cannot be rebound by DNS; a server not on loopback accepts any of its addresses
        return not self._is_loopback and (name.startswith("[") or NUMBERS.fullmatch(name) is not None)

    def _is_allowed_origin(self, header: bytes, authority: Authority) -> bool:
        origin = parse_origin(header.decode("latin-1").lower())
        if origin is None:
            return False
        scheme, name, port = origin
        if origin in self._origins or (self._is_loopback and name in LOOPBACK):
            return True
        own_port = DEFAULT_PORTS[scheme] if authority[1] is None else authority[1]
        return authority[0] not in LOOPBACK and (name, port) == (authority[0], own_port)

    def shares_with(self, headers: dict[bytes, bytes]) -> bytes:
        """Return the origin of a request if it is configured, so that its pages may read the answer."""
        origin = headers.get(b"origin", b"")
        if origin and self._origins and parse_origin(origin.decode("latin-1").lower()) in self._origins:
            return origin
        return b""


def outside_names(settings: HttpSettings) -> list[str]:
    """Return the hosts, of those that the settings say clients use, which are not this machine's own names."""
    named = [*settings.hosts, settings.url.partition("://")[2].partition("/")[0]]
    parsed = {name: parse_authority(name) for name in named if name}
    return [name for name, authority in parsed.items() if authority is None or authority[0] not in LOOPBACK]


def parse_authority(text: str) -> Authority | None:
    """Return the host and the port of an authority; None if it is invalid, or names a user."""
    match = AUTHORITY.fullmatch(text)
    # A host of 255 characters, a colon and five digits.
    if match is None or len(text) > 261:
        return None
    port = match["port"]
    if port is None:
        return match["host"], None
    return (match["host"], int(port)) if 0 < int(port) <= 0xFFFF else None


def parse_origin(text: str) -> tuple[str, str, int] | None:
    """Return the scheme, host and port of an origin as browsers write it; None if invalid, such as `null`."""
    scheme, slashes, rest = text.partition("://")
    authority = parse_authority(rest) if slashes and scheme in DEFAULT_PORTS else None
    return None if authority is None else (scheme, authority[0], authority[1] or DEFAULT_PORTS[scheme])


def host_header(host: str) -> str:
    """Return an address as a Host header has it."""
    return f"[{host}]" if ":" in host else host.lower()


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


FORWARDED_FOR = b"x-forwarded-for"
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
        forwarded = b",".join([value for name, value in headers if name.lower() == FORWARDED_FOR])
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
        # Without its zone: `fe80::1%eth0`.
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_within(address: Address, networks: Iterable[Network]) -> bool:
    """Tell whether an address is in one of the networks."""
    return any(address.version == network.version and address in network for network in networks)
