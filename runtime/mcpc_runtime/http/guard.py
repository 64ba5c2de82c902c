"""Who may knock: the Host and the Origin of a request, parsed as RFC 3986 says and compared exactly.

A page that a browser shows must not reach a server of this machine by a name of its own (DNS rebinding): no name that
nobody configured is answered to, but this machine's own where only this machine can connect.  Without tokens a
server is for this machine alone, so it refuses what a proxy passed on, unless it was told of the proxy.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.settings import Settings

    Authority = tuple[str, int | None]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
AUTHORITY = re.compile(
    r"(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9][a-z0-9_-]{0,62})*)(?::(?P<port>[0-9]{1,5}))?"
)
NUMBERS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
USUAL_PORTS = {"http": 80, "https": 443}
MOST_KNOWN = 256
MISDIRECTED, FORBIDDEN, BAD = 421, 403, 400
FORWARDED = (b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip")
"""Headers that a proxy adds: the request comes from another machine than the connection."""
PROXIED = (
    "a proxy passed this on, and no token is asked for here: start the server with --token-file or --issuer, or with "
    "--trust-proxy or --open if everybody who reaches the proxy may call"
)


class Guard:
    """Decides about names; what was found good is remembered, within bounds."""

    def __init__(self, settings: Settings) -> None:
        self._is_direct = settings.authenticator is None and not settings.open and not settings.proxies
        self._is_loopback = settings.is_loopback
        named = [*settings.hosts, bracketed(settings.host)]
        if settings.url:
            named.append(settings.url.partition("://")[2].partition("/")[0])
        self._hosts = frozenset(one for one in map(authority, named) if one is not None)
        self.origins = frozenset(settings.origins)
        self._origins = frozenset(one for one in map(origin, settings.origins) if one is not None)
        self._known: set[tuple[bytes, bytes | None]] = set()

    def judge(self, headers: dict[bytes, bytes]) -> tuple[int, str]:
        """Return the status and the words of a refusal; 0 for who may go on."""
        if self._is_direct and not headers.keys().isdisjoint(FORWARDED):
            return FORBIDDEN, PROXIED
        return self._judge_names(headers)

    def _judge_names(self, headers: dict[bytes, bytes]) -> tuple[int, str]:
        host, came_from = headers.get(b"host"), headers.get(b"origin")
        if host is None:
            return BAD, "a request has a Host header"
        if (host, came_from) in self._known:
            return 0, ""
        asked = authority(host.decode("latin-1").lower())
        if asked is None:
            return BAD, "the Host header is malformed"
        if not self._answers_to(asked):
            return MISDIRECTED, "this server does not answer to this Host; --allow-host names those it does"
        if came_from is not None and not self._comes_well(came_from, asked):
            return FORBIDDEN, "pages of this Origin may not call; --allow-origin names those that may"
        if len(self._known) < MOST_KNOWN:
            self._known.add((host, came_from))
        return 0, ""

    def _answers_to(self, asked: Authority) -> bool:
        name, port = asked
        if (name, port) in self._hosts or (name, None) in self._hosts:
            return True
        if name in LOOPBACK:
            return True
        # a number is no name that somebody could have bent to this address; off loopback any of ours will do
        return not self._is_loopback and (name.startswith("[") or NUMBERS.fullmatch(name) is not None)

    def _comes_well(self, given: bytes, asked: Authority) -> bool:
        found = origin(given.decode("latin-1").lower())
        if found is None:
            return False
        scheme, name, port = found
        if found in self._origins or (self._is_loopback and name in LOOPBACK):
            return True
        own = USUAL_PORTS[scheme] if asked[1] is None else asked[1]
        return asked[0] not in LOOPBACK and (name, port) == (asked[0], own)

    def shares_with(self, headers: dict[bytes, bytes]) -> bytes:
        """Return the origin whose pages may read the answer, if it was configured."""
        given = headers.get(b"origin", b"")
        if given and self._origins and origin(given.decode("latin-1").lower()) in self._origins:
            return given
        return b""


def authority(text: str) -> Authority | None:
    """Return the host and the port of an authority; None if it is none, or names a user."""
    match = AUTHORITY.fullmatch(text)
    if match is None or len(text) > 261:
        return None
    port = match["port"]
    if port is None:
        return match["host"], None
    return (match["host"], int(port)) if 0 < int(port) <= 0xFFFF else None


def origin(text: str) -> tuple[str, str, int] | None:
    """Return the scheme, host and port of an origin as browsers write it; None if it is none, such as `null`."""
    scheme, slashes, rest = text.partition("://")
    found = authority(rest) if slashes and scheme in USUAL_PORTS else None
    return None if found is None else (scheme, found[0], found[1] or USUAL_PORTS[scheme])


def bracketed(host: str) -> str:
    """Return an address as a Host header has it."""
    return f"[{host}]" if ":" in host else host.lower()
